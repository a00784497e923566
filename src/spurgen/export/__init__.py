"""Writes a dataset in the formats of others: one file per format."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spurgen.errors import DataError
from spurgen.registry import Registry
from spurgen.store import atomic, lock
from spurgen.store.features import class_columns
from spurgen.verb import callable_package

if TYPE_CHECKING:
    from spurgen.store.reader import Dataset

__all__ = ["EXPORTS", "Format", "Summary", "export"]

MARKER = "spurgen-export.json"
Tick = Callable[[int], None]


@dataclass(frozen=True)
class Format:
    """A foreign format: `write(dataset, out, tick)` fills an empty directory and ticks rows as it goes."""

    name: str
    about: str
    write: Callable[[Dataset, Path, Tick], None]


@dataclass(frozen=True)
class Summary:
    """What was exported, and where to."""

    directory: Path
    format: str
    rows: int
    files: int
    bytes: int


EXPORTS: Registry[Format] = Registry("export", "spurgen.export", "EXPORT")


def export(
    directory: str | Path,
    to: str,
    out: str | Path,
    force: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Summary:
    """Write a dataset in another format into an empty or new directory, which is there whole or not at all.

    `force` replaces an earlier export; nothing else is ever replaced.
    """
    from spurgen.store.reader import open as open_dataset

    form = EXPORTS.get(to)
    dataset = open_dataset(directory)
    return deliver(dataset, form, out, len(dataset), force, progress)


def deliver(
    dataset: Dataset,
    form: Format,
    out: str | Path,
    rows: int,
    force: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Summary:
    """Have a format write its files, `rows` rows in all, beside the target, and give them their place in one step."""
    target = Path(out).absolute()
    _refuse_inside(dataset, target)
    _refuse_occupied(target, force)
    done = 0

    def tick(some: int) -> None:
        nonlocal done
        done += some
        if progress is not None:
            progress(done, rows)

    workshop = target.with_name(f".{target.name}.exporting")
    with atomic.looked_at(workshop):
        if workshop.is_symlink():
            raise DataError(f"{workshop} is a link, and SpurGen made none; remove it and export again")
    try:
        with lock.held(workshop):
            files, size = _replace(dataset, form, target, workshop / "whole", rows, tick, force)
    finally:
        with contextlib.suppress(OSError):
            workshop.rmdir()  # stays where another export is at work in it
    return Summary(target, form.name, rows, files, size)


def _replace(
    dataset: Dataset, form: Format, target: Path, whole: Path, rows: int, tick: Tick, force: bool
) -> tuple[int, int]:
    """Write everything beside the target and rename it in one step; gives the number of files and bytes."""
    try:
        shutil.rmtree(whole, ignore_errors=True)  # left by an export that was killed
        whole.mkdir()
        form.write(dataset, whole, tick)
        size = _seal(dataset, form.name, rows, whole)
        _refuse_occupied(target, force)  # somebody may have come in the meantime
        if (target / MARKER).is_file():
            shutil.rmtree(target)
        elif target.is_dir():
            target.rmdir()
        os.replace(whole, target)
    except OSError as error:
        raise DataError(
            f"cannot write the export to {target} ({error.strerror or error}); put that right and export again"
        ) from error
    finally:
        shutil.rmtree(whole, ignore_errors=True)
    return size


def _seal(dataset: Dataset, to: str, rows: int, whole: Path) -> tuple[int, int]:
    """Write the marker that tells an export from a directory of somebody's own; gives the number of files and bytes."""
    files = [p.stat().st_size for p in whole.rglob("*") if p.is_file()]
    about = {
        "format": to,
        "source": dataset.manifest.spec_id,
        "seed": dataset.seed,
        "digest": dataset.digest,
        "rows": rows,
        "holds": sorted(_below(whole)),
    }
    (whole / MARKER).write_text(json.dumps(about, indent=1) + "\n", "utf-8")
    return len(files), sum(files)


