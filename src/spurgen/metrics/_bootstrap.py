"""The percentile bootstrap of a mean: how far it would move had other rows been drawn."""

from __future__ import annotations

import numpy as np

from spurgen.metrics._inputs import Floats

RESAMPLES = 1000


def interval_of_mean(values: Floats, seed: int = 0, resamples: int = RESAMPLES) -> tuple[float, float]:
    """The 2.5% and 97.5% points of the means of `resamples` draws of n values with replacement; one value per row.

    Whatever was measured several times on one row must be averaged first: measures of the same row are not
    independent, and an interval that takes them for rows is too narrow.
    """
    generator = np.random.default_rng(seed)
    n = len(values)
    # one resample at a time: all at once would need resamples × n numbers
    means = [values[generator.integers(n, size=n)].mean() for _ in range(resamples)]
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)
