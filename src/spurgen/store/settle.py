"""Settles which dataset a directory is going to hold, and whether there is room for it, before anything is written."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spurgen.errors import DataError
from spurgen.store import digests, journal, layout, manifest, ours
from spurgen.store.drawing import Artist
from spurgen.store.features import class_columns
from spurgen.store.manifest import Identity

if TYPE_CHECKING:
    import pyarrow as pa

_SURE = 0.8  # share of the estimated size that a dataset takes at the least


def settle(directory: Path, artist: Artist, shard_rows: int | None, afresh: bool) -> Identity:
    """The dataset that was asked for; one that the directory holds already must be the same, unless made afresh."""
    wanted: dict[str, Any] = {
        "format_version": layout.FORMAT_VERSION,
        "digest_algorithm": digests.ALGORITHM,
        "spec_id": artist.spec.id,
        "spec_digest": artist.spec.digest(),
        "seed": artist.plan.seed,
        "rows": artist.plan.rows,
        "modalities": artist.versions(),
    }
    if shard_rows is not None:
        wanted["shard_rows"] = shard_rows
    here = None if afresh else _here(directory)
    if here is None:
        sample = artist.sample()
        _refuse_too_large(directory, artist, sample)
        size = sample.nbytes / sample.num_rows
        group = layout.row_group_rows(size)
        wanted["row_group_rows"] = group
        wanted.setdefault("shard_rows", layout.default_shard_rows(size, group))
        return Identity(**wanted)
    for name, value in wanted.items():
        found = getattr(here, name)
        if found != value:
            raise DataError(
                f"{directory} holds another dataset ({name} {found!r}, and {value!r} was asked for); "
                "choose another directory, or start over with force (--force)"
            )
    return here


def _here(directory: Path) -> Identity | None:
    if (directory / layout.MANIFEST).is_file():
        return manifest.load(directory).identity
    return journal.started(directory)


def _refuse_too_large(directory: Path, artist: Artist, sample: pa.Table) -> None:
    """Say at once that a dataset cannot fit, rather than after hours; shards that lie here make way or are kept."""
    names = class_columns(artist.features())  # stored as codes, which hardly count
    each = sum(sample[n].nbytes for n in sample.column_names if n not in names) / sample.num_rows
    size = int(each * artist.plan.rows * _SURE)
    free = shutil.disk_usage(directory).free
    if size > free + ours.bytes_here(directory, artist.spec.splits):
        raise DataError(
            f"{artist.plan.rows:,} rows of {artist.spec.id} need about {_gigabytes(size)}, and {directory} has "
            f"{_gigabytes(free)} free; make room there, choose another directory, or ask for fewer rows"
        )


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:,.1f} GB"
