"""Which rows a model gets wrong, what it takes them for, and which channel could have led it there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from spurgen.evaluate.interventions import NONE
from spurgen.latents.traits import column_codes, shown
from spurgen.report.harm import Answers
from spurgen.report.reading import Trial

TIMES = ""  # no channel is called that

if TYPE_CHECKING:
    import pyarrow as pa

    from spurgen.spec import World


@dataclass(frozen=True)
class Mistake:
    """A row that was taken for another class; `led` are the channels whose shown value belongs to that class."""

    row_id: int
    label: str
    predicted: str
    probability: float
    values: dict[str, str]  # channel -> what the row shows
    led: tuple[str, ...]


@dataclass(frozen=True)
class Confused:
    """A pair of classes that is mixed up often."""

    label: str
    predicted: str
    times: int
    led: dict[str, int]  # channel -> in how many of them its value belongs to the predicted class


def confusion(trials: Sequence[Trial]) -> list[list[int]]:
    """Counts of label × predicted class, all seeds together; empty where no results were kept."""
    kept = [np.array(t.scores["confusion_matrix"], np.int64) for t in trials if "confusion_matrix" in t.scores]
    counted: list[list[int]] = np.sum(kept, axis=0).tolist() if kept else []
    return counted


def mistakes(trial: Trial, spec: World, table: pa.Table, most: int = 18) -> list[Mistake]:
    """The mistakes of one trial that it is surest of, at most three of a label."""
    kept = trial.predictions(len(spec.classes))
    if kept is None or NONE not in kept.found:
        return []
    ids, said = kept.found[NONE]
    rows = {int(r): i for i, r in enumerate(table["row_id"].to_pylist())}
    at = np.array([rows.get(int(r), -1) for r in ids])
    said, at = said[at >= 0], at[at >= 0]
    label = column_codes(table, "label", spec.classes)[at]
    predicted = said.argmax(1)
    sure = said.max(1)
    wrong = np.flatnonzero(predicted != label)
    values = {c: shown(table, c, spec.values(c))[at] for c in spec.channels}
    found: list[Mistake] = []
    of_label: dict[int, int] = {}
    for i in wrong[np.argsort(-sure[wrong], kind="stable")].tolist():
        if of_label.get(int(label[i]), 0) >= 3 or len(found) >= most:
            continue
        of_label[int(label[i])] = of_label.get(int(label[i]), 0) + 1
        shows = {c: spec.values(c)[int(v[i])] for c, v in values.items()}
        led = tuple(c for c, v in values.items() if spec.aligned(c)[int(predicted[i])] == int(v[i]))
        names = spec.classes[int(label[i])], spec.classes[int(predicted[i])]
        found.append(Mistake(int(table["row_id"][int(at[i])].as_py()), *names, float(sure[i]), shows, led))
    return found


def confused(given: Sequence[Answers], most: int = 8) -> list[Confused]:
    """The pairs of classes that are mixed up most, all seeds together, and what the rows showed."""
    pairs: dict[tuple[str, str], Counter[str]] = {}
    for answers in given:
        spec, label = answers.spec, answers.label
        owners = {
            c: shown(answers.table, c, spec.values(c))[:, None] == np.array(spec.aligned(c)) for c in spec.channels
        }
        for i in np.flatnonzero(answers.chosen != label).tolist():
            k = int(answers.chosen[i])
            mine = pairs.setdefault((spec.classes[label[i]], spec.classes[k]), Counter(dict.fromkeys(owners, 0)))
            mine.update([TIMES, *(c for c, o in owners.items() if o[i, k])])
    ranked = sorted(pairs.items(), key=lambda item: (-item[1][TIMES], item[0]))[:most]
    return [Confused(y, k, n[TIMES], {c: n[c] for c in n if c != TIMES}) for (y, k), n in ranked]
