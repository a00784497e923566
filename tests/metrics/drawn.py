"""Predictions for the tests of metrics: small whole numbers over their sum, so that ties and zeros are frequent."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray


class Drawn(NamedTuple):
    probabilities: NDArray[np.float64]
    labels: NDArray[np.int64]
    groups: NDArray[np.int64]
    names: list[str]


@st.composite
def drawn(draw: st.DrawFn, least_classes: int = 1, most_rows: int = 40) -> Drawn:
    classes, rows = draw(st.integers(least_classes, 5)), draw(st.integers(1, most_rows))
    weights = draw(arrays(np.int64, (rows, classes), elements=st.integers(0, 6)))
    weights[weights.sum(axis=1) == 0] = 1
    names = [f"g{i}" for i in range(draw(st.integers(1, 4)))]
    labels = draw(arrays(np.int64, rows, elements=st.integers(0, classes - 1)))
    groups = draw(arrays(np.int64, rows, elements=st.integers(0, len(names) - 1)))
    return Drawn(weights / weights.sum(axis=1, keepdims=True), labels, groups, names)


def softmax(rows: int, classes: int, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Probabilities that know something of the labels, every class occurring."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(rows) % classes)
    scores = rng.normal(size=(rows, classes)) + 1.5 * np.eye(classes)[labels]
    return np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True), labels
