"""The share of rows whose most probable class is the label."""

from __future__ import annotations

from numpy.typing import ArrayLike

from spurgen.metrics import Metric
from spurgen.metrics._inputs import predictions


def accuracy(probabilities: ArrayLike, labels: ArrayLike) -> float:
    """Acc = (1/n) Σᵢ 1[argmaxₖ f(xᵢ)[k] = yᵢ]; of classes that tie, the first is chosen.

    Bounds: [0, 1], higher is better.

    >>> accuracy([[0.9, 0.1], [0.2, 0.8]], [0, 0])
    0.5
    """
    return float(predictions(probabilities, labels).hits.mean())


METRIC = Metric(
    name="accuracy",
    about="share of rows whose most probable class is the label",
    paper="",
    bounds=(0.0, 1.0),
    higher_is_better=True,
    function=accuracy,
)
