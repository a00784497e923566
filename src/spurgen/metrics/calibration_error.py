"""Expected calibration error: how far a model's confidence is from how often it is right."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from spurgen.errors import DataError
from spurgen.metrics import Metric
from spurgen.metrics._inputs import predictions


def calibration_error(probabilities: ArrayLike, labels: ArrayLike, bins: int = 15) -> float:
    """ECE = Σ_b (n_b/n) |accuracy of bin b − mean confidence of bin b|, the confidence being maxₖ f(x)[k].

    Bin b of B holds confidences in ((b − 1)/B, b/B]: equal widths, right ends included. Bounds: [0, 1], lower is
    better. Few rows in a bin bias it upwards, so compare only scores of equally many rows.

    >>> round(calibration_error([[0.9, 0.1], [0.9, 0.1]], [0, 1]), 4)
    0.4
    """
    if bins < 1:
        raise DataError(f"bins is {bins}; calibration needs at least one")
    given = predictions(probabilities, labels)
    confidence = given.probabilities.max(axis=1)
    right_ends = np.arange(1, bins) / bins  # the last bin's is 1, which nothing exceeds
    place = np.searchsorted(right_ends, confidence, side="left")
    # (n_b/n) |Σ hits/n_b − Σ confidence/n_b| is |Σ (hit − confidence)| / n, also for bins without rows
    gaps = np.bincount(place, weights=given.hits - confidence)
    return float(np.abs(gaps).sum() / len(confidence))


METRIC = Metric(
    name="calibration_error",
    about="expected calibration error: mean distance of confidence from accuracy over 15 equal bins",
    paper="Guo et al. 2017, On Calibration of Modern Neural Networks",
    bounds=(0.0, 1.0),
    higher_is_better=False,
    function=calibration_error,
)
