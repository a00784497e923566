"""Pairs, the paired t-test and effect sizes: by hand, against scipy, and where there is nothing to test."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from spurgen.compare.paired import hedges, pair, paired_t, spread

NAN, INF = math.nan, math.inf


def test_pairs_are_by_seed() -> None:
    found = pair({2: 0.5, 0: 0.3, 1: NAN, 7: 0.9}, {0: 0.1, 2: 0.4, 1: 0.2, 8: INF})
    assert found.seeds == (0, 2)
    assert found.first.tolist() == [0.3, 0.5]
    assert found.second.tolist() == [0.1, 0.4]
    # seed 1 is NaN in the first, seed 7 only there; seed 8 is a number in neither
    assert found.dropped == (1, 7)
    assert pair({}, {}).differences.size == 0


def test_differences_that_differ_by_rounding_are_the_same() -> None:
    # .3 − .1 is .19999999999999998 and .4 − .2 is .2 for a computer
    assert np.ptp(pair({0: 0.3, 1: 0.4}, {0: 0.1, 1: 0.2}).differences) == 0
    assert pair({0: 0.1 + 0.2, 1: 0.5}, {0: 0.3, 1: 0.5}).differences.tolist() == [0, 0]
    narrow = {seed: float(np.float32(score)) for seed, score in {0: 0.1, 1: 0.2, 2: 0.7}.items()}
    assert not pair(narrow, {0: 0.1, 1: 0.2, 2: 0.7}).differences.any()
    # one row among 100,000 is a difference
    assert np.ptp(pair({0: 0.30001, 1: 0.4}, {0: 0.1, 1: 0.2}).differences) > 0


def test_mean_and_sd_by_hand() -> None:
    # (1 + 2 + 6)/3 = 3; deviations −2 −1 3, squares 4 + 1 + 9 = 14, over 2 is 7
    assert spread([1, 2, 6, NAN]) == pytest.approx((3, 3, math.sqrt(7)))
    assert spread([4]) == pytest.approx((1, 4, NAN), nan_ok=True)
    assert spread([]) == pytest.approx((0, NAN, NAN), nan_ok=True)


def test_t_by_hand() -> None:
    found = paired_t([1, 2, 6])
    # mean 3, SD √7 = 2.6458, error √7/√3 = 1.5275: t = 3/1.5275 = 1.9640
    assert found.t == pytest.approx(3 / math.sqrt(7 / 3))
    # with two degrees of freedom P(|T| ≥ t) = 1 − t/√(2 + t²) = 1 − 1.9640/2.4202 = .1885
    assert found.p == pytest.approx(1 - found.t / math.sqrt(2 + found.t**2))
    # t* = 4.30265: 3 ± 4.30265 · 1.5275 = 3 ± 6.5724
    assert (found.low, found.high) == pytest.approx((-3.5724, 9.5724), abs=1e-4)
    # d_z = 3/2.6458 = 1.1339; J(2) = Γ(1)/(√1 Γ(1/2)) = 1/√π = .5642; g_z = .6397
    assert found.cohens_dz == pytest.approx(3 / math.sqrt(7))
    assert found.hedges_gz == pytest.approx(3 / math.sqrt(7) / math.sqrt(math.pi))


def test_hedges_correction_by_hand() -> None:
    # J(4) = Γ(2)/(√2 Γ(3/2)) = 1/(√2 · √π/2) = √(2/π)
    assert hedges(4) == pytest.approx(math.sqrt(2 / math.pi))
    # near 1 − 3/(4m − 1) for larger samples: 1 − 3/79
    assert hedges(20) == pytest.approx(1 - 3 / 79, abs=1e-3)
    assert math.isnan(hedges(1))


@settings(max_examples=100, deadline=None)
@given(rows=st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=12))
def test_against_scipy(rows: list[tuple[float, float]]) -> None:
    first, second = np.array(rows).T
    assume(np.ptp(first - second) > 1e-3)
    found = pair(dict(enumerate(first)), dict(enumerate(second)))
    mine = paired_t(found.differences, alpha=0.1)
    oracle = stats.ttest_rel(first, second)
    assert (mine.t, mine.p) == pytest.approx((oracle.statistic, oracle.pvalue), rel=1e-8, abs=1e-8)
    interval = oracle.confidence_interval(0.9)
    assert (mine.low, mine.high) == pytest.approx((interval.low, interval.high), rel=1e-8, abs=1e-8)


def test_one_difference_decides_nothing() -> None:
    for values in ([], [0.3]):
        assert all(map(math.isnan, paired_t(values)))


def test_without_spread_signs_are_counted() -> None:
    found = paired_t([0.2] * 5)
    assert found.p == 2 / 2**5
    assert math.isnan(found.t) and math.isnan(found.low) and math.isnan(found.cohens_dz)
    assert paired_t([0.0] * 5).p == 1
    assert paired_t([0.2] * 2).p == 0.5


def test_two_differences() -> None:
    found = paired_t([1.0, 3.0])
    # mean 2, SD √2, error 1: t = 2, and Cauchy's P(|T| ≥ 2) = 1 − 2 arctan(2)/π = .2952
    assert (found.t, found.p) == pytest.approx((2, 1 - 2 * math.atan(2) / math.pi))
    assert found.cohens_dz == pytest.approx(math.sqrt(2))
    assert math.isnan(found.hedges_gz)
