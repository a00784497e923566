"""The Invariance Gap by hand, its pairing, and that order and draws do what they should."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from spurgen.errors import DataError
from spurgen.metrics.cross_entropy import row_losses
from spurgen.metrics.ig import ig

LOSSES = st.floats(0, 100, width=32)


def test_by_hand() -> None:
    # fixed: 2, 3; free: (1 + 1)/2 = 1, (1 + 2)/2 = 1.5; gaps 1 and 1.5, mean 1.25
    found = ig([2.0, 3.0], [[1.0, 1.0], [1.0, 2.0]])
    assert found.value == 1.25 and found.n == 2
    # a quarter of resamples hold the first row only and a quarter the second
    assert (found.low, found.high) == (1.0, 1.5)


def test_from_probabilities() -> None:
    # the shortcut misleads: the label's probability falls from 1/2 to 1/8, so the gap is ln 8 − ln 2 = ln 4
    free, fixed = row_losses([[0.5, 0.5]], [0]), row_losses([[0.125, 0.875]], [0])
    assert ig(fixed, free).value == pytest.approx(math.log(4))
    # aligned, the same model gains: from 1/2 to 7/8, the gap is ln(8/7) − ln 2 = −ln(7/4)
    assert ig(row_losses([[0.875, 0.125]], [0]), free).value == pytest.approx(-math.log(7 / 4))


def test_pairing_takes_out_how_hard_rows_are() -> None:
    # losses spread over 0 to 10, but every row costs exactly .5 more: nothing is uncertain
    free = np.linspace(0, 10, 201)
    found = ig(free + 0.5, free)
    assert (found.value, found.low, found.high) == pytest.approx((0.5, 0.5, 0.5))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_swapping_turns_the_sign(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 12))
    first = data.draw(arrays(np.float64, (data.draw(st.integers(1, 3)), n), elements=LOSSES))
    second = data.draw(arrays(np.float64, n, elements=LOSSES))
    there, back = ig(first, second), ig(second, first)
    assert there.value == pytest.approx(-back.value, abs=1e-9)
    assert (there.low, there.high) == (pytest.approx(-back.high, abs=1e-9), pytest.approx(-back.low, abs=1e-9))
    assert there.value == pytest.approx(first.mean() - second.mean(), abs=1e-9)
    assert there.low <= there.high
    assert ig(first, first)[:3] == (0, 0, 0)


@pytest.mark.parametrize(
    ("controlled", "uncontrolled", "message"),
    [
        ([], [], "controlled hold no rows"),
        ([1.0], [1.0, 2.0], "controlled has 1 rows and uncontrolled has 2"),
        ([math.inf], [1.0], "controlled hold inf at position 0"),
        ([1.0], [[math.nan]], "uncontrolled hold nan at position 0, 0"),
        ([[[1.0]]], [1.0], "give \\(draws, rows\\)"),
        (1.0, 1.0, "give \\(draws, rows\\)"),
        (["much"], [1.0], "give real numbers"),
    ],
)
def test_bad_input_is_one_clear_sentence(controlled, uncontrolled, message) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(DataError, match=message):
        ig(controlled, uncontrolled)
