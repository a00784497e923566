"""A finished dataset gives back what was drawn, row by row and in any order."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from spurgen.errors import DataError, UnknownName
from spurgen.latents.sample import sample
from spurgen.render import draw
from spurgen.spec import World
from spurgen.store.reader import open as open_dataset
from spurgen.store.writer import build
from worlds import world


def test_the_table_is_the_one_that_was_sampled(built: Path) -> None:
    ds = open_dataset(built)
    wanted = sample(world())
    found = ds.table().combine_chunks()
    assert found.schema == wanted.schema
    assert found.to_pylist() == wanted.to_pylist()
    assert found["label"].chunk(0).dictionary.to_pylist() == ["mug", "heart", "star"]
    assert len(ds) == 240
    assert ds.splits == {"train": 144, "test": 96}
    assert ds.spec == world()
    assert ds.table("test", ["hue"]).num_rows == 96


def test_pictures_are_those_that_were_drawn(built: Path) -> None:
    ds = open_dataset(built)
    wanted = draw(sample(world()), world(), "blot")
    assert (ds.batch("blot") == wanted).all()
    assert (ds.batch("blot", "test") == wanted[144:]).all()
    assert (ds.batch("blot", "train", 40, 60) == wanted[40:60]).all()
    assert (ds.batch("blot", "test", -5) == wanted[-5:]).all()
    ids = np.random.default_rng(0).integers(0, 240, 50)
    assert (ds.batch("blot", ids) == wanted[ids]).all()
    assert (ds.batch_of(ds.rows(ids), "blot") == wanted[ids]).all()


def test_rows_come_in_the_order_asked_for(built: Path) -> None:
    ds = open_dataset(built)
    assert ds.rows([200, 3, 3, 150])["row_id"].to_pylist() == [200, 3, 3, 150]
    assert ds.row(17)["row_id"].to_pylist() == [17]
    assert ds.rows([]).num_rows == 0


def test_it_travels_to_other_processes(built: Path) -> None:
    ds = open_dataset(built)
    ds.table()
    again = pickle.loads(pickle.dumps(ds))
    assert (again.batch("blot", [7]) == ds.batch("blot", [7])).all()


def test_counterfactuals(built: Path) -> None:
    ds = open_dataset(built)
    red = ds.rows([0, 1, 2, 200])
    other = ds.counterfactual([0, 1, 2, 200], {"hue": "blue"}, "blot")
    own = [hue == "blue" for hue in red["hue"].to_pylist()]
    assert ((other == ds.batch_of(red, "blot")).all((1, 2, 3)) == own).all()


@pytest.mark.parametrize("wrong", [[240], [-1], [0.5], ["a"]])
def test_rows_that_are_not_there(built: Path, wrong: list[object]) -> None:
    with pytest.raises(DataError):
        open_dataset(built).rows(wrong)


def test_names_that_are_not_there(built: Path) -> None:
    ds = open_dataset(built)
    with pytest.raises(UnknownName, match="did you mean 'train'"):
        ds.table("trian")
    with pytest.raises(UnknownName, match="blot"):
        ds.batch("blob")
    with pytest.raises(UnknownName, match="did you mean 'hue'"):
        ds.table(columns=["hues"])


def test_damage_is_one_sentence(copy: Path) -> None:
    for shard in (copy / "data").iterdir():
        shard.write_bytes(b"garbage")
    with pytest.raises(DataError, match="spurgen verify"):
        open_dataset(copy).table()


def test_latents_alone_need_no_engine(built: Path) -> None:
    code = (
        f"import sys, spurgen.store.reader as r; r.open({str(built)!r}).splits\n"
        "print('numba' in sys.modules, 'pyarrow' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_empty_splits_and_odd_sizes(tmp_path: Path) -> None:
    spec = World.from_dict(world().dump() | {"sampling": "iid"})
    build(spec, tmp_path / "out", rows=3)
    ds = open_dataset(tmp_path / "out")
    assert ds.table().num_rows == 3
    assert ds.batch("blot").shape[0] == 3


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="the system does not say which files are open")
def test_few_files_stay_open(tmp_path: Path) -> None:
    build(world(), tmp_path / "many", shard_rows=3)
    ds = open_dataset(tmp_path / "many")
    assert len(ds.manifest.shards) == 80
    assert ds.table().num_rows == 240
    assert ds.batch("blot", np.arange(240)).shape[0] == 240
    assert ds.rows([0, 239, 1, 238])["row_id"].to_pylist() == [0, 239, 1, 238]
    open_now = [p.resolve().name for p in Path("/proc/self/fd").iterdir() if p.exists()]
    assert 0 < sum(name.endswith("-of-00048.parquet") for name in open_now) <= 32


def test_threads_may_share_a_reader_of_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spurgen.store.reader._OPEN", 2)
    build(world(), tmp_path / "many", shard_rows=12)
    ds = open_dataset(tmp_path / "many")
    wanted = ds.batch("blot")
    orders = [np.random.default_rng(i).permutation(240) for i in range(16)]
    with ThreadPoolExecutor(8) as pool:
        for ids, found in zip(orders, pool.map(lambda ids: ds.batch("blot", ids), orders), strict=True):
            assert (found == wanted[ids]).all()


def test_too_many_open_files_are_named(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr("pyarrow.parquet.ParquetFile", full)
    with pytest.raises(DataError, match=r"too many files are open.*ulimit"):
        open_dataset(built).table()


def test_columns_that_a_file_lacks_are_named(copy: Path) -> None:
    manifest = json.loads((copy / "manifest.json").read_text())
    (copy / "manifest.json").write_text(json.dumps(manifest | {"modalities": {"image": 1}}))
    with pytest.raises(DataError, match="lacks the column 'image'"):
        open_dataset(copy).batch("image", [0])
