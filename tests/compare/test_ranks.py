"""Ranks over blocks, Friedman's test and Nemenyi's critical difference: by hand, from Demšar's paper, against scipy."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from spurgen.compare.ranks import cliques_within, critical_difference, friedman, rank, ranks_of

NAN = math.nan


def over_blocks(**scores: list[float]) -> dict[str, dict[Any, float]]:
    return {method: dict(enumerate(values)) for method, values in scores.items()}


def test_by_hand() -> None:
    found = rank(over_blocks(erm=[0.1, 0.2, 0.3, 0.1], irm=[0.2, 0.3, 0.1, 0.2], dfr=[0.9, 0.8, 0.7, 0.9]))
    # ranks of erm 3 3 2 3, irm 2 2 3 2, dfr 1 1 1 1; sums 11, 9, 4 around 4 · 4/2 = 8: 9 + 1 + 16 = 26
    assert found.average_ranks == {"dfr": 1.0, "irm": 2.25, "erm": 2.75}
    assert list(found.average_ranks) == ["dfr", "irm", "erm"]
    # χ² = 12 · 26/(4 · 3 · 4) = 6.5; two degrees of freedom: p = exp(−3.25) = .0388
    assert found.chi_square == pytest.approx(6.5)
    assert found.p == pytest.approx(math.exp(-3.25))
    # q = 3.3145/√2 = 2.3437; 2.3437 · √(3 · 4/(6 · 4)) = 1.6572
    assert found.critical_difference == pytest.approx(1.6572, abs=1e-4)
    assert found.decided
    assert found.cliques == (("dfr", "irm"), ("irm", "erm"))
    assert found.sentence == (
        "dfr ranks best, 1.0 on average over 4 blocks (Friedman's test, p = 0.039); it is decidedly before erm but not "
        "before irm (Nemenyi's critical difference is 1.7 ranks)."
    )


def test_lower_can_be_better() -> None:
    found = rank(over_blocks(a=[1.0, 2.0], b=[2.0, 3.0]), higher_is_better=False)
    assert found.average_ranks == {"a": 1.0, "b": 2.0}


@pytest.mark.parametrize(("methods", "q"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (10, 3.164)])
def test_critical_differences_of_demsar(methods: int, q: float) -> None:
    # Demšar 2006, table 5(a), q for α = .05, to three digits; his example: k = 4, N = 14 gives 1.25
    assert critical_difference(methods, 10) == pytest.approx(q * math.sqrt(methods * (methods + 1) / 60), rel=5e-4)
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.005)


@settings(max_examples=60, deadline=None)
@given(rows=st.lists(st.lists(st.integers(0, 4), min_size=4, max_size=4), min_size=2, max_size=10))
def test_against_scipy(rows: list[list[int]]) -> None:
    table = np.array(rows, dtype=float)
    ranks = np.array([ranks_of(row) for row in table])
    assert (ranks == stats.rankdata(table, axis=1)).all()
    assume(any(len(set(row)) > 1 for row in rows))  # otherwise scipy divides 0 by 0
    oracle = stats.friedmanchisquare(*table.T)
    assert friedman(ranks) == pytest.approx((oracle.statistic, oracle.pvalue), rel=1e-8, abs=1e-8)


def test_nothing_differs_where_all_tie() -> None:
    found = rank(over_blocks(a=[0.5] * 5, b=[0.5] * 5, c=[0.5] * 5))
    assert (found.chi_square, found.p, found.decided) == (0, 1, False)
    assert found.cliques == (("a", "b", "c"),)
    assert (
        found.sentence == "The ranks of a, b and c over 5 blocks are not decidedly different (Friedman's test, p = 1)."
    )


def test_only_whole_blocks_count() -> None:
    found = rank({"a": {("x", 0): 1, ("x", 1): 0, ("y", 0): NAN}, "b": {("x", 0): 0, ("x", 1): 1, ("y", 0): 5}})
    assert (found.blocks, found.dropped) == (2, 1)
    assert found.average_ranks == {"a": 1.5, "b": 1.5}


def test_nothing_to_rank_says_why() -> None:
    assert rank({}).sentence == rank({"a": {0: 1.0}}).sentence == "Nothing to rank: there are not two methods."
    assert rank({"a": {}, "b": {}}).sentence == "Nothing to rank: there are no scores."
    found = rank({"a": {0: 1.0, 1: 1.0}, "b": {2: 1.0}})
    assert "b has 1 of 3" in found.sentence
    assert not found.decided and math.isnan(found.p) and found.blocks == 0 and found.dropped == 3
    assert json.loads(json.dumps(found.as_dict(), allow_nan=False))["average_ranks"] == {"a": None, "b": None}


def test_cliques_by_hand() -> None:
    ranks = {"a": 1.0, "b": 1.5, "c": 2.5, "d": 4.5}
    assert cliques_within(ranks, 1.2) == (("a", "b"), ("b", "c"), ("d",))
    assert cliques_within(ranks, 1.0) == (("a", "b"), ("c",), ("d",))  # as far apart as the difference is decided
    assert cliques_within(ranks, 9.0) == (("a", "b", "c", "d"),)
    assert cliques_within(ranks, 2.1) == (("a", "b", "c"), ("c", "d"))


def test_methods_that_differ_but_cannot_be_named() -> None:
    # sums of ranks 15, 8, 18, 9 around 12.5: 6.25 + 20.25 + 30.25 + 12.25 = 69, χ² = 12 · 69/(5 · 4 · 5) = 8.28;
    # averages 1.6 and 3.6 are 2 apart, the critical difference is 2.569 · √(20/30) = 2.098
    rows = [[3, 1, 4, 2], [4, 2, 3, 1], [3, 1, 4, 2], [1, 2, 4, 3], [4, 2, 3, 1]]
    found = rank(over_blocks(**{name: [-row[at] for row in rows] for at, name in enumerate("abcd")}))
    assert found.chi_square == pytest.approx(8.28)
    assert found.critical_difference == pytest.approx(2.098, abs=1e-3)
    assert found.decided
    assert "it cannot be said which methods differ" in found.sentence
    assert found.cliques == (("b", "d", "a", "c"),)


def test_a_winner_alone() -> None:
    values = np.arange(20) / 100
    found = rank(over_blocks(erm=list(values), irm=list(values + 0.1), dfr=list(values + 0.2)))
    assert found.cliques == (("dfr",), ("irm",), ("erm",))
    assert "it is decidedly before irm and erm (Nemenyi" in found.sentence
    assert found.as_dict()["cliques"] == [["dfr"], ["irm"], ["erm"]]
