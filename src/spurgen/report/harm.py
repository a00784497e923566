"""How much each channel harms a model: how far it moves beliefs, what it costs, which mistakes it leads to."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spurgen.evaluate.interventions import NONE
from spurgen.latents.traits import column_codes, shown
from spurgen.report.reading import Study, Trial
from spurgen.report.seeds import Estimate, over_seeds

if TYPE_CHECKING:
    import pyarrow as pa

    from spurgen.spec import World


@dataclass(frozen=True)
class Harm:
    """One channel and one method; accuracies are over test rows, seeds together."""

    channel: str
    sss: Estimate
    different: float  # SSS over draws that gave another value than the row had
    agrees: float  # accuracy where the channel shows what belongs to the label
    disagrees: float  # and where it does not
    mistakes: int  # where it does not agree
    led: float  # share of those that name a class to which the shown value belongs
    chance: float  # that share, were the wrong class drawn from a hat

    @property
    def lost(self) -> float:
        """What it costs in accuracy that the channel does not agree."""
        return self.agrees - self.disagrees


@dataclass(frozen=True, eq=False)
class Answers:
    """Which class a trial's model chose for each test row, and the rows."""

    chosen: NDArray[np.int64]
    spec: World
    table: pa.Table

    @property
    def label(self) -> NDArray[np.int32]:
        """The right classes."""
        return column_codes(self.table, "label", self.spec.classes)


def answers(study: Study, trials: Sequence[Trial]) -> list[Answers]:
    """What the models of trials chose, of those whose predictions and rows were kept."""
    found = []
    for trial in trials:
        spec, table = study.world(trial.plan.data), study.test_rows(trial.plan.data)
        if spec is not None and table is not None and (chosen := _chosen(trial, spec, table)) is not None:
            found.append(Answers(chosen, spec, table))
    return found


def harms(trials: Sequence[Trial], given: Sequence[Answers]) -> list[Harm]:
    """All channels of a world, the one that is leaned on most first."""
    channels = dict.fromkeys(c for t in trials for c in t.scores.get("sss", {}))
    found = [_harm(channel, trials, given) for channel in channels]
    return sorted(found, key=lambda harm: -_known(harm.sss.mean))


def _chosen(trial: Trial, spec: World, table: pa.Table) -> NDArray[np.int64] | None:
    kept = trial.predictions(len(spec.classes))
    if kept is None or NONE not in kept.found:
        return None
    ids, said = kept.found[NONE]
    rows = table["row_id"].to_numpy().astype(np.uint64)
    order = np.argsort(ids)
    at = np.minimum(np.searchsorted(ids[order], rows), len(ids) - 1)
    if not len(ids) or (ids[order][at] != rows).any():
        return None
    return said[order][at].argmax(1).astype(np.int64)


def _harm(channel: str, trials: Sequence[Trial], given: Sequence[Answers]) -> Harm:
    scores = {t.plan.seed: t.scores["sss"][channel] for t in trials if channel in t.scores.get("sss", {})}
    only = next(iter(scores.values()))
    interval = (_number(only["low"]), _number(only["high"])) if len(scores) == 1 else None
    sss = over_seeds({seed: _number(s["value"]) for seed, s in scores.items()}, interval, (0.0, 1.0))
    different = _mean(_number(s["different"]) for s in scores.values())
    parts = [_parts(channel, a) for a in given if channel in a.spec.channels]
    if not parts:
        return Harm(channel, sss, different, math.nan, math.nan, 0, math.nan, math.nan)
    hits, agree, led, chance = (np.concatenate(part) for part in zip(*parts, strict=True))
    wrong = ~hits & ~agree
    return Harm(
        channel,
        sss,
        different,
        _mean_of(hits[agree]),
        _mean_of(hits[~agree]),
        int(wrong.sum()),
        _mean_of(led[wrong]),
        _mean_of(chance[wrong]),
    )


def _parts(channel: str, given: Answers) -> tuple[NDArray[Any], ...]:
    """For each row: is it right, does the channel agree, does the channel's value belong to what was chosen, and how
    likely would it be to, were the wrong class drawn from a hat."""
    label = given.label
    codes = shown(given.table, channel, given.spec.values(channel))
    aligned = np.array(given.spec.aligned(channel))
    owners = codes[:, None] == aligned  # rows × classes: whose value is it that is shown
    chance = owners.sum(1) / max(len(given.spec.classes) - 1, 1)
    return given.chosen == label, codes == aligned[label], owners[np.arange(len(label)), given.chosen], chance


def _mean_of(values: NDArray[Any]) -> float:
    return float(values.mean()) if len(values) else math.nan


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)


def _known(value: float) -> float:
    return value if math.isfinite(value) else -math.inf


def _mean(values: Iterable[float]) -> float:
    there = [v for v in values if math.isfinite(v)]
    return sum(there) / len(there) if there else math.nan
