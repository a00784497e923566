"""A study's directory: which study it is, its plan, and where the parts of each trial lie."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import tomllib
from pathlib import Path
from typing import Any

from spurgen.errors import DataError
from spurgen.store import atomic
from spurgen.study import ledger
from spurgen.study.trial import Trial, trial_from
from spurgen.version import __version__

FORMAT = 1
FILE, ABOUT, PLAN = "study.toml", "study.json", "plan.json"
RESULTS = "results.parquet"
KEPT = ("run/checks.parquet", "scores/results.json", "scores/predictions.parquet")
WORLDS, DATA, STARTS, TRIALS = "worlds", "data", "starts", "trials"


def trial_folder(directory: Path, key: str) -> Path:
    """Where all of one trial lies."""
    return directory / TRIALS / key


def digests(folder: Path) -> dict[str, str]:
    """What results are made of, by its path within a trial's folder; "" for a file that is not there."""
    found = {}
    for name in KEPT:
        try:
            found[name] = hashlib.blake2b((folder / name).read_bytes(), digest_size=16).hexdigest()
        except OSError:
            found[name] = ""
    return found


def lose(directory: Path, trials: list[Trial]) -> int:
    """Note which trials that are done have lost or changed files since, so that they are done again; say how many."""
    news, lost = ledger.read(directory), 0
    for key in dict.fromkeys(trial.key for trial in trials):
        entry = news.get(key)
        if entry is None or entry.state != "done" or not entry.files:
            continue
        if digests(trial_folder(directory, key)) != entry.files:
            ledger.append(directory, key, "lost")
            lost += 1
    return lost


def start_folder(directory: Path, trial: Trial, size_px: int) -> Path:
    """Where the pretrained start of a trial lies: one for each model, size and way of making it."""
    words = [trial.model.replace("/", "-"), f"{size_px}px", *map(str, (trial.pretrain or {}).values()), trial.spurgen]
    return directory / STARTS / "-".join(words)


def settle(directory: Path, text: str, about: dict[str, Any]) -> None:
    """Make the directory that of the study, or refuse the one that is another's."""
    with atomic.looked_at(directory):
        if directory.exists() and not directory.is_dir():
            raise DataError(f"{directory} is a file; choose a directory for the study")
        there = {p.name for p in directory.iterdir()} if directory.exists() else set()
    held = _held(directory, there)
    if held is None and {name for name in there if not name.endswith(".tmp")}:  # those are of a study killed at once
        raise DataError(f"{directory} is not empty and holds no study; choose another directory")
    if held is not None and held.get("id") != about["id"]:
        raise DataError(
            f"{directory} holds the study {held.get('id')!r}, not {about['id']!r}; choose another directory for it"
        )
    if held is not None and held.get("device", about["device"]) != about["device"]:
        raise DataError(
            f"{directory} holds trials on {held['device']}, whose results are not those of {about['device']}; "
            f"go on with --device {held['device']}, or choose another directory"
        )
    if held is not None and ABOUT not in there and TRIALS not in there and text != _text_of(directory / FILE):
        raise DataError(f"{directory} holds a {FILE} that is not this study's; choose another directory")
    with atomic.explained(directory):
        directory.mkdir(parents=True, exist_ok=True)
    write(directory / FILE, text.encode())
    write(directory / ABOUT, _json({"format": FORMAT, **about, **environment()}))


def _held(directory: Path, there: set[str]) -> dict[str, Any] | None:
    """Whose directory it is: as study.json says, or where that is lost or damaged, as the study's own file does."""
    try:
        return about_of(directory)
    except DataError:
        if FILE not in there:
            return None
    try:
        found = tomllib.loads(_text_of(directory / FILE))
    except ValueError:
        return {} if TRIALS in there else None
    return found


def _text_of(path: Path) -> str:
    try:
        return path.read_text("utf-8", errors="replace")
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror or error}); choose another directory") from error


def write(target: Path, content: bytes) -> None:
    """Write a file in one step, also where another process of the study writes it at the same moment."""
    atomic.write(target, content, target.with_name(f".{target.name}.{os.getpid()}.tmp"))


def environment() -> dict[str, Any]:
    """Versions and machine."""
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for name in ("torch", "numpy", "numba", "pyarrow", "scipy"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = ""
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    return {"spurgen": __version__, "python": platform.python_version(), "platform": machine, **found}


def about_of(directory: Path) -> dict[str, Any]:
    """What study.json says."""
    path = directory / ABOUT
    found = _read(path, f"{directory} holds no study: there is no {ABOUT} in it")
    if not isinstance(found, dict) or found.get("format") != FORMAT or "id" not in found:
        raise DataError(f"{path} is of another version of SpurGen, or of something else; choose another directory")
    return found


def write_plan(directory: Path, trials: list[Trial]) -> None:
    """Keep the plan: what the study's file asks for now."""
    write(directory / PLAN, _json([trial.as_dict() for trial in trials]))


def read_plan(directory: Path) -> list[Trial]:
    """The trials that the study's file asks for."""
    path = directory / PLAN
    found = _read(path, f"{directory} holds no plan of a study; run the study first")
    if not isinstance(found, list):
        raise DataError(f"{path} is damaged; run the study again")
    return [trial_from(told, str(path)) for told in found]


def _read(path: Path, missing: str) -> Any:
    try:
        return json.loads(path.read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise DataError(missing) from None
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read, it is damaged or something else; run the study again") from error


def _json(data: Any) -> bytes:
    return (json.dumps(data, indent=1, ensure_ascii=False) + "\n").encode()
