"""Spurious Sensitivity Score: how far the label's probability moves when one channel is drawn anew."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from spurgen.errors import DataError
from spurgen.metrics import Metric
from spurgen.metrics._bootstrap import interval_of_mean
from spurgen.metrics._inputs import by_draw, same_rows, shares, truths


class Sensitivity(NamedTuple):
    """How much a model heeds a channel."""

    value: float
    low: float  # 95% bootstrap interval of value, over rows
    high: float
    signed: float  # above 0: the attributes that rows had helped the label
    different: float  # over draws that gave another attribute than the row had; NaN where there is none
    n: int
    draws: int


def sss(before: ArrayLike, after: ArrayLike, changed: ArrayLike | None = None, seed: int = 0) -> Sensitivity:
    """SSS_c = E |f(x)[y] − f(Shuffle_c(x))[y]|, the mean over all rows and draws.

    Shuffle_c draws the attribute of channel c uniformly from all its values, that of the row included, and keeps
    everything else. `before` (n,) is f(x)[y]; `after` (draws, n) is f(Shuffle_c(x))[y] for independent draws;
    `changed` (draws, n) says which of them gave another attribute. Bounds: [0, 1], lower is better.

    `signed` is E (f(x)[y] − f(Shuffle_c(x))[y]), in [−1, 1]. `different` is the mean |…| where `changed`: unlike
    SSS it does not shrink for channels of few values, where a draw often gives what was there. The interval is a
    percentile bootstrap over rows, each first averaged over its draws: draws of one row are not independent.

    >>> sss([0.75, 0.5], [[0.25, 0.5], [0.75, 0.5]])[0]
    0.125
    """
    first = shares("before", before)
    if first.ndim != 1:
        raise DataError(f"before has shape {first.shape}; give one probability per row")
    shuffled = by_draw("after", shares("after", after))
    draws, n = shuffled.shape
    same_rows("before", len(first), "after", n)
    moved = first - shuffled
    distance = np.abs(moved)
    of_rows = distance.mean(axis=0)
    low, high = interval_of_mean(of_rows, seed)
    elsewhere = distance[truths("changed", changed, shuffled.shape)] if changed is not None else distance[:0]
    different = float(elsewhere.mean()) if elsewhere.size else float("nan")
    return Sensitivity(float(of_rows.mean()), low, high, float(moved.mean()), different, n, draws)


METRIC = Metric(
    name="sss",
    about="Spurious Sensitivity Score: how far the label's probability moves when a channel is drawn anew",
    paper="defined in docs/design.md, section 8",
    bounds=(0.0, 1.0),
    higher_is_better=False,
    function=sss,
)
