"""What a run's directory holds, and whether a run may be put into one."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spurgen.errors import DataError
from spurgen.store import atomic
from spurgen.store.layout import BUILD

FORMAT = 1  # changes whenever the same run would end with other weights
ABOUT, WEIGHTS, CHECKPOINT, WORDS = "run.json", "weights.safetensors", "checkpoint.safetensors", "words.json"
RECORDS, CHECKS, SCORES = "records.parquet", "checks.parquet", "evaluate"


def must_be_dropped(directory: Path, key: str, force: bool) -> bool:
    """Whether the directory holds another run than that of the key, which `force` allows to drop.

    A directory that is empty or holds this very run is fine; anything else is refused.
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
    if about.get("key") != key and not force:
        raise DataError(
            f"{directory} holds another run ({described(about)}); choose another directory, or replace it with --force"
        )
    return about.get("key") != key


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
    return f"{about['method']}{f' ({settings})' if settings else ''}, {about['model']}, seed {about['seed']}"
