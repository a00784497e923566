"""Two methods over the same seeds: what is left when the luck that they share is taken away."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spurgen.compare.distributions import t_quantile, t_two_sided
from spurgen.compare.permutation import sign_flip_p

Floats = NDArray[np.float64]

NO_SPREAD = 1e-7  # of the scores' size: less than a row among a million, more than rounding in float32


class Pairs(NamedTuple):
    """The scores of two methods by seed, for the seeds that both have."""

    seeds: tuple[int, ...]  # in ascending order
    first: Floats
    second: Floats
    dropped: tuple[int, ...]  # seeds that only one has; a score that is NaN or infinite is none

    @property
    def differences(self) -> Floats:
        """First minus second; where all are the same but for rounding, exactly the same, and exactly 0."""
        found = self.first - self.second
        size = max(np.abs(self.first).max(initial=0), np.abs(self.second).max(initial=0))
        if found.size and np.ptp(found) <= NO_SPREAD * size:
            mean = float(found.mean())
            found = np.full_like(found, 0.0 if abs(mean) <= NO_SPREAD * size else mean)
        return found


class Spread(NamedTuple):
    """Mean ± SD over seeds, as papers report it."""

    n: int
    mean: float  # NaN for none
    sd: float  # with n − 1 below the line; NaN for fewer than two


class Tested(NamedTuple):
    """What a paired t-test found in differences."""

    t: float
    p: float  # two-sided
    low: float  # the 1 − alpha interval of the mean difference
    high: float
    cohens_dz: float  # mean over SD of the differences
    hedges_gz: float  # the same without its upward bias in small samples


def pair(first: Mapping[int, float], second: Mapping[int, float]) -> Pairs:
    """Puts scores of the same seed beside each other, and counts the seeds that cannot be paired."""
    both = [{int(seed): float(score) for seed, score in scores.items()} for scores in (first, second)]
    finite = [{seed for seed, score in scores.items() if math.isfinite(score)} for scores in both]
    seeds = sorted(finite[0] & finite[1])
    mine, other = (np.array([scores[seed] for seed in seeds], dtype=np.float64) for scores in both)
    return Pairs(tuple(seeds), mine, other, tuple(sorted(finite[0] ^ finite[1])))


def spread(values: ArrayLike) -> Spread:
    """Mean and SD of the scores that are numbers."""
    found = np.asarray(values, dtype=np.float64)
    found = found[np.isfinite(found)]
    n = len(found)
    mean = float(found.mean()) if n else math.nan
    return Spread(n, mean, float(found.std(ddof=1)) if n > 1 else math.nan)


def paired_t(differences: ArrayLike, alpha: float = 0.05) -> Tested:
    """t = mean / (SD/√n) with n − 1 degrees of freedom, and the interval mean ± t* SD/√n.

    Fewer than two differences decide nothing: all is NaN. Where all differences are the same there is no spread to
    measure by: t would be infinite and p 0 however few they are, which with accuracies (whole numbers of rows) happens
    by chance. Then p is that of flipping signs (2/2ⁿ; 1 if all are 0) and the rest is NaN. Hedges' correction needs
    three differences.
    """
    values = np.asarray(differences, dtype=np.float64)
    n = len(values)
    if n < 2:
        return Tested(*[math.nan] * 6)
    if np.ptp(values) == 0:
        return Tested(math.nan, sign_flip_p(values), *[math.nan] * 4)
    mean, sd = float(values.mean()), float(values.std(ddof=1))
    error = sd / math.sqrt(n)
    reach = t_quantile(1 - alpha / 2, n - 1) * error
    dz = mean / sd
    return Tested(mean / error, t_two_sided(mean / error, n - 1), mean - reach, mean + reach, dz, dz * hedges(n - 1))


def hedges(freedom: int) -> float:
    """J(m) = Γ(m/2) / (√(m/2) Γ((m − 1)/2)), which takes the bias out of an effect size (Hedges 1981).

    m are the degrees of freedom. NaN for m = 1, where no correction makes it right on average.

    >>> round(hedges(4), 4)
    0.7979
    """
    if freedom < 2:
        return math.nan
    return math.exp(math.lgamma(freedom / 2) - math.lgamma((freedom - 1) / 2)) / math.sqrt(freedom / 2)
