"""Reads a study's directory: what was asked, every trial with how it ended, and the files that trials left."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spurgen.errors import DataError, SpurgenError

if TYPE_CHECKING:
    from spurgen.spec import World
    from spurgen.store.reader import Dataset

FORMAT = 1
STUDY, FILE, PLAN, LEDGER = "study.json", "study.toml", "plan.json", "ledger.jsonl"
TRIALS, DATA, TRIAL = "trials", "data", "trial.json"
SCORES, PREDICTIONS, STRIPS = "scores/results.json", "scores/predictions.parquet", "scores/strips.parquet"
CHECKS, RECORDS = "run/checks.parquet", "run/records.parquet"

Columns = dict[str, NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class Trial:
    """One training run: what determines it, how it ended, and its files where there are some."""

    directory: Path
    about: Mapping[str, Any]
    state: str = "open"  # done, failed or open
    reason: str = ""
    seconds: float = float("nan")
    row: Mapping[str, Any] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        """What `trial.json` says: world, variant, method, config, model, start, seed, …"""
        if name.startswith("_") or name not in self.about:
            raise AttributeError(name)
        return self.about[name]

    @cached_property
    def scores(self) -> dict[str, Any]:
        """Everything in results.json; empty where there is none that can be read."""
        found = _json(self.directory / SCORES)
        return found if isinstance(found, dict) else {}

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
    text: str  # study.toml as it was given
    trials: tuple[Trial, ...]
    last: str  # the time of the ledger's last line

    @property
    def asked(self) -> Mapping[str, Any]:
        """The study's file as plain data."""
        found = self.about.get("study") or self.about.get("spec") or {}
        return found if isinstance(found, Mapping) else {}

    @cached_property
    def done(self) -> tuple[Trial, ...]:
        """Trials that were trained and scored."""
        return tuple(t for t in self.trials if t.state == "done")

    @cached_property
    def datasets(self) -> dict[str, Dataset]:
        """The datasets of the trials that can be opened, by the name of their folder."""
        from spurgen.store.reader import Dataset

        found = {}
        for name in dict.fromkeys(t.data for t in self.trials):
            try:
                found[name] = Dataset(self.directory / DATA / name)
                assert found[name].spec
            except SpurgenError:
                found.pop(name, None)
        return found

    def spec(self, data: str) -> World | None:
        """The world of a dataset, where it can be opened."""
        return self.datasets[data].spec if data in self.datasets else None


def read(directory: str | Path) -> Study:
    """Open a study; whatever else is missing, it must say what it is."""
    path = Path(directory)
    about = _json(path / STUDY)
    if about is None:
        if not path.is_dir():
            raise DataError(f"there is no directory {path}; give the directory of a study (`spurgen study … --out DIR`)")
        raise DataError(f"{path} holds no study: there is no {STUDY} in it; make one with `spurgen study … --out DIR`")
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise DataError(f"{path / STUDY} is of another version of SpurGen, or of something else; run the study again")
    ends, last = _ends(path / LEDGER)
    trials = [_trial(path, told, ends) for told in _planned(path)]
    return Study(path, about, _text(path / FILE), tuple(sorted(trials, key=_order)), last)


def _planned(path: Path) -> list[dict[str, Any]]:
    """What determines each trial: of the plan, which is what the file asks for now; without it, of all that began."""
    plan = _json(path / PLAN)
    if isinstance(plan, list):
        return plan
    folders = sorted((path / TRIALS).iterdir()) if (path / TRIALS).is_dir() else []
    found = [_json(folder / TRIAL) for folder in folders if (folder / TRIAL).is_file()]
    damaged = next((folder for folder, told in zip(folders, found, strict=False) if not isinstance(told, dict)), None)
    if damaged is not None:
        raise DataError(f"{damaged / TRIAL} is damaged; remove {damaged} and run the study again")
    return found


def _trial(path: Path, about: Mapping[str, Any], ends: Mapping[str, Mapping[str, Any]]) -> Trial:
    end = ends.get(about["key"], {})
    return Trial(
        path / TRIALS / about["key"],
        about,
        end.get("event", "open"),
        str(end.get("reason", "")),
        float(end.get("seconds", "nan")),
        end.get("row", {}),
    )


def _order(trial: Trial) -> tuple[Any, ...]:
    words = ("world", "ablation", "variant", "model", "start", "method", "config")
    return (*(str(trial.about.get(w, "")) for w in words), trial.about.get("seed", 0))


def _ends(path: Path) -> tuple[dict[str, dict[str, Any]], str]:
    """(key -> how that trial ended last, the time of the last line)."""
    ends: dict[str, dict[str, Any]] = {}
    last = ""
    for line in _lines(path):
        last = str(line.get("time", last))
        key = line.get("key")
        if line.get("event") == "done" or (line.get("event") == "failed" and ends.get(key, {}).get("event") != "done"):
            ends[str(key)] = line
    return ends, last


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a ledger; one that was torn off is left out."""
    for line in _text(path).splitlines():
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if isinstance(found, dict):
            yield found


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", errors="replace")
    except OSError:
        return ""


def _json(path: Path) -> Any:
    try:
        return json.loads(_text(path))
    except ValueError:
        return None


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