def _below(directory: Path) -> Iterator[str]:
    """Every file below a directory by its relative path; links count as files, and empty directories too."""
    for folder, folders, files in os.walk(directory):
        empty = not folders and not files
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        for name in [*files, *links, *([""] if empty else [])]:
            yield (Path(folder) / name).relative_to(directory).as_posix()


def _refuse_inside(dataset: Dataset, target: Path) -> None:
    """Nothing is written into the dataset that is read: its checks and its readers would find strangers there."""
    with atomic.looked_at(target):
        if target.resolve().is_relative_to(dataset.directory.resolve()):
            raise DataError(f"{target} lies inside the dataset {dataset.directory}; choose a directory beside it")


def _refuse_occupied(target: Path, force: bool) -> None:
    """Only an empty directory, or an earlier export to which nothing was added, makes way."""
    if not target.name:
        raise DataError(f"{target} cannot be replaced; choose another directory")
    with atomic.looked_at(target):
        if target.exists() and not target.is_dir():
            raise DataError(f"{target} is a file; choose a directory")
        if not target.is_dir() or not any(target.iterdir()):
            return
    if not (target / MARKER).is_file():
        raise DataError(f"{target} is not empty and holds no export; choose another directory")
    if not force:
        raise DataError(
            f"{target} holds an export already; choose another directory, or replace it with force (--force)"
        )
    try:
        known = set(json.loads((target / MARKER).read_text("utf-8"))["holds"])
    except (OSError, ValueError, KeyError, TypeError):
        known = set()
    strangers = sorted(name for name in _below(target) if name not in known and name != MARKER)
    if strangers:
        raise DataError(f"{target} holds {strangers[0]!r}, which is not of the export; choose another directory")


# ------------------------------------------------------------------------------------- what the formats share


def safe(name: str) -> str:
    """A name that is safe as a file's or a directory's, or an error: names come from files, and files may lie."""
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", name) or ".." in name:
        raise DataError(f"{name[:100]!r} cannot be the name of a file; `spurgen verify` checks the dataset")
    return name


def picture_column(dataset: Dataset, to: str) -> str:
    """The column that holds pictures, for formats that cannot do without."""
    found = blob_columns(dataset, "Image")
    if not found:
        raise DataError(f"{dataset.directory} holds no pictures, and {to} is a format for pictures; try webdataset")
    return found[0]


def blob_columns(dataset: Dataset, *kinds: str) -> list[str]:
    """The columns that hold whole files of the given Hugging Face types."""
    features = dataset.features
    return [n for n, f in features.items() if isinstance(f, dict) and f.get("_type") in (kinds or ("Image", "Audio"))]


def class_names(dataset: Dataset) -> dict[str, list[str]]:
    """The columns that hold one of a list of names, with their lists in order."""
    return {name: list(dataset.features[name]["names"]) for name in class_columns(dataset.features)}


def target_column(dataset: Dataset) -> str:
    """The column with the label that a learner is told: the annotated one where annotators err, else the true one."""
    return "label_annotated" if "label_annotated" in dataset.features else "label"


def suffix(content: bytes) -> str:
    """What a file is, by its first bytes."""
    known = {b"\x89PNG": "png", b"RIFF": "wav", b"fLaC": "flac", b"OggS": "ogg", b"\xff\xd8\xff": "jpg"}
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "webp"
    return next((name for magic, name in known.items() if content.startswith(magic)), "bin")


def rows(dataset: Dataset, split: str, tick: Tick) -> Iterator[dict[str, Any]]:
    """The rows of a split as stored: names as text, pictures and sounds as files."""
    blobs = blob_columns(dataset)
    for table in dataset.stored(split):
        for row in table.to_pylist():
            yield {k: (v["bytes"] if k in blobs and v is not None else v) for k, v in row.items()}
        tick(table.num_rows)


def flat(value: Any) -> Any:
    """A cell for a CSV file: nested values as JSON."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


callable_package(__name__, export)
