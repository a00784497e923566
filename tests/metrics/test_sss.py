"""The Spurious Sensitivity Score by hand, its interval, and how its parts hang together."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from spurgen.errors import DataError
from spurgen.metrics._bootstrap import interval_of_mean
from spurgen.metrics.sss import sss

SHARES = st.floats(0, 1, width=32)


def test_by_hand() -> None:
    # moved: .8 − .6 = .2, .8 − .8 = 0 in row 0; .5 − .9 = −.4, .5 − .5 = 0 in row 1
    # value (.2 + 0 + .4 + 0) / 4 = .15; signed (.2 − .4) / 4 = −.05; changed cells: (.2 + .4) / 2 = .3
    found = sss([0.8, 0.5], [[0.6, 0.9], [0.8, 0.5]], np.array([[True, True], [False, False]]))
    assert found.value == pytest.approx(0.15)
    assert found.signed == pytest.approx(-0.05)
    assert found.different == pytest.approx(0.3)
    assert (found.n, found.draws) == (2, 2)
    # the rows' means are .1 and .2, and a quarter of resamples hold one row only: the interval is [.1, .2]
    assert (found.low, found.high) == (pytest.approx(0.1), pytest.approx(0.2))


def test_a_blind_model_and_one_that_sees_nothing_else() -> None:
    assert sss([0.3, 0.7], [[0.3, 0.7]] * 3)[:4] == (0, 0, 0, 0)
    assert sss([1.0, 1.0], [[0.0, 0.0]])[:4] == (1, 1, 1, 1)


def test_one_draw_needs_no_axis_of_draws() -> None:
    changed = np.array([True, False])
    assert sss([0.8, 0.5], [0.6, 0.9], changed) == sss([0.8, 0.5], [[0.6, 0.9]], changed[None])


def test_different_is_nan_where_nothing_changed_or_nobody_said() -> None:
    assert math.isnan(sss([0.8], [[0.8]]).different)
    assert math.isnan(sss([0.8], [[0.8]], [[False]]).different)
    assert sss([0.8], [[0.5]], [[True]]).different == pytest.approx(0.3)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_unchanged_cells_that_show_the_same_picture_only_dilute(data: st.DataObject) -> None:
    draws, n = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 12))
    before = data.draw(arrays(np.float64, n, elements=SHARES))
    other = data.draw(arrays(np.float64, (draws, n), elements=SHARES))
    changed = data.draw(arrays(np.bool_, (draws, n)))
    found = sss(before, np.where(changed, other, before), changed)
    assert abs(found.signed) <= found.value + 1e-12
    assert 0 <= found.low <= found.high <= 1
    if changed.any():
        assert found.different == pytest.approx(found.value * changed.size / changed.sum(), abs=1e-12)
    else:
        assert found.value == 0


def test_the_interval_is_over_rows_and_not_over_cells() -> None:
    rng = np.random.default_rng(0)
    after = rng.random(400)
    once, often = sss(np.zeros(400), after), sss(np.zeros(400), np.tile(after, (25, 1)))
    # 25 draws that repeat the first tell nothing new, so the interval is as wide as before
    assert (often.value, often.low, often.high) == pytest.approx((once.value, once.low, once.high))
    assert (once.n, once.draws, often.n, often.draws) == (400, 1, 400, 25)


def test_the_interval_is_as_wide_as_theory_says() -> None:
    values = np.random.default_rng(1).normal(3, 2, size=900)
    low, high = interval_of_mean(values)
    # for many rows the bootstrap comes to mean ± 1.96 SD / √n, half a width of about 1.96 · 2 / 30 = .131
    half = 1.96 * values.std() / 30
    assert (low, high) == (pytest.approx(values.mean() - half, abs=0.02), pytest.approx(values.mean() + half, abs=0.02))


def test_seeds_decide() -> None:
    rng = np.random.default_rng(0)
    before, after = rng.random(50), rng.random((3, 50))
    assert sss(before, after, seed=0) == pytest.approx(sss(before, after), nan_ok=True)
    other = sss(before, after, seed=1)
    assert other.value == sss(before, after).value and other.low != sss(before, after).low
    state = np.random.get_state()[1].tolist()  # noqa: NPY002  the global generator is what must not be touched
    sss(before, after)
    assert np.random.get_state()[1].tolist() == state  # noqa: NPY002


@pytest.mark.parametrize(
    ("before", "after", "changed", "message"),
    [
        ([], [[]], None, "before hold no rows"),
        ([0.5], np.zeros((0, 1)), None, "after hold no rows"),
        ([[0.5]], [[0.5]], None, "one probability per row"),
        ([0.5], [[[0.5]]], None, "give \\(draws, rows\\)"),
        ([0.5, 0.5], [[0.5]], None, "before has 2 rows and after has 1"),
        ([0.5, 0.5], [[0.5], [0.5]], None, "before has 2 rows and after has 1"),
        ([math.nan], [[0.5]], None, "before hold nan at position 0"),
        ([0.5], [[math.inf]], None, "after hold inf at position 0, 0"),
        ([0.5], [[1.5]], None, "from 0 to 1"),
        ([0.5], [[0.5]], [[True], [True]], "changed is bool of shape \\(2, 1\\)"),
        ([0.5], [[0.5]], [[1]], "changed is int64 of shape \\(1, 1\\)"),
    ],
)
def test_bad_input_is_one_clear_sentence(before, after, changed, message) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(DataError, match=message):
        sss(before, after, changed)
