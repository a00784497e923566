"""Accuracy, plain and balanced, and the confusion matrix, by hand and against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn import metrics as oracle

from spurgen.metrics.accuracy import accuracy
from spurgen.metrics.balanced_accuracy import balanced_accuracy
from spurgen.metrics.confusion_matrix import confusion_matrix
from tests.metrics.drawn import Drawn, drawn

# chosen: 0, 0, 1, 2, 0 (a tie of 0 and 1 in the last row goes to 0)
PROBABILITIES = [[0.6, 0.3, 0.1], [0.5, 0.2, 0.3], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6], [0.4, 0.4, 0.2]]
LABELS = [0, 1, 1, 2, 1]


def test_by_hand() -> None:
    # right: rows 0, 2, 3 of 5
    assert accuracy(PROBABILITIES, LABELS) == pytest.approx(3 / 5)
    # recalls: 1/1, 1/3, 1/1; their mean is (1 + 1/3 + 1) / 3 = 7/9
    assert balanced_accuracy(PROBABILITIES, LABELS) == pytest.approx(7 / 9)
    # truth 0 -> 0; truth 1 -> 0 twice, 1 once; truth 2 -> 2
    assert confusion_matrix(PROBABILITIES, LABELS).tolist() == [[1, 0, 0], [2, 1, 0], [0, 0, 1]]


def test_a_class_without_rows_does_not_count_in_the_balance() -> None:
    # class 2 does not occur: recalls 1/1 and 1/3
    assert balanced_accuracy(PROBABILITIES, [0, 1, 1, 1, 0]) == pytest.approx((2 / 2 + 1 / 3) / 2)


@settings(max_examples=60, deadline=None)
@given(data=drawn(least_classes=2))  # of one class scikit-learn complains
def test_against_scikit_learn(data: Drawn) -> None:
    chosen, labels = data.probabilities.argmax(axis=1), data.labels
    assert accuracy(data.probabilities, labels) == pytest.approx(oracle.accuracy_score(labels, chosen))
    recalls = oracle.recall_score(labels, chosen, labels=np.unique(labels), average="macro")
    assert balanced_accuracy(data.probabilities, labels) == pytest.approx(recalls)
    classes = range(data.probabilities.shape[1])
    matrix = confusion_matrix(data.probabilities, labels)
    assert (matrix == oracle.confusion_matrix(labels, chosen, labels=list(classes))).all()
    assert matrix.trace() == round(accuracy(data.probabilities, labels) * len(labels))
