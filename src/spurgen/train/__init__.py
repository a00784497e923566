"""Training: any method with any model on any world, on equal terms."""

from __future__ import annotations

from spurgen.train.run import Run, load_run, train
from spurgen.verb import callable_package

__all__ = ["Run", "load_run", "train"]

callable_package(__name__, train)
