"""Area under the ROC curve: how well each class's probability tells its rows from all others."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from spurgen.metrics import Metric
from spurgen.metrics._inputs import Floats, Truths, predictions


def auroc(probabilities: ArrayLike, labels: ArrayLike) -> float:
    """AUROC = mean over classes k of P(f(x)[k] > f(x')[k]) + ½ P(f(x)[k] = f(x')[k]), x of class k and x' of another.

    The mean is over classes that occur and do not fill everything; where there is none, the score is NaN. Two
    classes have one curve, that of class 1. Bounds: [0, 1], ½ for chance, higher is better.

    >>> auroc([[0.9, 0.1], [0.6, 0.4], [0.6, 0.4], [0.3, 0.7]], [0, 0, 1, 1])
    0.875
    """
    given = predictions(probabilities, labels)
    count = given.probabilities.shape[1]
    # with two classes the curves are the same but for rounding: 1 − p can tie where p does not
    classes = [1] if count == 2 else range(count)
    found = [_area(given.probabilities[:, k], given.labels == k) for k in classes if _divides(given.labels == k)]
    return float(np.mean(found)) if found else float("nan")


def _divides(positive: Truths) -> bool:
    return bool(positive.any() and not positive.all())


def _area(scores: Floats, positive: Truths) -> float:
    """Mann–Whitney's U over the number of pairs, in whole numbers until the last division."""
    _, place, ties = np.unique(scores, return_inverse=True, return_counts=True)
    twice_rank = 2 * np.cumsum(ties) - ties + 1  # rows that tie share the mean of their ranks
    count = int(positive.sum())
    twice_won = int(twice_rank[place[positive]].sum()) - count * (count + 1)
    return twice_won / (2 * count * (len(scores) - count))


METRIC = Metric(
    name="auroc",
    about="area under the ROC curve, each class against the rest, averaged over classes",
    paper="Hanley and McNeil 1982, The Meaning and Use of the Area under a ROC Curve",
    bounds=(0.0, 1.0),
    higher_is_better=True,
    function=auroc,
)
