"""The paired permutation test: were the names of two methods interchangeable, how often would they differ as much?"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

MOST_EXACT = 16  # seeds, up to which all 2ⁿ signs are tried
RESAMPLES = 19_999  # with the signs as they were, 20,000


def sign_flip_p(differences: ArrayLike) -> float:
    """The share of ways to flip the signs of the differences that give a mean as far from 0 as theirs; two-sided.

    It assumes only that, if the methods are alike, each difference could as well have had the other sign. Up to
    16 differences all 2ⁿ ways are tried; beyond, p = (as far + 1) / (tried + 1) of 19,999 random ones, drawn the
    same each time. NaN where there are no differences.

    >>> sign_flip_p([1.0, 2.0, 3.0])
    0.25
    """
    values = np.asarray(differences, dtype=np.float64)
    n = len(values)
    if n == 0:
        return math.nan
    observed = abs(values.sum())
    slack = 1e-12 * np.abs(values).sum()  # sums that are the same but for the order of additions tie
    if n <= MOST_EXACT:
        return float(np.mean(np.abs(_all_signs(n) @ values) >= observed - slack))
    signs = np.random.default_rng(0).choice(np.array([-1.0, 1.0]), size=(RESAMPLES, n))
    as_far = int(np.sum(np.abs(signs @ values) >= observed - slack))
    return (as_far + 1) / (RESAMPLES + 1)


def least_sign_flip_p(n: int) -> float:
    """The least p that n differences can give: 2/2ⁿ, for only the signs as they are and all the others reach as far."""
    if n == 0:
        return math.nan
    return 2.0 ** (1 - n) if n <= MOST_EXACT else 1 / (RESAMPLES + 1)


def seeds_to_decide(alpha: float) -> int:
    """The fewest differences of which the least p is below α.

    >>> seeds_to_decide(0.05)
    6
    """
    return next((n for n in range(1, MOST_EXACT + 1) if least_sign_flip_p(n) < alpha), MOST_EXACT + 1)


def _all_signs(n: int) -> NDArray[np.float64]:
    """Half of all ways to give n numbers a sign: the last keeps its own, for flipping all changes no distance."""
    ways = np.arange(2 ** (n - 1))[:, None]
    return np.where((ways >> np.arange(n)) & 1, -1.0, 1.0)
