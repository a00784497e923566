"""The version, alone so that nothing else is imported to read it."""

__version__ = "0.1.0"
