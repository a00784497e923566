"""Scores of groups: each with its rows and interval, the worst of them, and their average as trained on."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from spurgen.errors import DataError
from spurgen.metrics._wilson import wilson
from spurgen.metrics.accuracy import accuracy
from spurgen.metrics.group_accuracy import GroupScore, group_accuracy
from spurgen.metrics.weighted_accuracy import weighted_accuracy, weighted_by
from spurgen.metrics.worst_group_accuracy import worst_group_accuracy, worst_of
from tests.metrics.drawn import Drawn, drawn

RIGHT, WRONG = [0.9, 0.1], [0.2, 0.8]


def scores(**groups: tuple[int, float]) -> list[GroupScore]:
    return [GroupScore(name, n, share, *wilson(round(n * share) if n else 0, n)) for name, (n, share) in groups.items()]


# ------------------------------------------------------------------------------------------------ Wilson's interval


def test_wilson_by_hand() -> None:
    # h = 2, n = 4, z² = 3.8415: (4 + 3.8415 ± 1.96 √(3.8415 + 4·2·2/4)) / (2 · 7.8415) = (7.8415 ± 5.4886) / 15.683
    assert wilson(2, 4) == (pytest.approx(0.15004, abs=1e-5), pytest.approx(0.84996, abs=1e-5))
    # none of ten: low is 0, high is z²/(n + z²) = 3.8415 / 13.8415 = .27753
    assert wilson(0, 10) == (0.0, pytest.approx(0.27753, abs=1e-5))
    assert wilson(10, 10) == (pytest.approx(0.72247, abs=1e-5), 1.0)
    assert wilson(0, 0) == (0.0, 1.0)


@settings(max_examples=80, deadline=None)
@given(st.integers(1, 5000), st.floats(0, 1))
def test_wilson_against_scipy(n: int, share: float) -> None:
    hits = round(n * share)
    expected = binomtest(hits, n).proportion_ci(method="wilson")
    low, high = wilson(hits, n)
    assert (low, high) == (pytest.approx(expected.low, abs=1e-12), pytest.approx(expected.high, abs=1e-12))
    assert 0 <= low <= hits / n <= high <= 1


# ------------------------------------------------------------------------------------------------------ every group


def test_every_name_has_a_score() -> None:
    # water: right, wrong, right; land: wrong; air: no rows
    found = group_accuracy([RIGHT, WRONG, WRONG, RIGHT], [0, 0, 0, 0], [0, 0, 2, 0], ["water", "air", "land"])
    assert [(s.name, s.n) for s in found] == [("water", 3), ("air", 0), ("land", 1)]
    assert found[0].accuracy == pytest.approx(2 / 3) and (found[0].low, found[0].high) == wilson(2, 3)
    assert math.isnan(found[1].accuracy) and (found[1].low, found[1].high) == (0, 1)
    assert found[2].accuracy == 0 and found[2].low == 0


@settings(max_examples=60, deadline=None)
@given(data=drawn(), seed=st.integers(0, 99))
def test_names_decide_and_not_their_order(data: Drawn, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(data.names))
    turned = group_accuracy(
        data.probabilities, data.labels, np.argsort(order)[data.groups], [data.names[i] for i in order]
    )
    np.testing.assert_equal(sorted(turned), sorted(group_accuracy(*data)))


@settings(max_examples=60, deadline=None)
@given(data=drawn())
def test_groups_add_up_to_the_whole(data: Drawn) -> None:
    found = group_accuracy(*data)
    assert sum(s.n for s in found) == len(data.labels)
    whole = sum(s.n * s.accuracy for s in found if s.n) / len(data.labels)
    assert whole == pytest.approx(accuracy(data.probabilities, data.labels))


# -------------------------------------------------------------------------------------------------- the worst group


def test_the_worst_of_large_groups() -> None:
    worst = worst_of(scores(a=(40, 0.9), b=(20, 0.6), tiny=(3, 0.0), empty=(0, math.nan)))
    assert (worst.value, worst.group, worst.n) == (0.6, "b", 20)
    assert (worst.low, worst.high) == wilson(12, 20)
    assert worst.too_small == ("tiny",) and not worst.all_small


def test_when_all_are_small_all_count_and_it_says_so() -> None:
    worst = worst_of(scores(a=(5, 0.8), tiny=(3, 0.0), empty=(0, math.nan)))
    assert (worst.value, worst.group, worst.too_small, worst.all_small) == (0, "tiny", (), True)


def test_exactly_enough_rows_are_enough() -> None:
    assert worst_of(scores(a=(40, 0.9), b=(10, 0.5)), least_rows=10).group == "b"
    assert worst_of(scores(a=(40, 0.9), b=(10, 0.5)), least_rows=11).too_small == ("b",)


def test_of_groups_that_tie_the_first_is_named() -> None:
    assert worst_of(scores(a=(20, 0.9), b=(20, 0.5), c=(40, 0.5))).group == "b"


def test_from_arrays() -> None:
    # a: 11 of 12 right; b: 6 of 10; c: 0 of 2, too few
    rows = [RIGHT] * 11 + [WRONG] + [RIGHT] * 6 + [WRONG] * 4 + [WRONG] * 2
    groups = [0] * 12 + [1] * 10 + [2] * 2
    worst = worst_group_accuracy(rows, [0] * 24, groups, ["a", "b", "c"])
    assert worst == (0.6, "b", 10, *wilson(6, 10), ("c",), False)
    assert worst_group_accuracy(rows, [0] * 24, groups, ["a", "b", "c"], least_rows=2).group == "c"


def test_no_rows_at_all_have_no_worst() -> None:
    for nothing in ([], scores(a=(0, math.nan))):
        with pytest.raises(DataError, match="no group has any rows"):
            worst_of(nothing)


@settings(max_examples=60, deadline=None)
@given(data=drawn(), least=st.integers(0, 20))
def test_no_considered_group_is_worse_and_none_vanishes(data: Drawn, least: int) -> None:
    found = group_accuracy(*data)
    worst = worst_group_accuracy(*data, least_rows=least)
    considered = [s for s in found if s.n and s.name not in worst.too_small]
    assert worst.value == min(s.accuracy for s in considered)
    assert worst.all_small == (max(s.n for s in found) < least)
    assert worst.all_small or all(s.n >= least for s in considered)
    assert all(0 < s.n < least for s in found if s.name in worst.too_small)


# --------------------------------------------------------------------------------------------- weighted by training


def test_waterbirds_as_wilds_weights_it() -> None:
    # (.9 · 3498 + .5 · 184 + .25 · 56 + .8 · 1057) / 4795 = (3148.2 + 92 + 14 + 845.6) / 4795 = 4099.8 / 4795
    found = scores(land_land=(2255, 0.9), land_water=(2255, 0.5), water_land=(642, 0.25), water_water=(642, 0.8))
    sizes = {"land_water": 184, "land_land": 3498, "water_water": 1057, "water_land": 56}
    assert weighted_by(found, sizes) == (pytest.approx(4099.8 / 4795), (), ())


def test_groups_without_test_rows_give_their_weight_away_and_are_named() -> None:
    # a and b remain: (3 · .9 + 1 · .5) / 4 = .8; the names that the test set does not even list are named as well
    found = scores(a=(20, 0.9), b=(20, 0.5), c=(0, math.nan), d=(0, math.nan))
    assert weighted_by(found, {"a": 3, "b": 1, "c": 5, "d": 0, "e": 1}) == (pytest.approx(0.8), ("c", "e"), ())


def test_groups_never_trained_on_weigh_nothing_and_are_named() -> None:
    found = scores(a=(20, 0.9), b=(20, 0.5), c=(20, 0.1))
    assert weighted_by(found, {"a": 3, "b": 0}) == (pytest.approx(0.9), (), ("b", "c"))


def test_weights_that_cannot_be() -> None:
    found = scores(a=(20, 0.9))
    for sizes in ({}, {"a": 0}, {"b": 3}):
        with pytest.raises(DataError, match="grouped alike"):
            weighted_by(found, sizes)
    for size in (-1, math.nan, math.inf):
        with pytest.raises(DataError, match="'a'"):
            weighted_by(found, {"a": size})


@settings(max_examples=60, deadline=None)
@given(data=drawn())
def test_weights_of_the_test_set_itself_give_plain_accuracy(data: Drawn) -> None:
    sizes = dict(zip(data.names, np.bincount(data.groups, minlength=len(data.names)).tolist(), strict=True))
    found = weighted_accuracy(*data, sizes)
    assert found == (pytest.approx(accuracy(data.probabilities, data.labels)), (), ())
    evenly = weighted_accuracy(*data, dict.fromkeys(data.names, 0.1))
    filled = [s.accuracy for s in group_accuracy(*data) if s.n]
    assert evenly.value == pytest.approx(np.mean(filled))
    assert min(filled) - 1e-12 <= evenly.value <= max(filled) + 1e-12
    assert set(evenly.missing) == {name for name, n in sizes.items() if not n}
