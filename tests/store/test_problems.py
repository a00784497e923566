"""What `verify` says of a damaged dataset: a few lines, and advice that is true."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from spurgen.store.problems import Problem, count, differing, lines, remedy
from spurgen.store.shards import sha256_of
from spurgen.store.verify import verify
from spurgen.store.writer import build
from worlds import world

SHARD = "data/train-00001-of-00003.parquet"
SAME = "`spurgen generate` with the same spec, seed and rows mends it"
FORCE = "`spurgen generate … --force` with the same spec, seed and rows draws it anew"


def test_columns_of_one_shard_are_one_line() -> None:
    found = [differing("a", [1, 2], [name]) for name in "stuvwxyz"] + [differing("b", [3], ["hue"])]
    assert len(found) == 9
    assert lines(found) == [
        "a: columns 's', 't', 'u', 'v', 'w' and 3 more are not what the spec draws at rows 1, 2",
        "b: column 'hue' is not what the spec draws at row 3",
    ]
    assert count(found) == "9 problems in 2 files"


def test_many_files_are_a_few_lines() -> None:
    found = [Problem(f"data/{i}", "missing", "is missing") for i in range(30)]
    assert len(lines(found)) == 11
    assert lines(found)[-1] == "… and 20 more (--json lists them all)"


def flip(directory: Path) -> None:
    content = bytearray((directory / SHARD).read_bytes())
    content[len(content) // 2] ^= 1
    (directory / SHARD).write_bytes(content)


def vouch(directory: Path) -> None:
    """Put the hash of a damaged shard into the manifest."""
    data = json.loads((directory / "manifest.json").read_text())
    record = next(s for s in data["shards"] if s["file"] == SHARD)
    record |= {"sha256": sha256_of(directory / SHARD), "bytes": (directory / SHARD).stat().st_size}
    (directory / "manifest.json").write_text(json.dumps(data))


def forge(directory: Path) -> None:
    flip(directory)
    vouch(directory)


def swap(directory: Path) -> None:
    shutil.copy(directory / "data/train-00000-of-00003.parquet", directory / SHARD)


def lie(directory: Path) -> None:
    text = (directory / "manifest.json").read_text()
    digest = json.loads(text)["shards"][0]["digests"]["blot"]
    (directory / "manifest.json").write_text(text.replace(digest, "0" * 64))


def edit(directory: Path) -> None:
    (directory / "spec.toml").write_text("id = 1")


def leave(directory: Path) -> None:
    (directory / "data/train-00009-of-00010.parquet").write_bytes(b"x")


@pytest.mark.parametrize(
    ("damage", "advice"), [(flip, SAME), (swap, SAME), (edit, SAME), (leave, SAME), (forge, FORCE), (lie, FORCE)]
)
def test_the_advice_is_true(copy: Path, damage: object, advice: str) -> None:
    damage(copy)
    found = verify(copy)
    assert remedy(found) == advice
    build(world(), copy, force=advice == FORCE)
    assert verify(copy) == []


@pytest.mark.parametrize("force", [False, True])
def test_strays_are_named_by_both_and_left_where_they_are(copy: Path, force: bool) -> None:
    shutil.copy(copy / SHARD, copy / "data/extra.parquet")
    found = verify(copy)
    assert remedy(found).startswith("move data/extra.parquet elsewhere")
    assert build(world(), copy, force=force).strays == ("data/extra.parquet",)
    (copy / "data/extra.parquet").unlink()
    assert verify(copy) == []


def test_a_build_says_what_it_wrote_again(copy: Path) -> None:
    for name in ("spec.toml", "README.md"):
        (copy / name).unlink()
    (copy / "croissant.json").write_text("{}")
    assert set(build(world(), copy).rewritten) == {"spec.toml", "README.md", "croissant.json"}
    assert build(world(), copy).rewritten == ()
