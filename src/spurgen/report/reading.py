"""Reads a study's directory: what was asked, every trial with how it ended, and the files that trials left."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spurgen.errors import DataError, SpurgenError
from spurgen.store.reader import Dataset
from spurgen.study import directory as place
from spurgen.study import ledger
from spurgen.study.choice import records_of
from spurgen.study.spec import StudySpec
from spurgen.study.trial import Trial as Planned

if TYPE_CHECKING:
    import pyarrow as pa

    from spurgen.spec import World

TEST = "test"
SCORES, PREDICTIONS, STRIPS = "scores/results.json", "scores/predictions.parquet", "scores/strips.parquet"
CHECKS, RECORDS = "run/checks.parquet", "run/records.parquet"

LOST = "its files were lost or changed since it was done; the command that runs the study makes them again"

Columns = dict[str, NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class Trial:
    """One training run: what determines it, how it ended, and its files where there are some."""

    study: Path
    plan: Planned
    state: str = "open"  # done, failed or open
    reason: str = ""
    seconds: float = float("nan")
    row: Mapping[str, Any] = field(default_factory=dict)

    @property
    def directory(self) -> Path:
        """Where its files lie."""
        return place.trial_folder(self.study, self.plan.key)

    @cached_property
    def scores(self) -> dict[str, Any]:
        """Everything in results.json; empty where there is none that can be read."""
        try:
            found = json.loads((self.directory / SCORES).read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    @cached_property
    def selection(self) -> list[dict[str, Any]]:
        """A record for selection rules for each check of its last stage; none where no checks were kept."""
        try:
            return records_of(self.study, self.plan)
        except (DataError, KeyError):
            return []

    @cached_property
    def checks(self) -> Columns:
        """Columns of what was checked during training; empty where nothing was kept."""
        return _columns(self.directory / CHECKS)

    @cached_property
    def records(self) -> Columns:
        """Columns of what was noted at every step; empty where nothing was kept."""
        return _columns(self.directory / RECORDS)

    def predictions(self, classes: int) -> Predictions | None:
        """What the model said of the test rows and of their edits; None where that was not kept."""
        return _predictions(self.directory / PREDICTIONS, classes)

    def strips(self, classes: int) -> Predictions | None:
        """What the model said of a few rows with every value of each channel; None where that was not kept."""
        return _predictions(self.directory / STRIPS, classes)


@dataclass(frozen=True, eq=False)
class Predictions:
    """intervention -> (row ids, probabilities)."""

    found: Mapping[str, tuple[NDArray[np.uint64], NDArray[np.float64]]]

    def of(self, intervention: str, row_id: int) -> NDArray[np.float64] | None:
        """The probabilities of one row under one edit, where it was asked about."""
        ids, said = self.found.get(intervention, (np.empty(0, np.uint64), np.empty((0, 0))))
        at = np.flatnonzero(ids == np.uint64(row_id))
        return said[at[0]] if at.size else None


@dataclass(frozen=True, eq=False)
class Study:
    """A study as its directory holds it, whether it has ended or not."""

    directory: Path
    about: Mapping[str, Any]
    spec: StudySpec
    text: str  # study.toml as it was given
    trials: tuple[Trial, ...]
    last: str  # the time of the ledger's last line

    @property
    def done(self) -> tuple[Trial, ...]:
        """Trials that were trained and scored."""
        return tuple(t for t in self.trials if t.state == "done")

    @cached_property
    def datasets(self) -> dict[str, Dataset]:
        """The datasets of the trials that can be opened, by the name of their folder."""
        found = {}
        for name in dict.fromkeys(t.plan.data for t in self.trials):
            try:
                dataset = Dataset(self.directory / place.DATA / name)
                if dataset.spec.classes:  # the spec is read, and must be whole
                    found[name] = dataset
            except SpurgenError:
                continue
        return found

    @cached_property
    def _test_rows(self) -> dict[str, pa.Table]:
        return {}

    def world(self, data: str) -> World | None:
        """The world of a dataset, where it can be opened."""
        return self.datasets[data].spec if data in self.datasets else None

    def test_rows(self, data: str) -> pa.Table | None:
        """The latents of the test rows of a dataset, where it can be opened and has some."""
        dataset = self.datasets.get(data)
        if dataset is None or TEST not in dataset.splits:
            return None
        if data not in self._test_rows:
            try:
                self._test_rows[data] = dataset.table(TEST)
            except SpurgenError:
                return None
        return self._test_rows[data]


def read(directory: str | Path) -> Study:
    """Open a study; whatever else is missing, it must say what it is and which trials it asks for."""
    path = Path(directory)
    if not path.is_dir():
        raise DataError(f"there is no directory {path}; give the directory of a study (`spurgen study … --out DIR`)")
    about = place.about_of(path)
    news = ledger.read(path)
    trials = tuple(_trial(path, planned, news.get(planned.key)) for planned in place.read_plan(path))
    times = [line.get("time", "") for line in ledger.lines(path)]
    try:
        text = (path / place.FILE).read_text("utf-8", errors="replace")
    except OSError:
        text = ""
    return Study(path, about, StudySpec.from_dict(about.get("study", {})), text, trials, str(max(times, default="")))


def _trial(path: Path, planned: Planned, entry: ledger.Entry | None) -> Trial:
    if entry is None or entry.state not in ("done", "failed"):
        return Trial(path, planned)
    if entry.state == "done" and entry.files and place.digests(place.trial_folder(path, planned.key)) != entry.files:
        return Trial(path, planned, "open", LOST)
    seconds = entry.seconds if entry.state == "done" else float("nan")
    return Trial(path, planned, entry.state, entry.reason, seconds, entry.row)


def _columns(path: Path) -> Columns:
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not path.is_file():
        return {}
    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowException):
        return {}
    return {name: table[name].to_numpy().astype(np.float64) for name in table.column_names}


def _predictions(path: Path, classes: int) -> Predictions | None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not path.is_file():
        return None
    try:
        table = pq.read_table(path)
        ids = table["row_id"].to_numpy().astype(np.uint64)
        edits = np.array(table["intervention"].to_pylist(), object)
        said = np.array(table["probabilities"].combine_chunks().flatten().to_numpy(), np.float64)
        said = said.reshape(len(ids), classes)
    except (OSError, pa.ArrowException, KeyError, ValueError):
        return None
    return Predictions({name: (ids[edits == name], said[edits == name]) for name in dict.fromkeys(edits.tolist())})
