"""The area under the ROC curve by hand, by counting pairs, and against scikit-learn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.metrics import roc_auc_score

from spurgen.metrics.auroc import auroc
from tests.metrics.drawn import Drawn, drawn, softmax


def test_by_hand() -> None:
    # class 1 scores .4 and .7 against .1 and .4: three pairs won, one tied -> (3 + .5) / 4 = .875
    assert auroc([[0.9, 0.1], [0.6, 0.4], [0.6, 0.4], [0.3, 0.7]], [0, 0, 1, 1]) == 0.875


def test_several_classes_by_hand() -> None:
    probabilities = [[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.3, 0.3, 0.4]]
    # class 0: .5 against .2 .3 -> 1; class 1: .5 against .3 .3 -> 1; class 2: .4 against .2 .3 -> 1
    assert auroc(probabilities, [0, 1, 2]) == 1
    # class 0: .5 and .2 against .3 -> 1/2; class 1: .3 against .3 .5 -> (.5 + 0)/2 = 1/4; class 2 does not occur
    assert auroc(probabilities, [0, 0, 1]) == pytest.approx((1 / 2 + 1 / 4) / 2)


def test_two_classes_have_one_curve() -> None:
    # both rows are of class 0 for certain once 1 − p is rounded; the probability of class 1 still tells them apart
    assert auroc([[1.0, 1e-20], [1.0, 2e-20]], [0, 1]) == 1


def test_nothing_to_tell_apart_is_nan() -> None:
    assert math.isnan(auroc([[0.9, 0.1], [0.2, 0.8]], [0, 0]))
    assert math.isnan(auroc([[0.2, 0.3, 0.5], [0.2, 0.3, 0.5]], [2, 2]))
    assert math.isnan(auroc([[1.0]], [0]))


@settings(max_examples=80, deadline=None)
@given(data=drawn())
def test_is_the_share_of_pairs_in_order(data: Drawn) -> None:
    count = data.probabilities.shape[1]
    shares = []
    for k in [1] if count == 2 else range(count):
        own, other = data.probabilities[data.labels == k, k], data.probabilities[data.labels != k, k]
        if own.size and other.size:
            ahead = own[:, None] - other
            shares.append((ahead > 0).mean() + 0.5 * (ahead == 0).mean())
    expected = np.mean(shares) if shares else math.nan
    assert auroc(data.probabilities, data.labels) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("classes", [3, 7])
def test_against_scikit_learn(classes: int) -> None:
    probabilities, labels = softmax(300, classes)
    assert auroc(probabilities, labels) == pytest.approx(roc_auc_score(labels, probabilities, multi_class="ovr"))


def test_two_classes_against_scikit_learn() -> None:
    probabilities, labels = softmax(300, 2)
    probabilities = probabilities.round(2)  # ties
    assert auroc(probabilities, labels) == pytest.approx(roc_auc_score(labels, probabilities[:, 1]))
