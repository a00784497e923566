"""What a run's directory holds, and whether a run may be put into one."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spurgen.errors import DataError, brief
from spurgen.store import atomic
from spurgen.store.layout import BUILD
from spurgen.train import checkpoint

FORMAT = 1  # changes whenever the same run would end with other weights
ABOUT, WEIGHTS, CHECKPOINT, WORDS = "run.json", "weights.safetensors", "checkpoint.safetensors", "words.json"
RECORDS, CHECKS, SCORES = "records.parquet", "checks.parquet", "evaluate"


def must_be_dropped(directory: Path, new: Mapping[str, Any], force: bool) -> bool:
    """Whether the directory holds something that has to go before the new run, and may go.

    That is another run, if `force` is given or it came to nothing; and with `force` this very run, if its files are
    damaged. A directory that is empty or holds this very run is fine; anything else is refused.
    """
    with atomic.looked_at(directory):
        if directory.exists() and not directory.is_dir():
            raise DataError(f"{directory} is a file; choose a directory for the run")
        there = {p.name for p in directory.iterdir()} - {BUILD} if directory.exists() else set()
    if not there:
        return False
    if ABOUT not in there:
        raise DataError(f"{directory} is not empty and holds no run; choose another directory")
    try:
        about = about_of(directory)
    except DataError as error:
        if force:
            return True
        raise DataError(f"{error} into another directory, or into this one with --force") from error
    if about.get("key") == new["key"]:
        return force and any(_is_damaged(directory / name) for name in (WEIGHTS, CHECKPOINT))
    came_to_something = about.get("state") == "complete" or (directory / CHECKPOINT).exists()
    if not force and came_to_something and about.get("state") != "failed":
        raise DataError(
            f"{directory} holds another run ({described(about)}; {difference(about, new)}); choose another directory, "
            "or replace it with --force"
        )
    return True


def _is_damaged(path: Path) -> bool:
    if not path.is_file():
        return False
    try:
        checkpoint.load(path)
    except DataError:
        return True
    return False


def difference(old: Mapping[str, Any], new: Mapping[str, Any], within: str = "") -> str:
    """The first thing that determines runs and is not the same in both."""
    for name in dict.fromkeys([*new, *(["start"] if "start" in old else [])]):
        one, two = (about.get(name, "nothing" if name == "start" else None) for about in (old, new))
        if name in ("key", "torch", "python", "task") or one == two:
            continue
        if isinstance(one, Mapping) and isinstance(two, Mapping):
            return difference(one, two, "" if name in ("options", "settings") else f"{name}.")
        return f"its {within}{name} is {brief(one)}, not {brief(two)}"
    return "it is of another version"


def drop(directory: Path) -> None:
    """Remove the run and its scores; nothing else is touched."""
    for name in (WEIGHTS, CHECKPOINT, RECORDS, CHECKS, WORDS, ABOUT):
        (directory / name).unlink(missing_ok=True)
    shutil.rmtree(directory / SCORES, ignore_errors=True)


def about_of(directory: Path) -> dict[str, Any]:
    """What a run's file says."""
    path = directory / ABOUT
    try:
        found = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise DataError(f"{directory} holds no run: there is no {ABOUT} in it") from None
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read, it is damaged or something else; train again") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise DataError(f"{path} is of another version of SpurGen, or of something else; train again")
    return found


def described(about: Mapping[str, Any]) -> str:
    """A run in a few words."""
    settings = ", ".join(f"{k}={v:g}" if isinstance(v, float) else f"{k}={v}" for k, v in about["settings"].items())
    start = f", start {about['start']}" if "start" in about else ""
    return f"{about['method']}{f' ({settings})' if settings else ''}, {about['model']}, seed {about['seed']}{start}"
