"""Models made of the latents themselves, whose scores follow by arithmetic: if these come out wrong, no number counts.

`label_only` looks at the label alone: it must score 1 everywhere, and no channel may move it. `channel_only` looks at
what one channel shows, and guesses the class it belongs to. `mixture` believes partly the one, partly the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from spurgen.evaluate.interventions import Plan, names, rows_with
from spurgen.evaluate.predictions import Probabilities
from spurgen.evaluate.score import Scores, score
from spurgen.latents.traits import shown
from spurgen.load import columns
from spurgen.load.groups import group
from spurgen.metrics.worst_group_accuracy import LEAST_ROWS

if TYPE_CHECKING:
    import pyarrow as pa

    from spurgen.spec import World

Instrument = Callable[["pa.Table", "World"], Probabilities]


def label_only(table: pa.Table, spec: World) -> Probabilities:
    """All belief in the true class."""
    return np.eye(len(spec.classes))[columns.target(table, spec, "label").values]


def channel_only(channel: str) -> Instrument:
    """Belief spread evenly over the classes whose aligned attribute is shown; over all, where it is nobody's."""

    def read(table: pa.Table, spec: World) -> Probabilities:
        return _beliefs(spec, channel)[shown(table, channel, spec.values(channel))]

    return read


def mixture(channel: str, weight: float) -> Instrument:
    """The label with `weight`, the channel with what is left of 1."""

    def read(table: pa.Table, spec: World) -> Probabilities:
        return weight * label_only(table, spec) + (1 - weight) * channel_only(channel)(table, spec)

    return read


def predictions(instrument: Instrument, table: pa.Table, spec: World, plan: Plan) -> dict[str, Probabilities]:
    """What an instrument says of the rows and of every edit."""
    return {name: instrument(edited, spec) for name, edited, _ in rows_with(table, spec, names(spec, plan))}


class Reading(NamedTuple):
    """One score of one instrument: what it must be, and what it is."""

    instrument: str
    score: str
    expected: float
    found: float

    @property
    def right(self) -> bool:
        """Whether they agree to within rounding."""
        return bool(abs(self.expected - self.found) <= 1e-9)


def check(table: pa.Table, spec: World, weight: float = 0.6) -> list[Reading]:
    """Every instrument on these rows: expected values come from counts of rows, never from the metrics."""
    plan = Plan(draws=2, exact=True)
    readings = _of_label(score(predictions(label_only, table, spec, plan), table, spec), spec)
    for channel in spec.channels:
        for share in (0.0, weight):
            scores = score(predictions(mixture(channel, share), table, spec, plan), table, spec)
            readings += _of_channel(scores, table, spec, channel, share, plan)
    return readings


def _of_label(scores: Scores, spec: World) -> list[Reading]:
    told = [Reading("label", "worst_group_accuracy", 1.0, scores["metrics"]["worst_group_accuracy"])]
    told += [Reading("label", f"sss {c}", 0.0, scores["sss"][c]["value"]) for c in spec.channels]
    return told + [Reading("label", f"ig {kind}", 0.0, gap["value"]) for kind, gap in scores["ig"].items()]


def _of_channel(scores: Scores, table: pa.Table, spec: World, channel: str, weight: float, plan: Plan) -> list[Reading]:
    name = f"{channel}" if weight == 0 else f"{weight:g} label + {1 - weight:g} {channel}"
    label = columns.target(table, spec, "label").values
    told = [
        Reading(
            name, f"sss {c}", _expected_sss(table, spec, c, weight) if c == channel else 0.0, scores["sss"][c]["value"]
        )
        for c in spec.channels
    ]
    told.append(Reading(name, "worst_group_accuracy", *_worst(scores, table, spec, channel, weight)))
    losses = {
        edit: _mean_loss(edited, spec, channel, weight, label)
        for edit, edited, _ in rows_with(table, spec, names(spec, plan))
        if edit.startswith(("randomise", "conflict", "align"))
    }
    free = np.mean([loss for edit, loss in losses.items() if edit.startswith("randomise")])
    for kind, prefix in (("conflicting", "conflict"), ("aligned", "align")):
        if kind in scores["ig"]:
            fixed = np.mean([loss for edit, loss in losses.items() if edit.startswith(prefix)])
            told.append(Reading(name, f"ig {kind}", float(fixed - free), scores["ig"][kind]["value"]))
    return told


def _sharers(spec: World, channel: str) -> list[int]:
    """For each class how many classes have its aligned attribute."""
    aligned = spec.aligned(channel)
    return [aligned.count(a) for a in aligned]


def _belief(spec: World, channel: str, label: int, attribute: int) -> float:
    """What `channel_only` gives the true class: 1/k among the k classes of the attribute, 1/K where it is nobody's."""
    aligned = spec.aligned(channel)
    if attribute == aligned[label]:
        return 1 / _sharers(spec, channel)[label]
    return 0.0 if attribute in aligned else 1 / len(spec.classes)


def _expected_sss(table: pa.Table, spec: World, channel: str, weight: float) -> float:
    """(1 − w) times the mean over (class, attribute) cells, by their counts, of the mean change over all attributes."""
    counts = _cells(table, spec, channel)
    many = len(spec.values(channel))
    total = 0.0
    for (label, attribute), n in counts.items():
        own = _belief(spec, channel, label, attribute)
        total += n * sum(abs(own - _belief(spec, channel, label, other)) for other in range(many)) / many
    return (1 - weight) * total / table.num_rows


def _mean_loss(table: pa.Table, spec: World, channel: str, weight: float, label: Any) -> float:
    """The mean of −ln(w + (1 − w) belief) over (class, attribute) cells; 0 counts as the smallest normal number."""
    least = float(np.finfo(np.float64).tiny)
    total = 0.0
    for (y, attribute), n in _cells(table, spec, channel).items():
        total -= n * float(np.log(max(weight + (1 - weight) * _belief(spec, channel, y, attribute), least)))
    return total / len(label)


def _cells(table: pa.Table, spec: World, channel: str) -> dict[tuple[int, int], int]:
    """Rows of each label and shown attribute."""
    label = columns.target(table, spec, "label").values
    codes = shown(table, channel, spec.values(channel))
    pairs, counts = np.unique(np.stack([label, codes], 1), axis=0, return_counts=True)
    return {(int(y), int(a)): int(n) for (y, a), n in zip(pairs, counts, strict=True)}


def _worst(scores: Scores, table: pa.Table, spec: World, channel: str, weight: float) -> tuple[float, float]:
    """(expected, found): the smallest share of rows that are right, by counting, over the groups that count."""
    groups = group(table, spec)
    label = columns.target(table, spec, "label").values.tolist()
    codes = shown(table, channel, spec.values(channel)).tolist()
    classes = range(len(spec.classes))
    right = np.zeros(len(groups))
    for y, attribute, g in zip(label, codes, groups.codes.tolist(), strict=True):
        beliefs = [(1 - weight) * _belief(spec, channel, k, attribute) + (weight if k == y else 0.0) for k in classes]
        right[g] += beliefs.index(max(beliefs)) == y
    large = groups.counts >= LEAST_ROWS
    counting = large if large.any() else groups.counts > 0
    return float((right[counting] / groups.counts[counting]).min()), scores["metrics"]["worst_group_accuracy"]


def _beliefs(spec: World, channel: str) -> Probabilities:
    """(attributes, classes)."""
    aligned = np.array(spec.aligned(channel))
    mine = (np.arange(len(spec.values(channel)))[:, None] == aligned).astype(np.float64)
    mine[mine.sum(1) == 0] = 1.0
    return np.asarray(mine / mine.sum(1, keepdims=True), np.float64)
