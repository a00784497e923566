"""The bootstrap interval by hand and against scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from spurgen.compare.bootstrap import bootstrap_interval


def test_two_values_by_hand() -> None:
    # means of two draws of {0, 1}: 0 in a quarter, ½ in a half, 1 in a quarter; 2.5% and 97.5% lie in the quarters
    assert bootstrap_interval([0.0, 1.0]) == (0.0, 1.0)
    # the middle 20% lie between 40% and 60%, which are both in the half
    assert bootstrap_interval([0.0, 1.0], alpha=0.8) == (0.5, 0.5)


def test_ends() -> None:
    assert bootstrap_interval([0.3, 0.3, 0.3]) == pytest.approx((0.3, 0.3))
    assert all(map(math.isnan, bootstrap_interval([0.3])))
    assert all(map(math.isnan, bootstrap_interval([])))


def test_is_the_same_each_time() -> None:
    values = np.random.default_rng(3).normal(size=7)
    assert bootstrap_interval(values) == bootstrap_interval(values)


@pytest.mark.parametrize("n", [5, 20])
def test_against_scipy(n: int) -> None:
    values = np.random.default_rng(n).normal(size=n)
    oracle = stats.bootstrap((values,), np.mean, method="percentile", n_resamples=40_000, rng=1).confidence_interval
    assert bootstrap_interval(values) == pytest.approx((oracle.low, oracle.high), abs=0.03)
