"""What a build has finished so far: one small file per shard, so that a kill at any moment loses at most one shard."""

from __future__ import annotations

import shutil
from pathlib import Path

from pydantic import ValidationError

from spurgen.errors import DataError
from spurgen.store import atomic
from spurgen.store.layout import BUILD
from spurgen.store.manifest import Identity, ShardRecord

HEADER = "build.json"
_RECORDS = "shards"


def begin(directory: Path, identity: Identity) -> None:
    """Say which dataset is being built here; nothing else may be from now on."""
    atomic.write(directory / BUILD / HEADER, identity.model_dump_json(indent=1).encode())


def is_open(directory: Path) -> bool:
    """Whether a build was started here and has not ended."""
    return (directory / BUILD / HEADER).is_file()


def started(directory: Path) -> Identity | None:
    """The dataset whose build was started here, if any."""
    path = directory / BUILD / HEADER
    try:
        return Identity.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError, ValidationError) as error:
        raise DataError(f"{path} is damaged; start over with force (--force)") from error


def record(directory: Path, shard: ShardRecord) -> None:
    """Note a finished shard."""
    folder = directory / BUILD / _RECORDS
    with atomic.explained(folder):
        if folder.is_symlink():
            folder.unlink()  # a link is none of ours, and notes do not go where it leads
        folder.mkdir(parents=True, exist_ok=True)
    atomic.write(folder / f"{Path(shard.file).name}.json", shard.model_dump_json().encode())


def records(directory: Path) -> dict[str, ShardRecord]:
    """The shards noted so far, by file; a damaged note counts as none."""
    out = {}
    for path in sorted((directory / BUILD / _RECORDS).glob("*.json")):
        try:
            shard = ShardRecord.model_validate_json(path.read_bytes())
        except (OSError, ValueError, ValidationError):
            continue
        out[shard.file] = shard
    return out


def sweep(directory: Path) -> None:
    """Remove what a killed build left half-written."""
    for path in (directory / BUILD).rglob("*.tmp"):
        path.unlink(missing_ok=True)


def forget(directory: Path) -> None:
    """Remove every note of a finished shard; when this cannot be done, nothing goes on."""
    folder = directory / BUILD / _RECORDS
    with atomic.explained(folder):
        if folder.is_symlink():
            folder.unlink()
        elif folder.is_dir():
            shutil.rmtree(folder)


def end(directory: Path) -> None:
    """Remove the journal; the manifest has taken its place. The lock goes when it is released."""
    (directory / BUILD / HEADER).unlink(missing_ok=True)
    shutil.rmtree(directory / BUILD / _RECORDS, ignore_errors=True)
    sweep(directory)
