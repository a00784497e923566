"""What the labels cost under the model's probabilities, in nats."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from spurgen.metrics import Metric
from spurgen.metrics._inputs import Floats, predictions

SMALLEST = float(np.finfo(np.float64).tiny)


def cross_entropy(probabilities: ArrayLike, labels: ArrayLike) -> float:
    """CE = −(1/n) Σᵢ ln f(xᵢ)[yᵢ], in nats per row.

    A probability below the smallest normal float64 counts as that number, so a label held impossible costs
    −ln 2.2e-308 = 708.4 nats: large, and finite. Bounds: [0, ∞), lower is better; ln K is the loss of a model that
    knows nothing of K balanced classes.

    >>> round(cross_entropy([[0.5, 0.5], [0.75, 0.25]], [0, 1]), 4)
    1.0397
    """
    return float(row_losses(probabilities, labels).mean())


def row_losses(probabilities: ArrayLike, labels: ArrayLike) -> Floats:
    """The cross-entropy −ln f(xᵢ)[yᵢ] of each row, clipped as in `cross_entropy`: what `ig` is made of."""
    given = predictions(probabilities, labels)
    of_label = given.probabilities[np.arange(len(given.labels)), given.labels]
    return -np.log(np.maximum(of_label, SMALLEST)) + 0.0  # −ln 1 is −0.0, which prints badly


METRIC = Metric(
    name="cross_entropy",
    about="mean of minus the logarithm of the label's probability, in nats",
    paper="",
    bounds=(0.0, float("inf")),
    higher_is_better=False,
    function=cross_entropy,
)
