"""Training: any method with any model on any world, on equal terms."""

from __future__ import annotations

from importlib.util import find_spec

from spurgen.errors import missing_extra
from spurgen.verb import callable_package

if not all(map(find_spec, ("torch", "safetensors"))):
    raise missing_extra("training", "train")

from spurgen.train.run import Run, load_run, train

__all__ = ["Run", "load_run", "train"]

callable_package(__name__, train)
