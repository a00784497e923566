"""Average accuracy as it would be if the groups were as frequent as in training (WILDS' adjusted average)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from numpy.typing import ArrayLike

from spurgen.errors import DataError
from spurgen.metrics import Metric
from spurgen.metrics.group_accuracy import GroupScore, group_accuracy


class Weighted(NamedTuple):
    """An average over groups, and the groups that could not take part in it."""

    value: float
    missing: tuple[str, ...]  # trained on but without a row here: their weight went to the others
    unseen: tuple[str, ...]  # rows here but none in training: they weigh nothing


def weighted_accuracy(
    probabilities: ArrayLike,
    labels: ArrayLike,
    groups: ArrayLike,
    names: Sequence[str],
    train_sizes: Mapping[str, float],
) -> Weighted:
    """WAcc = Σ_g w_g Acc_g / Σ_g w_g over groups that have rows here, w_g being the rows of g in training.

    `train_sizes` gives them by name, so the two splits may list groups in different orders; a name it lacks has no
    rows in training. Test sets with rare groups made frequent (Waterbirds) are reported this way: always say which
    average is shown. Bounds: [0, 1], higher is better.

    >>> weighted_accuracy([[0.9, 0.1], [0.2, 0.8]], [0, 0], [1, 0], ["a", "b"], {"a": 1, "b": 3}).value
    0.75
    """
    return weighted_by(group_accuracy(probabilities, labels, groups, names), train_sizes)


def weighted_by(scores: Sequence[GroupScore], train_sizes: Mapping[str, float]) -> Weighted:
    """The weighted average of groups that are scored already; see `weighted_accuracy`."""
    for name, size in train_sizes.items():
        if not (math.isfinite(size) and size >= 0):
            raise DataError(f"group {name!r} has {size} rows in training; give a finite number that is not negative")
    accuracies = {score.name: score.accuracy for score in scores if score.n > 0}
    weights = {name: train_sizes.get(name, 0) for name in accuracies}
    total = math.fsum(weights.values())
    if not total:
        raise DataError("no group that was trained on has a row here; check that both splits are grouped alike")
    value = math.fsum(accuracies[name] * weight for name, weight in weights.items()) / total
    missing = tuple(name for name, size in train_sizes.items() if size > 0 and name not in accuracies)
    return Weighted(value, missing, tuple(name for name, weight in weights.items() if not weight))


METRIC = Metric(
    name="weighted_accuracy",
    about="average of group accuracies weighted by the groups' sizes in training",
    paper="Koh et al. 2021, WILDS: A Benchmark of in-the-Wild Distribution Shifts",
    bounds=(0.0, 1.0),
    higher_is_better=True,
    function=weighted_accuracy,
)
