"""How much each channel harms a model: how far it moves beliefs, what it costs in accuracy, which mistakes it leads to."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spurgen.evaluate.interventions import NONE
from spurgen.latents.traits import column_codes, shown
from spurgen.report.reading import Trial
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
    mistakes: int
    led: float  # share of mistakes that name a class to which the shown value belongs
    chance: float  # that share, were the wrong class drawn from a hat

    @property
    def lost(self) -> float:
        """What it costs in accuracy that the channel does not agree."""
        return self.agrees - self.disagrees


def harms(trials: Sequence[Trial], spec: World | None, table: pa.Table | None) -> list[Harm]:
    """All channels of a world, the one that is leaned on most first."""
    channels = dict.fromkeys(c for t in trials for c in t.scores.get("sss", {}))
    said = [] if spec is None or table is None else [(t, chosen(t, spec, table)) for t in trials]
    found = [_harm(channel, trials, [c for _, c in said if c is not None], spec, table) for channel in channels]
    return sorted(found, key=lambda harm: -_known(harm.sss.mean))


def chosen(trial: Trial, spec: World, table: pa.Table) -> NDArray[np.int64] | None:
    """The class that a trial's model chose for each row of a table; None where its predictions were not kept."""
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


def _harm(channel: str, trials: Sequence[Trial], said: list[Any], spec: World | None, table: pa.Table | None) -> Harm:
    scores = {t.seed: t.scores["sss"][channel] for t in trials if channel in t.scores.get("sss", {})}
    only = next(iter(scores.values()))
    interval = (_number(only["low"]), _number(only["high"])) if len(scores) == 1 else None
    sss = over_seeds({seed: _number(s["value"]) for seed, s in scores.items()}, interval, (0.0, 1.0))
    different = _mean(_number(s["different"]) for s in scores.values())
    nothing = Harm(channel, sss, different, math.nan, math.nan, 0, math.nan, math.nan)
    if not said or spec is None or table is None or channel not in spec.channels:
        return nothing
    label = column_codes(table, "label", spec.classes)
    codes = shown(table, channel, spec.values(channel))
    aligned = np.array(spec.aligned(channel))
    agree = codes == aligned[label]
    owners = codes[:, None] == aligned  # rows × classes: whose value is it that is shown
    hits = np.stack([c == label for c in said])
    wrong = ~hits & ~agree
    led = np.stack([owners[np.arange(len(label)), c] for c in said])
    by_chance = np.broadcast_to(owners.sum(1) / (len(spec.classes) - 1), hits.shape)
    return Harm(
        channel,
        sss,
        different,
        float(hits[:, agree].mean()) if agree.any() else math.nan,
        float(hits[:, ~agree].mean()) if (~agree).any() else math.nan,
        int(wrong.sum()),
        float(led[wrong].mean()) if wrong.any() else math.nan,
        float(by_chance[wrong].mean()) if wrong.any() else math.nan,
    )


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)


def _known(value: float) -> float:
    return value if math.isfinite(value) else -math.inf


def _mean(values: Iterable[float]) -> float:
    there = [v for v in values if math.isfinite(v)]
    return sum(there) / len(there) if there else math.nan
