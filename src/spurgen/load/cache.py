"""A decoded copy of what a split stores, mapped into memory: made on first use, then read at the speed of a copy.

The copy lies in a hidden directory of the dataset, or in the user's cache where the dataset cannot be written to. Its
name and a small note beside it, written last, carry the digest of the rows: a stale or half-written copy is never used.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import secrets
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spurgen.errors import DataError
from spurgen.store import layout
from spurgen.store.reader import Dataset

DIRECTORY = layout.CACHE
_VERSION = 1
_CHUNK_BYTES = 32 << 20
_ABANDONED_SECONDS = 3600
_NOT_HERE = {errno.EACCES, errno.EPERM, errno.EROFS, errno.EEXIST, errno.ENOTDIR}
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@dataclass(frozen=True)
class Note:
    """What stands beside a copy: which rows it was made of, and how to read it."""

    key: str
    dtype: str
    shape: tuple[int, ...]


def decoded(
    dataset: Dataset, split: str, modality: str = "image", cache_dir: str | Path | None = None
) -> NDArray[Any] | None:
    """One array with the modality of every row of a split, in file order; None where it does not decode to an array.

    `cache_dir` says where copies go, in place of the dataset's own directory.
    """
    key = _key(dataset, split, modality)
    places = (
        [Path(cache_dir)] if cache_dir is not None else [dataset.directory / DIRECTORY, user_directory() / key[:32]]
    )
    stem = f"{modality}-{split}-{key[:16]}"
    for place in places:
        found = _open(place / stem, key)
        if found is not None:
            return found
    first = dataset.batch(modality, split, 0, 1)
    if not isinstance(first, np.ndarray):
        return None
    note = Note(key, first.dtype.str, (dataset.splits[split], *first.shape[1:]))
    for place in places:
        try:
            _make(dataset, split, modality, place / stem, note)
        except OSError as error:
            if error.errno in _NOT_HERE and place is not places[-1]:
                continue
            raise _explained(error, place, note) from error
        found = _open(place / stem, key)
        if found is not None:
            return found
    raise DataError(f"the decoded copy in {places[-1]} vanished while it was made; run the same command again")


def user_directory() -> Path:
    """Where this user's programs keep what they can make again."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "spurgen"


def _key(dataset: Dataset, split: str, modality: str) -> str:
    """A name for exactly these rows, in this order, drawn and copied by these versions."""
    shards = [[s.start, s.rows, s.digests] for s in dataset.manifest.shards if s.split == split]
    what = [_VERSION, dataset.digest, split, dataset.manifest.modalities.get(modality), modality, shards]
    return hashlib.blake2b(json.dumps(what, sort_keys=True).encode(), digest_size=32).hexdigest()


def _open(stem: Path, key: str) -> NDArray[Any] | None:
    """The copy, if a whole one of the right rows lies here."""
    try:
        said = json.loads(stem.with_suffix(".json").read_bytes())
        note = Note(str(said["key"]), str(said["dtype"]), tuple(int(n) for n in said["shape"]))
        dtype = np.dtype(note.dtype)
        size = stem.with_suffix(".raw").stat().st_size
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if note.key != key or dtype.hasobject or size != _bytes(note) or size == 0:
        return None
    try:
        # the plain view spares the bookkeeping of np.memmap on every access
        return np.asarray(np.memmap(stem.with_suffix(".raw"), dtype, "r", shape=note.shape))
    except (OSError, ValueError):
        return None


def _make(dataset: Dataset, split: str, modality: str, stem: Path, note: Note) -> None:
    """Write the copy under a name of its own, then give it its name, then the note: racing processes do no harm."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    temporary = stem.parent / f"{stem.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp"
    try:
        with open(temporary, "wb") as file:
            for start in range(0, note.shape[0], _chunk_rows(dataset, note)):
                batch = dataset.batch(modality, split, start, start + _chunk_rows(dataset, note))
                if batch.shape[1:] != note.shape[1:] or batch.dtype.str != note.dtype:
                    raise DataError(
                        f"not all rows of split {split!r} have the same size of {modality}, so they make no array"
                    )
                file.write(np.ascontiguousarray(batch).data)
            file.flush()
            os.fsync(file.fileno())
        if temporary.stat().st_size != _bytes(note):
            raise DataError(f"split {split!r} of {dataset.directory} gave fewer rows than its manifest says; verify it")
        _rename(temporary, stem.with_suffix(".raw"))
        temporary.write_text(json.dumps(asdict(note)))
        _rename(temporary, stem.with_suffix(".json"))
    finally:
        temporary.unlink(missing_ok=True)
    _sweep(stem, f"{modality}-{split}-")


def _rename(temporary: Path, target: Path) -> None:
    try:
        os.replace(temporary, target)
    except PermissionError:
        if not target.is_file():  # Windows keeps a file that another process has mapped: theirs is as good
            raise


def _sweep(stem: Path, prefix: str) -> None:
    """Remove copies of rows that this dataset no longer has, and what killed processes left behind."""
    for path in stem.parent.glob(f"{prefix}*"):
        stale = path.suffix in (".raw", ".json") and path.stem != stem.name and len(path.stem) == len(stem.name)
        try:
            if stale or (path.suffix == ".tmp" and time.time() - path.stat().st_mtime > _ABANDONED_SECONDS):
                path.unlink()
        except OSError:
            pass


def _chunk_rows(dataset: Dataset, note: Note) -> int:
    """Whole row groups, so that none is read twice."""
    group = dataset.manifest.row_group_rows
    per_row = max(1, _bytes(note) // max(1, note.shape[0]))
    return max(1, _CHUNK_BYTES // (per_row * group)) * group


def _bytes(note: Note) -> int:
    size = np.dtype(note.dtype).itemsize
    for n in note.shape:
        size *= n
    return size


def _explained(error: OSError, place: Path, note: Note) -> DataError:
    if error.errno in _FULL:
        need = _bytes(note) / 1e6
        return DataError(
            f"no space left for a decoded copy of {need:.0f} MB in {place}; make room there, or name a directory on "
            "another disk (cache_dir=…)"
        )
    return DataError(
        f"cannot write a decoded copy to {place} ({error.strerror or error}); name a directory that can be written to "
        "(cache_dir=…)"
    )
