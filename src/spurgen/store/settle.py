"""Settles which dataset a directory is going to hold, and whether there is room for it, before anything is written."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spurgen.errors import DataError, SpurgenError
from spurgen.store import digests, journal, layout, manifest, ours, witness
from spurgen.store.drawing import Artist
from spurgen.store.features import class_columns
from spurgen.store.manifest import Identity
from spurgen.store.witness import Witness

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
        if not afresh:
            _refuse_another_spec(directory, wanted)
        return _anew(directory, artist, wanted, [] if afresh else witness.witnesses(directory))
    for name, value in wanted.items():
        found = getattr(here, name)
        if found != value:
            if _belied(directory, artist, wanted, here):
                return here.model_copy(update=wanted)
            raise DataError(
                f"{directory} holds another dataset ({name} {found!r}, and {value!r} was asked for); "
                "choose another directory, or start over with force (--force)"
            )
    return here


def _anew(directory: Path, artist: Artist, wanted: dict[str, Any], found: list[Witness]) -> Identity:
    """A dataset that nothing is known of yet but what the shards say that may lie here."""
    sample = artist.sample()
    _refuse_too_large(directory, artist, sample)
    size = sample.nbytes / sample.num_rows
    group = layout.row_group_rows(size)
    default = layout.default_shard_rows(size, group)
    identity = Identity(**{"row_group_rows": group, "shard_rows": witness.shard_rows(found, default)} | wanted)
    if not witness.fits(found, wanted, artist.plan.splits, identity.shard_rows):
        witness.refuse_others(directory, found, wanted)
    return identity


def _refuse_another_spec(directory: Path, wanted: dict[str, Any]) -> None:
    """The spec of a dataset whose shards and manifest are gone may be the only copy there is."""
    from spurgen.spec import World

    path = directory / layout.SPEC
    if not path.is_file() or witness.witnesses(directory):
        return
    with contextlib.suppress(SpurgenError, OSError, ValueError):
        if World.from_toml(path.read_text("utf-8")).digest() == wanted["spec_digest"]:
            return
    raise DataError(
        f"{directory} holds no rows, and {path} is another spec than the one asked for; "
        "choose another directory, or start over with force (--force)"
    )


def _belied(directory: Path, artist: Artist, wanted: dict[str, Any], here: Identity) -> bool:
    """Whether all shards say that the manifest was edited, and that they are what was asked for."""
    found = witness.witnesses(directory)
    apart = wanted.get("shard_rows", here.shard_rows) != here.shard_rows
    return not apart and bool(found) and witness.fits(found, wanted, artist.plan.splits, here.shard_rows)


def _here(directory: Path) -> Identity | None:
    with contextlib.suppress(manifest.Broken):
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
            f"{artist.plan.rows:,} rows of {artist.spec.id} need about {_in_words(size)}, and {directory} has "
            f"{_in_words(free)} free; make room there, choose another directory, or ask for fewer rows"
        )


def _in_words(size: int) -> str:
    unit, one = next((pair for pair in (("GB", 1e9), ("MB", 1e6)) if size >= pair[1]), ("kB", 1e3))
    return f"{size / one:,.1f} {unit}"
