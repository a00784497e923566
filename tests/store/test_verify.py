"""Whatever is done to a dataset, `verify` names it and never fails itself."""

from __future__ import annotations

import json
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from spurgen.spec import World
from spurgen.store.reader import open as open_dataset
from spurgen.store.shards import sha256_of
from spurgen.store.verify import Problem, check, verify
from spurgen.store.writer import build
from worlds import world

SHARD = "data/train-00001-of-00003.parquet"


def only(problems: list[Problem], kind: str) -> Problem:
    found = [p for p in problems if p.kind == kind]
    assert len(found) == 1, problems
    return found[0]


@pytest.mark.parametrize("deep", [True, False])
def test_a_whole_dataset_has_no_problems(built: Path, deep: bool) -> None:
    report = check(built, deep=deep)
    assert report.ok
    assert (report.rows, report.shards, report.redrawn_rows) == (240, 5, 240 if deep else 0)


def test_missing_shard(copy: Path) -> None:
    (copy / SHARD).unlink()
    assert only(verify(copy), "missing").file == SHARD


def test_truncated_shard(copy: Path) -> None:
    (copy / SHARD).write_bytes((copy / SHARD).read_bytes()[:-10])
    assert "bytes" in only(verify(copy), "size").message


@pytest.mark.parametrize("deep", [True, False])
def test_a_flipped_byte_names_file_column_and_row(copy: Path, deep: bool) -> None:
    wanted = open_dataset(copy).row_ids("train")[48 + 20]
    content = bytearray((copy / SHARD).read_bytes())
    picture = pq.read_table(copy / SHARD)["blot"][20].as_py()["bytes"]
    # pictures are stored plain, so their bytes can be found in the file
    content[content.find(picture) + len(picture) // 2] ^= 4
    (copy / SHARD).write_bytes(content)
    problems = verify(copy, deep=deep)
    assert only(problems, "hash").file == SHARD
    named = only(problems, "content")
    assert (named.file, named.row_ids, named.columns) == (SHARD, (int(wanted),), ("blot",))
    assert str(wanted) in str(named)


def test_rows_swapped_behind_a_right_hash_are_found(copy: Path) -> None:
    """Someone edits a cell and mends hash and size in the manifest; drawing again finds it."""
    table = pq.read_table(copy / SHARD)
    hues = table["hue"].to_pylist()
    hues[3] = "red" if hues[3] != "red" else "blue"
    row = table["row_id"][3].as_py()
    pq.write_table(table.set_column(table.column_names.index("hue"), "hue", [hues]).cast(table.schema), copy / SHARD)
    manifest = json.loads((copy / "manifest.json").read_text())
    record = next(s for s in manifest["shards"] if s["file"] == SHARD)
    record |= {"sha256": sha256_of(copy / SHARD), "bytes": (copy / SHARD).stat().st_size}
    (copy / "manifest.json").write_text(json.dumps(manifest))
    assert verify(copy, deep=False) == []
    named = only(verify(copy), "content")
    assert (named.row_ids, named.columns) == ((row,), ("hue",))


def test_forged_digests_are_found(copy: Path) -> None:
    text = (copy / "manifest.json").read_text()
    digest = json.loads(text)["shards"][0]["digests"]["blot"]
    (copy / "manifest.json").write_text(text.replace(digest, "0" * 64))
    kinds = {p.kind for p in verify(copy)}
    assert kinds == {"totals", "digest"}


def test_a_shard_in_anothers_place(copy: Path) -> None:
    shutil.copy(copy / "data/train-00000-of-00003.parquet", copy / SHARD)
    named = [p for p in verify(copy) if p.kind == "content" and p.columns == ("row_id",)]
    assert len(named) == 1
    assert len(named[0].row_ids) == 48


def test_strays_are_named(copy: Path) -> None:
    (copy / "data/train-00009-of-00003.parquet").write_bytes(b"x")
    assert only(verify(copy), "stray").file == "data/train-00009-of-00003.parquet"


@pytest.mark.parametrize("name", ["spec.toml", "croissant.json", "README.md"])
def test_side_files(copy: Path, name: str) -> None:
    (copy / name).unlink()
    assert name in {p.file for p in verify(copy) if p.kind == "missing"}


def test_an_edited_spec_is_named(copy: Path) -> None:
    text = (copy / "spec.toml").read_text()
    (copy / "spec.toml").write_text(text.replace("0.9", "0.8"))
    assert {p.kind for p in verify(copy)} == {"hash", "spec"}


def test_no_dataset_is_a_problem_too(tmp_path: Path) -> None:
    assert only(verify(tmp_path), "manifest").file == "manifest.json"


def _flip(content: bytearray, chance: random.Random) -> bytes:
    for _ in range(chance.randint(1, 4)):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    return bytes(content)


def _cut(content: bytearray, chance: random.Random) -> bytes:
    return bytes(content[: chance.randrange(len(content))])


def _zero(content: bytearray, chance: random.Random) -> bytes:
    start = chance.randrange(len(content))
    content[start : start + 64] = bytes(len(content[start : start + 64]))
    return bytes(content)


def _footer(content: bytearray, chance: random.Random) -> bytes:
    content[-chance.randint(1, min(len(content), 2000))] ^= 1 << chance.randrange(8)
    return bytes(content)


@pytest.mark.parametrize("damage", [_flip, _cut, _zero, _footer])
def test_garbage_never_traces_back(copy: Path, damage: Callable[[bytearray, random.Random], bytes]) -> None:
    chance = random.Random(7)
    files = sorted(p for p in copy.rglob("*") if p.is_file() and p.name != "README.md")
    for turn in range(40):
        path = files[turn % len(files)]
        whole = path.read_bytes()
        damaged = damage(bytearray(whole), chance)
        path.write_bytes(damaged)
        problems = verify(copy, deep=False)
        if damaged != whole:
            assert problems
            assert path.relative_to(copy).as_posix() in {p.file for p in problems}
        path.write_bytes(whole)
    assert verify(copy, deep=False) == []


def test_a_forged_number_of_rows_is_found_at_once(tmp_path: Path) -> None:
    """Independent draws are planned row by row, so nobody plans what the files do not hold."""
    build(World.from_dict(world().dump() | {"sampling": "iid"}), tmp_path / "out")
    data = json.loads((tmp_path / "out/manifest.json").read_text())
    record = next(s for s in data["shards"] if s["split"] == "train")
    more = 2**40 - data["rows"]
    for count in (record, data, data["totals"], data["splits"]["train"]):
        count["rows"] += more
    (tmp_path / "out/manifest.json").write_text(json.dumps(data))
    began = time.perf_counter()
    found = verify(tmp_path / "out")
    assert time.perf_counter() - began < 2
    assert any(p.file == "manifest.json" and "1099511627776" in p.message for p in found if p.kind == "count")
    assert record["file"] in {p.file for p in found}
