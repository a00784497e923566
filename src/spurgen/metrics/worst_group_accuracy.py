"""The accuracy of the group that a model serves worst, among groups large enough to judge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from numpy.typing import ArrayLike

from spurgen.errors import DataError
from spurgen.metrics import Metric
from spurgen.metrics.group_accuracy import GroupScore, group_accuracy

LEAST_ROWS = 10


class WorstGroup(NamedTuple):
    """The worst group, and what was not considered in finding it."""

    value: float
    group: str
    n: int
    low: float  # 95% Wilson interval of this group by itself; it does not know that the group was picked as the worst
    high: float
    too_small: tuple[str, ...]  # groups that have rows, but fewer than asked for
    all_small: bool  # no group has as many rows as asked for, so all that have any were considered


def worst_group_accuracy(
    probabilities: ArrayLike, labels: ArrayLike, groups: ArrayLike, names: Sequence[str], least_rows: int = LEAST_ROWS
) -> WorstGroup:
    """WGA = min_g P(argmax f(x) = y | row in g) over the groups that have at least `least_rows` rows.

    Smaller groups neither win by luck nor vanish: their names come back in `too_small`. If all groups are smaller,
    all that have rows are considered, and `all_small` says so. Groups without rows are never considered; of groups
    that tie, the first in `names` is given. Bounds: [0, 1], higher is better.

    >>> worst_group_accuracy([[0.9, 0.1], [0.2, 0.8]], [0, 0], [1, 0], ["a", "b"], least_rows=1)[:3]
    (0.0, 'a', 1)
    """
    return worst_of(group_accuracy(probabilities, labels, groups, names), least_rows)


def worst_of(scores: Sequence[GroupScore], least_rows: int = LEAST_ROWS) -> WorstGroup:
    """The worst of groups that are scored already; see `worst_group_accuracy`."""
    filled = [score for score in scores if score.n > 0]
    if not filled:
        raise DataError("no group has any rows, so none is the worst; check what the rows are grouped by")
    large = [score for score in filled if score.n >= least_rows]
    worst = min(large or filled, key=lambda score: score.accuracy)
    too_small = tuple(score.name for score in filled if score.n < least_rows) if large else ()
    return WorstGroup(worst.accuracy, worst.name, worst.n, worst.low, worst.high, too_small, not large)


METRIC = Metric(
    name="worst_group_accuracy",
    about="accuracy of the worst group that is large enough to judge",
    paper="Sagawa et al. 2020, Distributionally Robust Neural Networks for Group Shifts",
    bounds=(0.0, 1.0),
    higher_is_better=True,
    function=worst_group_accuracy,
)
