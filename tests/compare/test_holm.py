"""Holm's correction by hand and against statsmodels."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from spurgen.compare.holm import holm

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def test_by_hand() -> None:
    # in order .01 .02 .03 .04: 4 · .01 = .04, 3 · .02 = .06, 2 · .03 = .06, 1 · .04 = .04 but never below .06
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.7, 0.6]) == [1.0, 1.0]  # 2 · .6 is above 1
    assert holm([0.2]) == [0.2]
    assert holm([]) == []


def test_what_could_not_be_asked_does_not_count() -> None:
    found = holm([0.02, math.nan, 0.04])
    assert found[0::2] == pytest.approx([0.04, 0.04])
    assert math.isnan(found[1])


@settings(max_examples=15, deadline=None)  # statsmodels collects all garbage at every call
@given(p_values=P_VALUES)
def test_against_statsmodels(p_values: list[float]) -> None:
    assert holm(p_values) == pytest.approx(multipletests(p_values, method="holm")[1], abs=1e-8)


@settings(max_examples=50, deadline=None)
@given(p_values=P_VALUES)
def test_only_raises_and_keeps_the_order(p_values: list[float]) -> None:
    found = holm(p_values)
    assert all(p <= corrected <= 1 for p, corrected in zip(p_values, found, strict=True))
    assert (np.diff(np.array(found)[np.argsort(p_values, kind="stable")]) >= 0).all()
