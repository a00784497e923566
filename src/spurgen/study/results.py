"""What a study has found: one flat row per trial, what each selection rule chooses, and what is decided."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from spurgen.compare.decide import Comparison, compare
from spurgen.compare.plain import plain
from spurgen.compare.ranks import Ranking, rank
from spurgen.errors import DataError
from spurgen.study import directory as place
from spurgen.study import ledger
from spurgen.study.choice import Record, records_of, settle_on
from spurgen.study.spec import StudySpec
from spurgen.study.trial import Place, Trial, place_of

# What comparisons are made of: the column of a selection's choice, what sentences call it.
MEASURES = {"worst_group_accuracy": "worst-group accuracy", "accuracy": "accuracy"}


@dataclass(frozen=True)
class Line:
    """A method in one place, as one rule chooses among its trials: what each seed scores on the test rows."""

    method: str
    config: str
    seeds: list[int]
    accuracy: dict[int, float]
    worst_group_accuracy: dict[int, float]
    trials: list[Trial]
    failed: int
    reason: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "method": self.method,
            "config": self.config,
            "trials": [trial.key for trial in self.trials],
            "accuracy": _spread(self.accuracy),
            "worst_group_accuracy": _spread(self.worst_group_accuracy),
            "failed": self.failed,
            "reason": self.reason,
        }


@dataclass(frozen=True)
class Cell:
    """One place under one rule: a line per method, and each method against the reference."""

    place: Place
    rule: str
    lines: list[Line]
    comparisons: dict[str, list[Comparison]] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            **self.place._asdict(),
            "rule": self.rule,
            "lines": [line.as_dict() for line in self.lines],
            "comparisons": {name: [c.as_dict() for c in found] for name, found in self.comparisons.items()},
        }


@dataclass(frozen=True, eq=False)
class Results:
    """All that a study's directory says of its trials."""

    directory: Path
    about: dict[str, Any]
    study: StudySpec
    trials: list[Trial]
    news: dict[str, ledger.Entry]
    ran: int = 0  # how many were settled by the call that gave this

    def state(self, trial: Trial) -> str:
        """ "done", "failed", "started", "lost" or "open"."""
        return self.news[trial.key].state if trial.key in self.news else "open"

    @property
    def counts(self) -> dict[str, int]:
        """Trials in each state; one that has several names counts once."""
        found = dict.fromkeys(("done", "failed", "started", "lost", "open"), 0)
        for trial in self.unique:
            found[self.state(trial)] += 1
        return found

    @cached_property
    def unique(self) -> list[Trial]:
        """The trials, those that have several names once."""
        return list({trial.key: trial for trial in self.trials}.values())

    @property
    def failures(self) -> list[tuple[Trial, str]]:
        """The trials that came to nothing, with the reason."""
        return [(t, self.news[t.key].reason) for t in self.unique if self.state(t) == "failed"]

    def rows(self) -> list[dict[str, Any]]:
        """One flat row per trial, scores of the weights at the end included."""
        found = []
        for trial in self.trials:
            entry = self.news.get(trial.key)
            told = {name: _flat(value) for name, value in trial.as_dict().items()}
            told |= {"state": self.state(trial), "reason": entry.reason if entry else ""}
            told |= {"train_seconds": entry.seconds if entry and entry.state == "done" else None}
            found.append(told | (entry.row if entry is not None else {}))
        return found

    def keep(self) -> None:
        """Write the rows as a table."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        rows = self.rows()
        names = list(dict.fromkeys(name for row in rows for name in row))
        sink = pa.BufferOutputStream()
        pq.write_table(pa.table({name: [row.get(name) for row in rows] for name in names}), sink)
        place.write(self.directory / place.RESULTS, sink.getvalue().to_pybytes())

    # ------------------------------------------------------------------------------------------- what is chosen

    @cached_property
    def _records(self) -> dict[tuple[str, str], list[Record]]:
        return {}

    def records(self, trial: Trial) -> list[Record]:
        """The checks of a trial's last stage, as selection rules take them."""
        name = (trial.key, trial.config)  # records say what their settings are called
        if name not in self._records:
            self._records[name] = records_of(self.directory, trial)
        return self._records[name]

    @cached_property
    def places(self) -> list[Place]:
        """Everywhere that methods are compared, in the order of the study."""
        return list(dict.fromkeys(place_of(trial) for trial in self.trials))

    def cell(self, where: Place, rule: str) -> Cell:
        """What a rule chooses in one place, and what is decided there."""
        lines = [self._line(where, method, rule) for method in self.study.methods]
        cell = Cell(where, rule, lines)
        for measure, what in MEASURES.items():
            scores = {line.method: getattr(line, measure) for line in lines if getattr(line, measure)}
            if self.study.reference in scores and len(scores) > 1:
                cell.comparisons[measure] = compare(scores, self.study.reference, what=what)
        return cell

    def cells(self, rules: Iterable[str] | None = None) -> list[Cell]:
        """All places under all rules."""
        return [self.cell(where, rule) for where in self.places for rule in rules or self.study.rules]

    def ranking(self, rule: str, measure: str = "worst_group_accuracy") -> Ranking | None:
        """Who stands where over all places and seeds; None where there are too few methods or blocks to rank."""
        scores: dict[str, dict[Any, float]] = {}
        for where in self.places:
            for line in self.cell(where, rule).lines:
                found = {(where.words, seed): value for seed, value in getattr(line, measure).items()}
                scores.setdefault(line.method, {}).update(found)
        known = {method: found for method, found in scores.items() if found}
        if len(known) < 3 or len({block for found in known.values() for block in found}) < 2:
            return None
        return rank(known)

    def as_dict(self, rules: Iterable[str] | None = None) -> dict[str, Any]:
        """Everything as plain data."""
        counts = self.counts
        ranks = {measure: self.ranking(self.study.rule, measure) for measure in MEASURES}
        return {
            "id": self.about["id"],
            "directory": str(self.directory),
            "device": self.about["device"],
            "trials": {**counts, "total": len(self.unique)},
            "failed": [{"trial": t.words, "key": t.key, "reason": reason} for t, reason in self.failures],
            "rule": self.study.rule,
            "ranks": {measure: found.as_dict() for measure, found in ranks.items() if found is not None},
            "cells": [cell.as_dict() for cell in self.cells(rules)],
        }

    def _line(self, where: Place, method: str, rule: str) -> Line:
        mine = [t for t in self.trials if t.method == method and place_of(t) == where]
        final = [t for t in mine if t.phase == "final"]
        done = [t for t in final if self.state(t) == "done"]
        failed = sum(self.state(t) == "failed" for t in final)
        if not done:
            reason = "all its trials failed" if final and failed == len(final) else "no trial is done yet"
            return Line(method, "", [], {}, {}, [], failed, reason)
        over = [t for t in mine if self.state(t) == "done"]
        try:
            chosen = settle_on(self.study, over, rule, self.records)
        except DataError as error:
            return Line(method, "", [], {}, {}, [], failed, str(error))
        if chosen.reason or not chosen.chosen:
            return Line(method, "", [], {}, {}, [], failed, chosen.reason or "nothing could be chosen")
        by = {(t.config, t.seed): t for t in done}
        return Line(
            method=method,
            config=" | ".join(dict.fromkeys(c.config for c in chosen.chosen)),
            seeds=[c.seed for c in chosen.chosen],
            accuracy={c.seed: c.test_accuracy for c in chosen.chosen},
            worst_group_accuracy={c.seed: c.test_worst_group for c in chosen.chosen},
            trials=[by[c.config, c.seed] for c in chosen.chosen],
            failed=failed,
        )


def read_results(directory: str | Path) -> Results:
    """All that a study's directory says."""
    there = Path(directory)
    about = place.about_of(there)
    study = StudySpec.from_dict(about["study"])
    return Results(there, about, study, place.read_plan(there), ledger.read(there))


def _spread(values: Mapping[int, float]) -> dict[str, Any]:
    """Mean and standard deviation over seeds, and each seed's value."""
    numbers = list(values.values())
    sd = statistics.stdev(numbers) if len(numbers) > 1 else None
    mean = statistics.fmean(numbers) if numbers else None
    found: dict[str, Any] = plain({"mean": mean, "sd": sd, "seeds": {str(k): v for k, v in values.items()}})
    return found


def _flat(value: Any) -> Any:
    return json.dumps(value, sort_keys=True) if isinstance(value, dict | list) else value
