"""Decoded copies: made once, never stale, never half-written, wherever there is room."""

from __future__ import annotations

import errno
import json
import os
import shutil
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiles import world

from spurgen.errors import DataError
from spurgen.load import cache
from spurgen.store import reader
from spurgen.store.writer import build


def truth(directory: Path, split: str) -> Any:
    return reader.open(directory).batch("tile", split)


def files(directory: Path) -> list[Path]:
    return sorted((directory / cache.DIRECTORY).iterdir())


def test_the_copy_holds_every_row_in_file_order(copy: Path) -> None:
    for split, rows in reader.open(copy).splits.items():
        found = cache.decoded(reader.open(copy), split, "tile")
        assert found is not None
        assert found.shape == (rows, 8, 8, 3)
        assert found.dtype == np.uint8
        assert not found.flags.writeable
        assert (found == truth(copy, split)).all()


def test_the_second_time_nothing_is_decoded(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = cache.decoded(reader.open(copy), "train", "tile")
    monkeypatch.setattr(reader.Dataset, "batch", lambda *a, **k: pytest.fail("decoded again"))
    second = cache.decoded(reader.open(copy), "train", "tile")
    assert (first == second).all()


@pytest.mark.parametrize(
    "damage", ["cut", "longer", "empty note", "foreign note", "nonsense", "no note", "note of objects"]
)
def test_a_damaged_copy_is_made_anew(copy: Path, damage: str) -> None:
    cache.decoded(reader.open(copy), "train", "tile")
    note, raw = files(copy)
    said = json.loads(note.read_text())
    if damage == "cut":
        raw.write_bytes(raw.read_bytes()[:-1000])
    elif damage == "longer":
        raw.write_bytes(raw.read_bytes() + b"x")
    elif damage == "no note":
        raw.write_bytes(b"\0" * raw.stat().st_size)  # what a killed process may leave: contents without a note
        note.unlink()
    else:
        other = {"empty note": "", "nonsense": "[1, 2", "foreign note": json.dumps(said | {"key": "0" * 64})}
        note.write_text(other.get(damage, json.dumps(said | {"dtype": "|O"})))
    found = cache.decoded(reader.open(copy), "train", "tile")
    assert (found == truth(copy, "train")).all()


def test_rows_built_anew_are_never_read_from_the_old_copy(tmp_path: Path) -> None:
    out = tmp_path / "data"
    build(world(), out, rows=60, seed=0)
    old = np.array(cache.decoded(reader.open(out), "train", "tile"))
    build(world(), out, rows=60, seed=1, force=True)
    new = cache.decoded(reader.open(out), "train", "tile")
    assert (new == truth(out, "train")).all()
    assert (new != old).any()
    assert len(files(out)) == 2  # the old copy is gone


def test_racing_readers_all_get_whole_copies(copy: Path) -> None:
    found: list[Any] = []
    threads = [
        threading.Thread(target=lambda: found.append(cache.decoded(reader.open(copy), "train", "tile")))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6
    assert all((f == truth(copy, "train")).all() for f in found)
    assert not [p for p in files(copy) if p.suffix == ".tmp"]


def test_where_the_dataset_cannot_be_written_to_the_users_cache_takes_the_copy(copy: Path, tmp_path: Path) -> None:
    (copy / cache.DIRECTORY).write_text("a file where the directory would be")
    found = cache.decoded(reader.open(copy), "train", "tile")
    assert (found == truth(copy, "train")).all()
    assert list((tmp_path / "home-cache" / "spurgen").rglob("*.raw"))


def test_a_copy_may_go_where_it_is_told_to(copy: Path, tmp_path: Path) -> None:
    cache.decoded(reader.open(copy), "train", "tile", cache_dir=tmp_path / "there")
    assert list((tmp_path / "there").glob("*.raw"))
    assert not (copy / cache.DIRECTORY).exists()


def test_a_full_disk_is_said_in_one_sentence_and_leaves_nothing(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(cache.os, "fsync", full)
    with pytest.raises(DataError, match="no space left for a decoded copy of 0 MB"):
        cache.decoded(reader.open(copy), "train", "tile")
    assert files(copy) == []


def test_texts_have_no_copy(copy: Path) -> None:
    assert cache.decoded(reader.open(copy), "train", "line") is None
    assert not (copy / cache.DIRECTORY).exists()


def test_copies_move_with_the_dataset(copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.decoded(reader.open(copy), "train", "tile")
    moved = Path(shutil.move(copy, tmp_path / "moved"))
    monkeypatch.setattr(reader.Dataset, "batch", lambda *a, **k: pytest.fail("decoded again"))
    assert cache.decoded(reader.open(moved), "train", "tile") is not None
