"""Accuracy of every named group, with how many rows it rests on and how sure it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from spurgen.metrics import Metric
from spurgen.metrics._inputs import group_codes, predictions
from spurgen.metrics._wilson import wilson


class GroupScore(NamedTuple):
    """The accuracy of one group; NaN, between 0 and 1, where the group has no rows."""

    name: str
    n: int
    accuracy: float
    low: float  # 95% Wilson interval
    high: float


def group_accuracy(
    probabilities: ArrayLike, labels: ArrayLike, groups: ArrayLike, names: Sequence[str]
) -> list[GroupScore]:
    """Acc_g = P(argmax f(x) = y | row in g) for every name in `names`, in their order, also of groups without rows.

    `groups` (n,) holds for each row the position of its group in `names`. Bounds: [0, 1], higher is better; NaN for
    groups without rows, whose interval is [0, 1].

    >>> [tuple(s[:3]) for s in group_accuracy([[0.9, 0.1], [0.2, 0.8]], [0, 0], [1, 0], ["a", "b"])]
    [('a', 1, 0.0), ('b', 1, 1.0)]
    """
    hits = predictions(probabilities, labels).hits
    codes = group_codes(groups, names, len(hits))
    sizes = np.bincount(codes, minlength=len(names)).tolist()
    right = np.bincount(codes[hits], minlength=len(names)).tolist()
    return [
        GroupScore(name, n, h / n if n else float("nan"), *wilson(h, n))
        for name, n, h in zip(names, sizes, right, strict=True)
    ]


METRIC = Metric(
    name="group_accuracy",
    about="accuracy of every named group, with its rows and a 95% Wilson interval",
    paper="Wilson 1927, Probable Inference, the Law of Succession, and Statistical Inference",
    bounds=(0.0, 1.0),
    higher_is_better=True,
    function=group_accuracy,
)
