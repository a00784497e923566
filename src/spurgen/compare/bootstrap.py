"""The percentile bootstrap of the mean of a few differences."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

RESAMPLES = 10_000


def bootstrap_interval(differences: ArrayLike, alpha: float = 0.05, resamples: int = RESAMPLES) -> tuple[float, float]:
    """The α/2 and 1 − α/2 points of the means of `resamples` draws of n differences with replacement.

    It assumes nothing of how differences are distributed, but knows no other values than those that were seen, so of
    few seeds it is too narrow: of normal differences, the interval called 95% holds the true mean in 75% of studies
    with 3 seeds, 83% with 5 and 89% with 10 (`bench/intervals.py`). NaN where there are not two differences. The same
    differences in the same order always give the same interval.
    """
    values = np.asarray(differences, dtype=np.float64)
    if len(values) < 2:
        return math.nan, math.nan
    drawn = np.random.default_rng(0).integers(len(values), size=(resamples, len(values)))
    low, high = np.quantile(values[drawn].mean(axis=1), [alpha / 2, 1 - alpha / 2])
    return float(low), float(high)
