"""What selection rules choose among trials: records of their checks, and the settings that win a search."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from spurgen.compare.select import Selection, select
from spurgen.errors import DataError
from spurgen.study import directory as place
from spurgen.study import ledger
from spurgen.study.spec import StudySpec
from spurgen.study.trial import Trial, place_of

Record = dict[str, Any]
_CHECKED = {
    "accuracy": "accuracy",
    "worst_group_accuracy": "worst_group",
    "worst_class_accuracy": "worst_class",
}


def settle_on(study: StudySpec, trials: list[Trial], rule: str, records: Callable[[Trial], list[Record]]) -> Selection:
    """What a rule chooses among the finished trials of one method in one place, `records` giving the checks of each.

    Of a search whose best are run again the settings are those that the rule chose there.
    """
    counting = [t for t in trials if t.phase == "final"]
    if study.searches_first:
        first = _among(study, [t for t in trials if t.seed in study.searched_seeds], rule, records)
        if first.reason:
            return first
        counting = [t for t in counting if t.config in {c.config for c in first.chosen}]
    if not counting:
        return Selection(rule, (), "no trial that counts is done yet")
    per_seed = study.search is not None and study.search.per_seed
    return _among(study, counting, rule, records, per_seed)


def _among(
    study: StudySpec, trials: list[Trial], rule: str, records: Callable[[Trial], list[Record]], per_seed: bool = False
) -> Selection:
    found = [record for trial in trials for record in records(trial)]
    return select(found, rule, checks="all" if study.early_stopping else "last", per_seed=per_seed)


def winners(directory: Path, study: StudySpec, trials: list[Trial]) -> list[Trial]:
    """One trial of each settings that a rule chooses among those of a search; none while the search goes on."""
    news = ledger.read(directory)
    if any(t.key not in news or news[t.key].state not in ("done", "failed") for t in trials):
        return []
    found: dict[tuple[Any, ...], Trial] = {}
    arms: dict[tuple[Any, ...], list[Trial]] = {}
    for trial in trials:
        if news[trial.key].state == "done":
            arms.setdefault((place_of(trial), trial.method), []).append(trial)
    for arm, mine in arms.items():
        for rule in study.rules:
            for config in {c.config for c in _among(study, mine, rule, partial(records_of, directory)).chosen}:
                found[*arm, config] = next(t for t in mine if t.config == config)
    return list(found.values())


def records_of(directory: Path, trial: Trial) -> list[Record]:
    """The checks of a trial's last stage, as selection rules take them."""
    import pyarrow.parquet as pq

    path = place.trial_folder(directory, trial.key) / "run" / "checks.parquet"
    try:
        table = pq.read_table(path).to_pydict()
        last = max(table["stage"])
    except (OSError, ValueError, KeyError) as error:
        raise DataError(
            f"what was checked of {trial.words} is lost or damaged; the command that runs the study makes it again"
        ) from error
    # A method that learns from validation rows is judged by fresh ones like them.
    judged = "validation " if "validation accuracy" in table else ""
    found = []
    for i, stage in enumerate(table["stage"]):
        if stage != last:
            continue
        found.append(
            {"config": trial.config, "seed": trial.seed, "step": int(table["step"][i])}
            | {f"val_{short}": _number(table, judged + name, i) for name, short in _CHECKED.items()}
            | {"training_accuracy": _number(table, "training accuracy", i)}
            | {f"test_{short}": _number(table, f"test {name}", i) for name, short in _CHECKED.items()}
        )
    return found


def _number(table: Mapping[str, list[Any]], name: str, i: int) -> float:
    value = table[name][i] if name in table else None
    return math.nan if value is None else float(value)
