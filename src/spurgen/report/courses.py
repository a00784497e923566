"""How training went: what was checked on the way, as means over seeds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spurgen.report.reading import Columns, Trial

WATCHED = {
    "test worst_group_accuracy": "Worst group, test rows",
    "test accuracy": "Average, test rows",
    "training accuracy": "Rows mixed as in training",
    "worst_group_accuracy": "Worst group, validation rows",
    "loss": "Loss on validation rows",
}
POINTS = 60  # of a recorded loss that are shown


@dataclass(frozen=True)
class Course:
    """One curve of one method: mean over seeds at each step, and the lowest and highest seed."""

    method: str
    steps: tuple[float, ...]
    means: tuple[float, ...]
    lows: tuple[float, ...]
    highs: tuple[float, ...]


def courses(trials: Mapping[str, Sequence[Trial]]) -> dict[str, list[Course]]:
    """Title -> a curve per method, for everything that was checked; and the training loss."""
    found: dict[str, list[Course]] = {}
    for column, title in WATCHED.items():
        mine = [_course(m, [(_steps(t.checks), _checked(t.checks, column)) for t in ts]) for m, ts in trials.items()]
        if any(mine):
            found[title] = [c for c in mine if c]
    mine = [_course(m, [_thinned(t.records) for t in ts]) for m, ts in trials.items()]
    if any(mine):
        found["Training loss"] = [c for c in mine if c]
    return found


def _checked(checks: Columns, column: str) -> NDArray[np.float64] | None:
    """A column; of a method that is judged by fresh validation rows, in the groups of the scores, that of those."""
    return checks.get(f"validation {column}", checks.get(column))


def _course(method: str, given: Sequence[tuple[Any, Any]]) -> Course | None:
    there = [(s, v) for s, v in given if s is not None and v is not None and np.isfinite(v).any()]
    if not there:
        return None
    if any(len(s) != len(there[0][0]) or (s != there[0][0]).any() for s, _ in there):
        return None  # seeds of other lengths have no common course
    length = min(len(v) for _, v in there)
    values = np.stack([v[:length] for _, v in there])
    kept = np.isfinite(values).all(0)
    values, steps = values[:, kept], there[0][0][:length][kept]
    if not kept.any():
        return None
    return Course(method, *(tuple(map(float, a)) for a in (steps, values.mean(0), values.min(0), values.max(0))))


def _steps(checks: Columns) -> NDArray[np.float64] | None:
    """Steps since the beginning; where a stage counts from 0 again, those of the stages before are added."""
    steps = checks.get("step")
    if steps is None or len(steps) == 0:
        return None
    back = np.flatnonzero(np.diff(steps) < 0)
    added = np.zeros(len(steps))
    for at in back:
        added[at + 1 :] += steps[at]
    return steps + added


def _thinned(records: Columns) -> tuple[Any, Any]:
    """A recorded loss as means over equally many steps each."""
    loss = records.get("loss")
    if loss is None or len(loss) == 0:
        return None, None
    width = math.ceil(len(loss) / POINTS)
    starts = range(0, len(loss), width)
    return np.array([s + width / 2 for s in starts]), np.array([loss[s : s + width].mean() for s in starts])
