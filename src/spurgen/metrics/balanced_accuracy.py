"""Accuracy in which every class counts the same, however many rows it has."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from spurgen.metrics import Metric
from spurgen.metrics._inputs import predictions


def balanced_accuracy(probabilities: ArrayLike, labels: ArrayLike) -> float:
    """BAcc = mean over the classes k that occur among the labels of P(argmax f(x) = k | y = k).

    A class without rows has no recall and is left out. Bounds: [0, 1], higher is better.

    >>> balanced_accuracy([[0.9, 0.1], [0.9, 0.1], [0.9, 0.1], [0.9, 0.1]], [0, 0, 0, 1])
    0.5
    """
    given = predictions(probabilities, labels)
    rows = np.bincount(given.labels)
    hits = np.bincount(given.labels[given.hits], minlength=len(rows))
    occurs = rows > 0
    return float((hits[occurs] / rows[occurs]).mean())


METRIC = Metric(
    name="balanced_accuracy",
    about="mean recall over the classes that occur",
    paper="Brodersen et al. 2010, The Balanced Accuracy and Its Posterior Distribution",
    bounds=(0.0, 1.0),
    higher_is_better=True,
    function=balanced_accuracy,
)
