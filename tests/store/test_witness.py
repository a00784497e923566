"""A lost, broken or edited manifest is no dead end: shards say which dataset they are, and `generate` mends it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spurgen.errors import DataError
from spurgen.store.verify import verify
from spurgen.store.writer import build
from worlds import world


def tree(directory: Path) -> dict[str, bytes]:
    """Every file below a directory."""
    return {p.relative_to(directory).as_posix(): p.read_bytes() for p in directory.rglob("*") if p.is_file()}


def damage(directory: Path, kind: str) -> None:
    """Lose the manifest in one of several ways."""
    path = directory / "manifest.json"
    text = path.read_bytes()
    path.unlink()
    if kind != "deleted":
        path.write_bytes({"empty": b"", "garbage": b"\xff garbage", "cut": text[:100], "half": text[:-20]}[kind])


KINDS = ["deleted", "empty", "garbage", "cut", "half"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_command_mends_a_lost_manifest(built: Path, copy: Path, kind: str) -> None:
    damage(copy, kind)
    (problem,) = verify(copy)
    assert "`spurgen generate` with the same spec, seed and rows mends it" in problem.message
    build(world(), copy)
    assert tree(copy) == tree(built)


@pytest.mark.parametrize("kind", KINDS)
def test_force_starts_over_without_a_manifest(copy: Path, tmp_path: Path, kind: str) -> None:
    damage(copy, kind)
    build(world(), copy, seed=3, shard_rows=48, force=True)
    build(world(), tmp_path / "wanted", seed=3, shard_rows=48)
    assert tree(copy) == tree(tmp_path / "wanted")


@pytest.mark.parametrize(
    ("change", "said"),
    [({"seed": 1}, "seed 0, and 1"), ({"rows": 250}, "other rows than 250"), ({"shard_rows": 50}, "other rows")],
)
def test_another_dataset_without_a_manifest_is_refused(copy: Path, change: dict[str, int], said: str) -> None:
    damage(copy, "empty")
    before = tree(copy)
    with pytest.raises(DataError, match=f"has lost its manifest.*{said}.*--force"):
        build(world(), copy, **change)
    assert tree(copy) == before


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("name", ["thesis.tex", ".git"])
def test_strangers_beside_a_lost_dataset_keep_it_from_being_ours(copy: Path, name: str, force: bool) -> None:
    (copy / "manifest.json").unlink()
    (copy / name).write_text("mine")
    before = tree(copy)
    with pytest.raises(DataError, match=f"not empty \\('{name}'\\)"):
        build(world(), copy, force=force)
    assert tree(copy) == before


@pytest.mark.parametrize("force", [False, True])
def test_names_alone_make_nothing_ours(tmp_path: Path, force: bool) -> None:
    """A web application has a manifest, a card and data too."""
    (tmp_path / "data").mkdir()
    mine = ["manifest.json", "README.md", "croissant.json", "spec.toml", "data/train-00000-of-00001.parquet"]
    for name in mine:
        (tmp_path / name).write_text("{}")
    with pytest.raises(DataError, match="holds no dataset"):
        build(world(), tmp_path, force=force)
    assert set(tree(tmp_path)) == set(mine)


def test_a_spec_that_is_all_that_is_left_is_not_overwritten(copy: Path) -> None:
    (copy / "manifest.json").unlink()
    for path in (copy / "data").iterdir():
        path.unlink()
    before = tree(copy)
    with pytest.raises(DataError, match="is another spec"):
        build(world(values='["blue", "green", "red"]'), copy)
    assert tree(copy) == before
    build(world(), copy)
    assert verify(copy) == []


@pytest.mark.parametrize(("name", "value"), [("seed", 5), ("rows", 241), ("spec_digest", "0" * 64)])
def test_an_edited_manifest_is_put_right(built: Path, copy: Path, name: str, value: object) -> None:
    data = json.loads((copy / "manifest.json").read_text())
    (copy / "manifest.json").write_text(json.dumps(data | {name: value}))
    assert verify(copy)
    build(world(), copy)
    assert tree(copy) == tree(built)


def test_an_edited_seed_is_one_problem(copy: Path) -> None:
    data = json.loads((copy / "manifest.json").read_text())
    (copy / "manifest.json").write_text(json.dumps(data | {"seed": 5}))
    (problem,) = verify(copy)
    assert (problem.kind, problem.message) == ("identity", "speaks of seed 5, and its shards say 0")


def test_a_shard_of_another_dataset_is_named_as_such(copy: Path, tmp_path: Path) -> None:
    build(world(), tmp_path / "other", seed=7, shard_rows=48)
    name = "data/train-00001-of-00003.parquet"
    (copy / name).write_bytes((tmp_path / "other" / name).read_bytes())
    found = verify(copy)
    assert {problem.file for problem in found} == {name}
    assert [p.message for p in found if p.kind == "origin"] == ["is of another dataset (seed 7)"]
    assert len(found) == 2
