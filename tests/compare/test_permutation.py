"""Flipping signs: by hand, against all of them counted, and against scipy."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from spurgen.compare.permutation import MOST_EXACT, least_sign_flip_p, seeds_to_decide, sign_flip_p


def test_by_hand() -> None:
    # sums of ±1 ±2 ±3: 6 and −6 reach |6|, six others do not -> 2/8
    assert sign_flip_p([1, 2, 3]) == 2 / 8
    # 1 + 2 − 3 = 0, which every sum reaches
    assert sign_flip_p([1, 2, -3]) == 1
    # −1 + 2 + 3 = 4: reached by ±6 and ±4 -> 4/8
    assert sign_flip_p([-1, 2, 3]) == 4 / 8
    assert sign_flip_p([5]) == 1
    assert sign_flip_p([0, 0, 0]) == 1
    assert math.isnan(sign_flip_p([]))


def test_sums_in_another_order_tie() -> None:
    # .1 + .2 − .3 is 2.8e-17 for a computer and −.1 − .2 + .3 its opposite: all ways reach it
    assert sign_flip_p([0.1, 0.2, -0.3]) == 1
    assert sign_flip_p([0.1] * 10) == 2 / 2**10


def test_the_least_p() -> None:
    assert [least_sign_flip_p(n) for n in (1, 2, 5, 6)] == [1, 0.5, 0.0625, 0.03125]
    for n in range(1, 10):
        assert sign_flip_p(np.arange(1, n + 1)) == least_sign_flip_p(n)
    assert seeds_to_decide(0.05) == 6  # 2/64 = .031, but 2/32 = .0625
    assert seeds_to_decide(0.01) == 8  # 2/256 = .0078, but 2/128 = .0156
    assert math.isnan(least_sign_flip_p(0))


@settings(max_examples=60, deadline=None)
@given(values=st.lists(st.integers(-9, 9), min_size=1, max_size=8))
def test_against_counting(values: list[int]) -> None:
    sums = [
        abs(sum(s * v for s, v in zip(signs, values, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(values))
    ]
    assert sign_flip_p(values) == sum(total >= abs(sum(values)) for total in sums) / len(sums)


@pytest.mark.parametrize("n", [3, 5, 9])
def test_against_scipy(n: int) -> None:
    values = np.random.default_rng(n).normal(0.4, 1, n)
    oracle = stats.permutation_test((values,), np.mean, permutation_type="samples", n_resamples=2**n)
    assert sign_flip_p(values) == pytest.approx(oracle.pvalue, abs=1e-8)


def test_many_seeds_are_drawn_and_the_same_each_time() -> None:
    values = np.random.default_rng(0).normal(0.3, 1, 30)
    p = sign_flip_p(values)
    assert p == sign_flip_p(values)
    # a z-test of the sum of random signs: with 30 of them within two points
    z = abs(values.sum()) / math.sqrt((values**2).sum())
    assert p == pytest.approx(2 * stats.norm.sf(z), abs=0.02)
    assert sign_flip_p(np.full(30, 1.0)) == least_sign_flip_p(30) == 1 / 20_000  # never 0
    assert least_sign_flip_p(MOST_EXACT) < least_sign_flip_p(MOST_EXACT + 1)
