"""Cross-entropy by hand, at its ends, and against scikit-learn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.metrics import log_loss

from spurgen.metrics.cross_entropy import cross_entropy, row_losses
from tests.metrics.drawn import softmax


def test_by_hand() -> None:
    # −ln .5 = .6931 and −ln .25 = 1.3863; their mean is 1.5 ln 2 = 1.0397
    assert row_losses([[0.5, 0.5], [0.75, 0.25]], [0, 1]).tolist() == pytest.approx([math.log(2), math.log(4)])
    assert cross_entropy([[0.5, 0.5], [0.75, 0.25]], [0, 1]) == pytest.approx(1.5 * math.log(2))


def test_what_is_held_impossible_costs_much_but_not_everything() -> None:
    # the smallest normal float64 is 2**−1022: 1022 ln 2 = 708.3964
    assert cross_entropy([[1.0, 0.0]], [1]) == pytest.approx(1022 * math.log(2))
    assert cross_entropy([[1.0, 1e-320]], [1]) == pytest.approx(1022 * math.log(2))
    assert cross_entropy([[1 - 1e-300, 1e-300]], [1]) == pytest.approx(300 * math.log(10))


def test_certainty_that_is_right_costs_nothing() -> None:
    assert str(row_losses([[1.0, 0.0]], [0]).tolist()) == "[0.0]"  # and not -0.0
    assert cross_entropy([[1.0 + 1e-7, 0.0]], [0]) == 0  # a sum of float32 may end there


@pytest.mark.parametrize("classes", [2, 3, 10])
def test_against_scikit_learn(classes: int) -> None:
    probabilities, labels = softmax(200, classes)
    expected = log_loss(labels, probabilities, labels=np.arange(classes))
    assert cross_entropy(probabilities, labels) == pytest.approx(expected, rel=1e-12)


def test_knowing_nothing_costs_the_logarithm_of_the_classes() -> None:
    assert cross_entropy(np.full((7, 5), 0.2), np.arange(7) % 5) == pytest.approx(math.log(5))
