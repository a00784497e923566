"""Manifests from strangers: refused in one sentence, never followed out of the directory."""

from __future__ import annotations

import contextlib
import json
import random
from pathlib import Path
from typing import Any

import pytest

from spurgen.errors import DataError
from spurgen.store import manifest
from spurgen.store.layout import Shard, default_shard_rows, row_group_rows, shards


def edit(directory: Path, change: Any) -> None:
    path = directory / "manifest.json"
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


def test_it_reads_what_it_wrote(built: Path) -> None:
    found = manifest.load(built)
    assert found.to_json() == (built / "manifest.json").read_bytes()
    assert found.totals.rows == 240
    assert sum(s.rows for s in found.shards) == 240


@pytest.mark.parametrize(
    "name",
    [
        "/etc/passwd",
        "../outside.parquet",
        "data/../../outside.parquet",
        "data/..parquet/../x.parquet",
        "data\\train.parquet",
        "C:/data/train.parquet",
        "data/C:train.parquet",
        "data/a/b.parquet",
        "data/train\n.parquet",
        "other/train.parquet",
        "",
        "data/train.parquet\x00",
    ],
)
def test_names_that_climb_are_refused(copy: Path, name: str) -> None:
    edit(copy, lambda data: data["shards"][0].update(file=name))
    with pytest.raises(DataError, match="not a file of this dataset"):
        manifest.load(copy)


def test_a_name_twice_is_refused(copy: Path) -> None:
    edit(copy, lambda data: data["shards"].append(data["shards"][0]))
    with pytest.raises(DataError, match="more than once"):
        manifest.load(copy)


def test_links_that_leave_are_refused(copy: Path, tmp_path: Path) -> None:
    shard = copy / "data/train-00000-of-00003.parquet"
    (tmp_path / "outside.parquet").write_bytes(shard.read_bytes())
    shard.unlink()
    shard.symlink_to(tmp_path / "outside.parquet")
    with pytest.raises(DataError, match="link that leaves"):
        manifest.load(copy)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d.update(extra=1), "extra"),
        (lambda d: d.update(seed="0"), "seed"),
        (lambda d: d.pop("digest"), "digest"),
        (lambda d: d.update(digest="xyz"), "digest"),
        (lambda d: d["shards"][0].update(rows=-1), "rows"),
        (lambda d: d.update(row_group_rows=0), "row_group_rows"),
        (lambda d: d.update(format_version=99), "format version 99"),
        (lambda d: d.update(digest_algorithm="crc32"), "digest_algorithm"),
        (lambda d: d.update(shards=[]), "shards"),
        (lambda d: d.update(shards=[], splits={}, rows=0, totals={"rows": 0, "digests": {}}), "lists no shards"),
        (lambda d: d["shards"][0].update(rows=10**12), "rows"),
        (lambda d: d.update(rows=10**12), "rows"),
        (lambda d: d["splits"].pop("test"), "split"),
    ],
)
def test_what_does_not_fit_is_named(copy: Path, change: Any, said: str) -> None:
    edit(copy, change)
    with pytest.raises(DataError, match=said) as caught:
        manifest.load(copy)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"format_version": 2}'])
def test_garbage_is_one_sentence(copy: Path, text: bytes) -> None:
    (copy / "manifest.json").write_bytes(text)
    with pytest.raises(DataError, match="not a valid manifest"):
        manifest.load(copy)


def test_flipped_bytes_never_trace_back(copy: Path) -> None:
    path = copy / "manifest.json"
    whole, chance = path.read_bytes(), random.Random(0)
    for _ in range(200):
        damaged = bytearray(whole)
        damaged[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
        with contextlib.suppress(DataError):
            manifest.load(copy)


def test_no_dataset_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="spurgen generate"):
        manifest.load(tmp_path)
    with pytest.raises(DataError, match="there is no dataset"):
        manifest.load(tmp_path / "absent")


def test_shards_cover_every_row_once() -> None:
    found = shards({"train": 10, "empty": 0, "test": 3}, 4)
    assert found == [
        Shard("train", 0, 3, 0, 4),
        Shard("train", 1, 3, 4, 4),
        Shard("train", 2, 3, 8, 2),
        Shard("test", 0, 1, 0, 3),
    ]
    assert found[0].name == "data/train-00000-of-00003.parquet"


def test_sizes_of_row_groups() -> None:
    assert row_group_rows(60_000) == 64  # 4 MiB / 60,000 = 69.9, and 64 is the power of two below
    assert row_group_rows(2_000) == 2048
    assert row_group_rows(10) == 8192
    assert row_group_rows(10**9) == 16
    assert default_shard_rows(60_000, 64) % 64 == 0
