"""Decisions: which configuration is chosen by which rule, and whether a method differs from another decidedly."""
