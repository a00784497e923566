"""What belongs to others stays: their files, what their links lead to, and a half-made dataset of another version."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from spurgen.errors import Busy, DataError, SpurgenError
from spurgen.spec import World
from spurgen.spec.known import MODALITIES
from spurgen.store import journal, layout, lock
from spurgen.store.drawing import Artist
from spurgen.store.verify import check
from spurgen.store.writer import build
from worlds import world

SHARD = "data/train-00001-of-00003.parquet"


def tree(directory: Path) -> dict[str, bytes]:
    """Every file below a directory."""
    return {p.relative_to(directory).as_posix(): p.read_bytes() for p in directory.rglob("*") if p.is_file()}


@pytest.mark.parametrize("damage", ["missing", "flipped"])
def test_versions_that_draw_differently_never_mix(
    built: Path, copy: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    """The guard holds however often the command is repeated, and what lies there is not overwritten."""
    if damage == "missing":
        (copy / SHARD).unlink()
    else:
        (copy / SHARD).write_bytes(bytes(1000))
    before = {k: v for k, v in tree(copy).items() if k.startswith("data/")}
    part = MODALITIES.get("blot")
    other = dataclasses.replace(part, draw=lambda *a, **k: part.draw(*a, **k) ^ 1)
    with monkeypatch.context() as patch:
        patch.setitem(MODALITIES._loaded(), "blot", other)
        for _ in range(3):
            with pytest.raises(DataError, match="came out differently"):
                build(world(), copy)
            assert {k: v for k, v in tree(copy).items() if k.startswith("data/")} == before
    build(world(), copy)
    assert tree(copy) == tree(built)


class Killed(BaseException):
    """Stands for a kill: nothing of the program sees it."""


@pytest.mark.parametrize("moment", range(0, 12, 2))
def test_a_kill_while_starting_over_leaves_a_way_on(
    copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: int
) -> None:
    build(world(), tmp_path / "wanted", seed=3, shard_rows=48)
    unlink, left = Path.unlink, [moment]

    def counted(path: Path, missing_ok: bool = False) -> None:
        if left[0] == 0:
            raise Killed
        left[0] -= 1
        unlink(path, missing_ok)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", counted)
        with pytest.raises(Killed):
            build(world(), copy, seed=3, shard_rows=48, force=True)
    with contextlib.suppress(DataError):  # the old dataset may be there still
        build(world(), copy, seed=3, shard_rows=48)
        assert tree(copy) == tree(tmp_path / "wanted")
    build(world(), copy, seed=3, shard_rows=48, force=True)
    assert tree(copy) == tree(tmp_path / "wanted")


def test_nothing_is_removed_before_the_new_dataset_is_settled(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(artist: Artist) -> None:
        raise Killed

    before = tree(copy)
    monkeypatch.setattr(Artist, "sample", killed)
    with pytest.raises(Killed):
        build(world(), copy, seed=3, force=True)
    assert tree(copy) == before


def test_an_empty_data_directory_is_no_stranger(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    assert build(world(), tmp_path).rows == 240


def test_what_only_looks_like_a_shard_stays(copy: Path) -> None:
    mine = ["my-notes-of-today.parquet", "train-1-of-2.parquet", "other-00000-of-00001.parquet", "train.parquet"]
    for name in mine:
        (copy / "data" / name).write_text("mine")
    (copy / "data/train-00003-of-00004.parquet").write_text("a shard of an earlier, longer list")
    build(world(), copy)
    build(world(), copy, seed=3, force=True)
    assert {p.name for p in (copy / "data").iterdir() if p.read_bytes() == b"mine"} == set(mine)
    assert not (copy / "data/train-00003-of-00004.parquet").exists()


def test_shards_of_the_old_splits_go(copy: Path) -> None:
    data = world().dump()
    data["splits"]["final"] = data["splits"].pop("test")
    build(World.from_dict(data), copy, force=True)
    assert {p.name.split("-")[0] for p in (copy / "data").iterdir()} == {"train", "final"}


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("name", [layout.BUILD, layout.DATA])
def test_directories_behind_links_are_left_alone(copy: Path, tmp_path: Path, name: str, force: bool) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    for file in ("a.tmp", "train-00000-of-00003.parquet"):
        (theirs / file).write_text("theirs")
    if (copy / name).is_dir():
        (copy / name).rename(tmp_path / "aside")
    (copy / name).symlink_to(theirs, target_is_directory=True)
    with pytest.raises(DataError, match="is a link"):
        build(world(), copy, force=force)
    assert set(tree(theirs).values()) == {b"theirs"}
    assert len(tree(theirs)) == 2


@pytest.mark.parametrize("exists", [True, False])
def test_a_lock_that_is_a_link_is_not_followed(copy: Path, tmp_path: Path, exists: bool) -> None:
    victim = tmp_path / "victim"
    if exists:
        victim.write_text("theirs")
    (copy / layout.BUILD).mkdir()
    (copy / layout.BUILD / "lock").symlink_to(victim)
    with pytest.raises(DataError, match="is a link"):
        build(world(), copy)
    assert victim.exists() == exists
    assert not exists or victim.read_text() == "theirs"


def test_half_written_files_that_are_links_are_not_followed(copy: Path, tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("theirs")
    (tmp_path / "folder").mkdir()
    (copy / layout.BUILD).mkdir()
    (copy / layout.BUILD / f".{journal.HEADER}.tmp").symlink_to(tmp_path / "victim")
    (copy / layout.BUILD / "shards").symlink_to(tmp_path / "folder")
    (copy / SHARD).unlink()
    build(world(), copy, seed=3, force=True)
    assert (tmp_path / "victim").read_text() == "theirs"
    assert not list((tmp_path / "folder").iterdir())


def test_a_lock_that_keeps_vanishing_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "_is_current", lambda handle, path: False)
    with pytest.raises(Busy, match="coming and going"), lock.held(tmp_path):
        pass


@pytest.mark.parametrize("force", [False, True])
def test_a_dataset_that_cannot_fit_is_refused_at_once(tmp_path: Path, force: bool) -> None:
    began = time.perf_counter()
    with pytest.raises(DataError, match=r"1,099,511,627,776 rows .* need about [\d,.]+ GB, and .* GB free"):
        build(world(), tmp_path / "out", rows=2**40, force=force)
    iid = World.from_dict(world().dump() | {"sampling": "iid"})
    with pytest.raises(DataError, match="GB free"):
        build(iid, tmp_path / "out", rows=2**40, force=force)
    assert time.perf_counter() - began < 2
    assert not tree(tmp_path)


def test_what_makes_way_counts_as_free(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spurgen.store.settle.shutil.disk_usage", lambda path: SimpleNamespace(free=0))
    with pytest.raises(DataError, match=r"need about [1-9][\d.]* kB, .* has 0\.0 kB free"):
        build(world(), copy, rows=2400, force=True)
    build(world(), copy, seed=3, force=True)


def test_too_many_files_are_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "_MOST_SHARDS", 100)
    with pytest.raises(DataError, match=r"240 files, and 100 is the most.*--shard-rows"):
        build(world(), tmp_path, shard_rows=1)


@pytest.mark.parametrize("wrong", [0, -1, 2.5, True, "4"])
@pytest.mark.parametrize("name", ["workers", "shard_rows"])
def test_counts_that_are_none(tmp_path: Path, name: str, wrong: Any) -> None:
    with pytest.raises(SpurgenError, match=f"{name} is .*whole number"):
        build(world(), tmp_path / "out", **{name: wrong})
    assert not (tmp_path / "out").exists()
    if name == "workers":
        with pytest.raises(SpurgenError, match="workers is"):
            check(tmp_path, workers=wrong)


def test_the_spec_may_be_a_file(built: Path, tmp_path: Path) -> None:
    build(built / "spec.toml", tmp_path / "a", shard_rows=48)
    build(str(built / "spec.toml"), tmp_path / "b", shard_rows=48)
    assert tree(tmp_path / "a")["manifest.json"] == tree(tmp_path / "b")["manifest.json"]
    with pytest.raises(SpurgenError, match="did you mean 'quick/v1'"):
        build("quikc/v1", tmp_path / "c")
