"""Where everything of a dataset lies on disk, and how its rows are cut into shards."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from spurgen.errors import DataError

FORMAT_VERSION = 2
MANIFEST = "manifest.json"
SPEC = "spec.toml"
CARD = "README.md"
CROISSANT = "croissant.json"
DATA = "data"
BUILD = ".spurgen-build"  # journal, lock and half-written files of a build that is not finished
CACHE = ".spurgen-cache"  # decoded copies that readers keep; never part of the dataset

# Small row groups make one row cheap to read; too small ones drown a file of small pictures in its own footer.
ROW_GROUP_BYTES = 4 << 20
SHARD_BYTES = 256 << 20
_FEWEST, _MOST = 16, 8192
_MOST_IN_SHARD = 1 << 17  # so that a kill never costs much, however small the rows
_MOST_SHARDS = 100_000  # more files than that serve nobody, and listing them takes seconds


@dataclass(frozen=True)
class Shard:
    """One file of one split: the rows at positions [start, start + rows) of that split."""

    split: str
    index: int
    count: int
    start: int
    rows: int

    @property
    def name(self) -> str:
        """The path inside the dataset, with forward slashes on every system."""
        return f"{DATA}/{self.split}-{self.index:05d}-of-{self.count:05d}.parquet"


def shards(splits: Mapping[str, int], shard_rows: int) -> list[Shard]:
    """Every shard of every split, in order; a split without rows has none."""
    total = sum(-(-rows // shard_rows) for rows in splits.values())
    if total > _MOST_SHARDS:
        raise DataError(
            f"that would be {total:,} files, and {_MOST_SHARDS:,} is the most; put more rows into each (--shard-rows)"
        )
    out = []
    for split, rows in splits.items():
        count = -(-rows // shard_rows)
        for index in range(count):
            start = index * shard_rows
            out.append(Shard(split, index, count, start, min(shard_rows, rows - start)))
    return out


def is_shard_name(name: str, splits: Collection[str]) -> bool:
    """Whether a file in the data directory is called as a shard of one of the splits is."""
    return split_of(name) in splits


def split_of(name: str) -> str:
    """The split that a file in the data directory belongs to by its name; empty where it is not called as a shard."""
    found = re.fullmatch(r"(.+)-\d{5,}-of-\d{5,}\.parquet", name)
    return found[1] if found else ""


def row_group_rows(bytes_per_row: float) -> int:
    """Rows per row group: the power of two that comes closest below the wished size."""
    rows = max(1, int(ROW_GROUP_BYTES / max(bytes_per_row, 1.0)))
    return min(_MOST, max(_FEWEST, 1 << (rows.bit_length() - 1)))


def default_shard_rows(bytes_per_row: float, group_rows: int) -> int:
    """Rows per shard: whole row groups that add up to about a quarter of a gigabyte."""
    return max(1, min(_MOST_IN_SHARD, int(SHARD_BYTES / max(bytes_per_row, 1.0))) // group_rows) * group_rows


def is_dataset(directory: Path) -> bool:
    """Whether a finished or a started dataset lies here; other programs have a manifest.json too."""
    if (directory / BUILD / "build.json").is_file():
        return True
    try:
        return b'"spec_digest"' in (directory / MANIFEST).read_bytes()
    except OSError:
        return False
