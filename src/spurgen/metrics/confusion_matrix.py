"""Which class is taken for which, in rows counted."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from spurgen.metrics import Metric
from spurgen.metrics._inputs import Positions, predictions


def confusion_matrix(probabilities: ArrayLike, labels: ArrayLike) -> Positions:
    """M[j, k] = number of rows with label j whose most probable class is k; (K, K) whole numbers, rows are the truth.

    Every class has a row and a column, also those that never occur. Bounds: [0, n] for each cell; they add up to n.

    >>> confusion_matrix([[0.9, 0.1], [0.2, 0.8], [0.3, 0.7]], [0, 0, 1]).tolist()
    [[1, 1], [0, 1]]
    """
    given = predictions(probabilities, labels)
    count = given.probabilities.shape[1]
    cells = np.bincount(given.labels * count + given.chosen, minlength=count * count)
    return cells.reshape(count, count).astype(np.int64)


METRIC = Metric(
    name="confusion_matrix",
    about="rows counted by label and most probable class",
    paper="",
    bounds=(0.0, float("inf")),
    higher_is_better=None,
    function=confusion_matrix,
)
