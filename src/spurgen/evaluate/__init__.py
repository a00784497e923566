"""Evaluation: predictions of a run or of anybody, for rows and their counterfactuals, and all that they score."""

from __future__ import annotations

from spurgen.evaluate.interventions import Plan
from spurgen.evaluate.verb import evaluate
from spurgen.verb import callable_package

__all__ = ["Plan", "evaluate"]

callable_package(__name__, evaluate)
