"""What is built: the same bytes however it is built, and nothing that belongs to others is touched."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from spurgen.errors import Busy, DataError
from spurgen.store import journal, layout, lock, manifest
from spurgen.store.reader import open as open_dataset
from spurgen.store.writer import build
from worlds import world

HERE = Path(__file__).parent


def tree(directory: Path) -> dict[str, bytes]:
    """Every file below a directory."""
    return {p.relative_to(directory).as_posix(): p.read_bytes() for p in directory.rglob("*") if p.is_file()}


def test_files_and_summary(built: Path) -> None:
    names = set(tree(built))
    shards = {f"data/train-0000{i}-of-00003.parquet" for i in range(3)}
    shards |= {f"data/test-0000{i}-of-00002.parquet" for i in range(2)}
    assert names == shards | {"README.md", "croissant.json", "manifest.json", "spec.toml"}
    assert not (built / layout.BUILD).exists()


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_bytes_do_not_depend_on_workers(built: Path, tmp_path: Path, workers: int) -> None:
    build(world(), tmp_path / "again", shard_rows=48, workers=workers)
    assert tree(tmp_path / "again") == tree(built)


def test_digests_do_not_depend_on_shards(built: Path, tmp_path: Path) -> None:
    build(world(), tmp_path / "other", shard_rows=7)
    one, other = manifest.load(built), manifest.load(tmp_path / "other")
    assert one.shards != other.shards
    assert (one.totals, one.splits, one.digest) == (other.totals, other.splits, other.digest)


def test_another_seed_has_other_digests(built: Path, tmp_path: Path) -> None:
    other = build(world(), tmp_path / "other", seed=1)
    assert other.digest != manifest.load(built).digest


def test_a_complete_dataset_is_left_alone(copy: Path) -> None:
    before = {p: p.stat().st_mtime_ns for p in copy.rglob("*") if p.is_file()}
    (copy / "README.md").write_text("edited by its owner", "utf-8")
    before[copy / "README.md"] = (copy / "README.md").stat().st_mtime_ns
    done = build(world(), copy)
    assert done.drawn_shards == ()
    assert {p: p.stat().st_mtime_ns for p in copy.rglob("*") if p.is_file()} == before


@pytest.mark.parametrize("damage", ["missing", "truncated", "flipped", "grown"])
def test_damaged_shards_are_mended(built: Path, copy: Path, damage: str) -> None:
    shard = copy / "data/train-00001-of-00003.parquet"
    content = bytearray(shard.read_bytes())
    if damage == "missing":
        shard.unlink()
    elif damage == "truncated":
        shard.write_bytes(content[:100])
    elif damage == "grown":
        shard.write_bytes(content + b"x")
    else:
        content[len(content) // 2] ^= 1
        shard.write_bytes(content)
    done = build(world(), copy)
    assert done.drawn_shards == ("data/train-00001-of-00003.parquet",)
    assert tree(copy) == tree(built)


@pytest.mark.parametrize("lost", ["manifest.json", "data/train-00001-of-00003.parquet"])
def test_an_edited_card_survives_mending(copy: Path, lost: str) -> None:
    (copy / "README.md").write_text("edited by its owner", "utf-8")
    (copy / lost).unlink()
    build(world(), copy)
    assert (copy / "README.md").read_text("utf-8") == "edited by its owner"
    build(world(), copy, force=True)
    assert "edited" not in (copy / "README.md").read_text("utf-8")


def test_missing_side_files_are_written_again(built: Path, copy: Path) -> None:
    for name in ("spec.toml", "README.md", "croissant.json"):
        (copy / name).unlink()
    assert build(world(), copy).drawn_rows == 0
    assert tree(copy) == tree(built)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seed": 1}, "seed"),
        ({"rows": 250}, "rows"),
        ({"shard_rows": 50}, "shard_rows"),
        ({"spec": world(description='"other"')}, "spec_digest"),
    ],
)
def test_another_dataset_is_refused_unless_forced(copy: Path, change: dict[str, Any], said: str) -> None:
    before = tree(copy)
    arguments: dict[str, Any] = {"spec": world(), "out": copy} | change
    if "spec" in change and change["spec"].digest() == world().digest():
        arguments["spec"] = world(values='["blue", "green", "red"]')
    with pytest.raises(DataError, match=f"holds another dataset.*{said}"):
        build(**arguments)
    assert tree(copy) == before
    build(**arguments, force=True)
    assert manifest.load(copy).digest


@pytest.mark.parametrize("force", [False, True])
def test_foreign_directories_are_refused_and_kept(tmp_path: Path, force: bool) -> None:
    (tmp_path / "thesis.tex").write_text("ten years")
    with pytest.raises(DataError, match=r"not empty \('thesis.tex'\)"):
        build(world(), tmp_path, force=force)
    assert tree(tmp_path) == {"thesis.tex": b"ten years"}
    with pytest.raises(DataError, match="is a file"):
        build(world(), tmp_path / "thesis.tex", force=force)


@pytest.mark.parametrize("force", [False, True])
def test_a_manifest_of_another_program_is_foreign(tmp_path: Path, force: bool) -> None:
    (tmp_path / "manifest.json").write_text('{"name": "my web app"}')
    with pytest.raises(DataError, match="holds no dataset"):
        build(world(), tmp_path, force=force)
    assert list(tree(tmp_path)) == ["manifest.json"]


def test_force_leaves_foreign_files(copy: Path) -> None:
    (copy / "notes.txt").write_text("mine")
    build(world(), copy, seed=3, force=True)
    assert (copy / "notes.txt").read_text() == "mine"


def test_a_second_build_is_busy_and_names_the_first(tmp_path: Path) -> None:
    with lock.held(tmp_path), pytest.raises(Busy, match=str(os.getpid())):
        build(world(), tmp_path)
    build(world(), tmp_path)


class _Full:
    """A disk that takes so many bytes and no more."""

    def __init__(self, room: int):
        self.room = room

    def __call__(self, sink: Any, view: memoryview) -> None:
        self.room -= len(view)
        if self.room < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        sink._hash.update(view)
        sink._file.write(view)


def test_a_full_disk_is_one_sentence_and_resumes(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "full"
    with monkeypatch.context() as patch:
        patch.setattr("spurgen.store.shards._Sink._write", _full_disk(25_000))
        with pytest.raises(DataError, match=r"no space left.*run the same command again"):
            build(world(), out, shard_rows=48)
    assert not (out / "manifest.json").exists()
    assert not list(out.rglob("*.tmp"))
    with pytest.raises(DataError, match="not finished"):
        open_dataset(out)
    done = build(world(), out, shard_rows=48)
    assert 0 < len(done.drawn_shards) < 5
    assert tree(out) == tree(built)


def _full_disk(room: int) -> Any:
    disk = _Full(room)
    return lambda sink, view: disk(sink, view)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs file size limits")
def test_a_real_limit_of_the_system(tmp_path: Path) -> None:
    code = (
        "import resource, signal, worlds\n"
        "from spurgen.store.writer import build; from spurgen.errors import DataError\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))\n"
        f"try: build(worlds.world(), {str(tmp_path / 'out')!r}, shard_rows=48)\n"
        "except DataError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=HERE, check=True)
    assert "no space left" in done.stdout
    assert not list((tmp_path / "out").rglob("*.parquet*"))


def test_killed_at_any_moment_it_ends_with_the_same_bytes(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    build(world(), whole, rows=4000, shard_rows=100)
    out = tmp_path / "killed"
    code = (
        "import worlds; from spurgen.store.writer import build\n"
        f"build(worlds.world(), {str(out)!r}, rows=4000, shard_rows=100)"
    )
    killed, steps = 0, 0
    for moment in (1, 9, 17, 30):
        process = subprocess.Popen([sys.executable, "-c", code], cwd=HERE, stderr=subprocess.DEVNULL)
        while process.poll() is None and len(list(out.glob("data/*"))) < moment:
            time.sleep(0.0005)
        process.kill()
        process.wait()
        killed += process.returncode != 0
        if not (out / "manifest.json").is_file():
            steps += 1
            if (out / layout.BUILD / journal.HEADER).is_file():
                with pytest.raises(DataError, match="not finished"):
                    open_dataset(out)
    assert killed >= 2
    assert steps >= 2
    kept = len(journal.records(out))
    done = build(world(), out, rows=4000, shard_rows=100)
    assert len(done.drawn_shards) == done.shards - kept
    assert tree(out) == tree(whole)


def test_two_processes_at_once(tmp_path: Path) -> None:
    code = (
        "import worlds, sys; from spurgen.store.writer import build; from spurgen.errors import Busy\n"
        f"try: build(worlds.world(), {str(tmp_path / 'out')!r}, rows=3000, shard_rows=100); print('built')\n"
        "except Busy as error: print(error)"
    )
    start = [
        subprocess.Popen([sys.executable, "-c", code], cwd=HERE, stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    said = [process.communicate()[0].strip() for process in start]
    assert "built" in said
    for line in said:
        assert line == "built" or "is working on" in line
    build(world(), tmp_path / "out", rows=3000, shard_rows=100)


def test_progress_counts_rows(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    build(world(), tmp_path / "out", progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (240, 240)
    assert seen == sorted(seen)
