"""Expected calibration error by hand, at the edges of bins, and against a loop and scikit-learn's curve."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.typing import NDArray
from sklearn.calibration import calibration_curve

from spurgen.errors import DataError
from spurgen.metrics.calibration_error import calibration_error
from tests.metrics.drawn import Drawn, drawn, softmax


def binary(*confidences: float) -> NDArray[np.float64]:
    return np.array([[c, 1 - c] for c in confidences])


def test_by_hand() -> None:
    # bins of 1/15: .9 and .92 in (13/15, 14/15] = (.867, .933], one of two right; .6 in (8/15, 9/15], right.
    # 2/3 |.5 − .91| + 1/3 |1 − .6| = .2733 + .1333 = .4067
    assert calibration_error(binary(0.9, 0.92, 0.6), [0, 1, 0]) == pytest.approx(2 / 3 * 0.41 + 1 / 3 * 0.4)


def test_bins_hold_their_right_end() -> None:
    # .75 ends the third of four bins. With .7, right and wrong: |1 − (.75 + .7)| / 2 = .225 in one bin.
    # Were it in the fourth, the two gaps would add up: (|1 − .75| + |0 − .7|) / 2 = .475.
    assert calibration_error(binary(0.75, 0.7), [0, 1], bins=4) == pytest.approx(0.225)
    # .8 is in the fourth bin, so with .75 the gaps add up: (|1 − .8| + |0 − .75|) / 2 = .475
    assert calibration_error(binary(0.8, 0.75), [0, 1], bins=4) == pytest.approx(0.475)
    # 1 is in the last bin, not beyond it, also when rounding has put it above
    assert calibration_error([[1 + 1e-7, 0.0]], [0]) == 0


def test_ends() -> None:
    assert calibration_error(binary(1.0, 1.0), [0, 0]) == 0  # sure and right
    assert calibration_error(binary(1.0, 1.0), [1, 1]) == 1  # sure and wrong
    assert calibration_error([[0.25] * 4] * 4, [0, 1, 2, 3]) == 0  # a guess that knows it is one
    with pytest.raises(DataError, match="at least one"):
        calibration_error(binary(0.9), [0], bins=0)


@settings(max_examples=60, deadline=None)
@given(data=drawn())
def test_one_bin_is_the_distance_of_confidence_from_accuracy(data: Drawn) -> None:
    hits = data.probabilities.argmax(axis=1) == data.labels
    distance = abs(hits.mean() - data.probabilities.max(axis=1).mean())
    assert calibration_error(data.probabilities, data.labels, bins=1) == pytest.approx(distance, abs=1e-12)
    assert calibration_error(data.probabilities, data.labels) >= distance - 1e-12  # bins only add


@settings(max_examples=60, deadline=None)
@given(data=drawn(least_classes=2))
def test_against_the_definition(data: Drawn) -> None:
    """Bin by bin; which bin is asked of exact fractions, where the edges are fractions of whole numbers too."""
    confidence = data.probabilities.max(axis=1)
    hits = data.probabilities.argmax(axis=1) == data.labels
    exact = [Fraction(c).limit_denominator(60) for c in confidence.tolist()]
    error = 0.0
    for b in range(1, 16):
        inside = np.array([Fraction(b - 1, 15) < c <= Fraction(b, 15) for c in exact])
        if inside.any():
            error += inside.mean() * abs(hits[inside].mean() - confidence[inside].mean())
    assert calibration_error(data.probabilities, data.labels) == pytest.approx(error, abs=1e-12)


@pytest.mark.parametrize("classes", [2, 4])
def test_against_scikit_learns_curve(classes: int) -> None:
    probabilities, labels = softmax(500, classes)
    confidence, hits = probabilities.max(axis=1), probabilities.argmax(axis=1) == labels
    right, said = calibration_curve(hits, confidence, n_bins=15)
    rows, _ = np.histogram(confidence, bins=15, range=(0, 1))
    expected = (rows[rows > 0] * abs(right - said)).sum() / len(labels)
    assert calibration_error(probabilities, labels) == pytest.approx(expected)
