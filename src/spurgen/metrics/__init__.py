"""Scores: one file per metric, each a pure function of arrays that says its bounds and whether higher is better."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from spurgen.registry import Registry

__all__ = ["METRICS", "Metric"]


@dataclass(frozen=True)
class Metric:
    """A way to score a model: what it is, where it was defined, and the function that computes it.

    `function` takes what its parameters are called: `probabilities` (n, K), `labels` (n,), `groups` (n,) with `names`,
    and so on; every metric calls the same thing by the same name. `bounds` holds of its main number, which is NaN only
    where the docstring says so. `higher_is_better` is None where neither direction is.
    """

    name: str
    about: str
    paper: str  # "" where the definition is nobody's
    bounds: tuple[float, float]
    higher_is_better: bool | None
    function: Callable[..., Any]


METRICS: Registry[Metric] = Registry("metric", "spurgen.metrics", "METRIC")
