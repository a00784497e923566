"""Edited rows as a dataset: anybody's model can be run on it, and scores as if the library had run it."""

from __future__ import annotations

import io
import json

import duckdb
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from PIL import Image

from spurgen.errors import DataError, UnknownName
from spurgen.evaluate import evaluate
from spurgen.evaluate.foreign import write_interventions
from spurgen.evaluate.interventions import NONE, Plan, changed_by, edited, names
from spurgen.evaluate.score import plain, score
from spurgen.export import MARKER
from spurgen.render import draw
from spurgen.store import reader
from spurgen.store.writer import build
from tests.evaluate.tables import UNCOUPLED, without_places
from tests.train.conftest import world

PLAN = Plan(2, False, True)


@pytest.fixture(scope="module")
def folder(dataset, tmp_path_factory):
    out = tmp_path_factory.mktemp("foreign") / "interventions"
    write_interventions(dataset, out, plan=PLAN)
    return out


def files(folder):
    return sorted((folder / "data").glob("*.parquet"))


def stored(folder):
    return pq.read_table(folder / "data")


def by_colour(pictures):
    """A class for each primary colour, believed by how much of it there is: in 1024ths, so that sums are exact."""
    amounts = np.asarray(pictures).mean((1, 2)) + 1
    counts = np.floor(1000 * amounts / amounts.sum(1, keepdims=True))
    counts[:, 2] = 1024 - counts[:, :2].sum(1)
    return counts / 1024


def test_every_edit_has_a_file_of_the_rows_it_changes(dataset, folder):
    table, wanted = dataset.table("test"), names(dataset.spec, PLAN)
    assert len(files(folder)) == len(wanted)
    for name, path in zip(wanted, files(folder), strict=True):
        found = pq.read_table(path)
        assert set(found["intervention"].to_pylist()) == {name}
        changed = changed_by(table, dataset.spec, name) | (name == NONE)
        assert found["row_id"].to_pylist() == table["row_id"].to_numpy()[changed].tolist()
        expected = edited(table, dataset.spec, name).filter(changed).to_pylist()
        assert found.select(table.column_names).to_pylist() == expected


def test_pictures_and_captions_are_those_the_library_draws(dataset, folder):
    for name in ("none", "shuffle/hue/1", "conflict/0"):
        path = files(folder)[names(dataset.spec, PLAN).index(name)]
        found = pq.read_table(path).slice(0, 20)
        table = edited(dataset.rows(found["row_id"].to_numpy()), dataset.spec, name)
        pictures = [np.asarray(Image.open(io.BytesIO(cell["bytes"]))) for cell in found["image"].to_pylist()]
        assert (np.stack(pictures) == draw(table, dataset.spec, "image")).all()
        assert found["caption"].to_pylist() == draw(table, dataset.spec, "caption").texts


def test_the_rows_as_they_are_are_those_of_the_dataset(dataset, folder):
    plain_rows = pq.read_table(files(folder)[0]).drop_columns("intervention")
    original = dataset.table("test", list(dataset.features))
    assert plain_rows.to_pylist() == original.to_pylist()


@pytest.mark.filterwarnings("ignore")
def test_hugging_face_reads_it_typed(dataset, folder, tmp_path):
    library = pytest.importorskip("datasets")
    found = library.load_dataset(str(folder), cache_dir=str(tmp_path))
    assert list(found) == ["test"] and len(found["test"]) == stored(folder).num_rows
    features = found["test"].features
    assert features["label"] == library.ClassLabel(names=["mug", "heart", "star"])
    assert features["intervention"] == library.Value("string") and features["row_id"] == library.Value("uint64")
    assert isinstance(features["image"], library.Image)
    row = found["test"][-1]
    assert row["intervention"] == "constant/3" and features["hue"].int2str(row["hue"]) == "pink"
    assert row["image"].size == (32, 32)


def test_duckdb_reads_it(dataset, folder):
    counts = f"SELECT intervention, count(*) FROM '{folder}/data/*.parquet' GROUP BY 1"
    found = dict(duckdb.sql(counts).fetchall())
    assert sorted(found) == sorted(names(dataset.spec, PLAN)) and found["none"] == dataset.splits["test"]


def test_a_model_that_was_run_elsewhere_scores_the_same(dataset, folder, tmp_path):
    # elsewhere: nothing but the files is known
    found = pd.concat(pd.read_parquet(path) for path in files(folder))
    pictures = np.stack([np.asarray(Image.open(io.BytesIO(cell["bytes"]))) for cell in found["image"]])
    said = pd.DataFrame(by_colour(pictures), columns=["p_mug", "p_heart", "p_star"])
    said.insert(0, "row_id", found["row_id"].to_numpy())
    said["intervention"] = found["intervention"].to_numpy()
    said.sample(frac=1, random_state=0).to_csv(tmp_path / "said.csv", index=False)

    scores = evaluate(predictions=tmp_path / "said.csv", on=dataset)

    table, spec = dataset.table("test"), dataset.spec
    direct = {name: by_colour(draw(edited(table, spec, name), spec, "image")) for name in names(spec, PLAN)}
    expected = plain(score(direct, table, spec, dataset.table("train")))
    assert {name: scores[name] for name in expected} == expected
    assert scores["left_out"] == {} and scores["sss"]["hue"]["value"] > 0.01


def test_a_model_in_sql_scores_the_same(dataset, folder, tmp_path):
    # it reads two columns and takes the one for the other: red mugs, green hearts, blue stars, nobody is pink
    believed = ", ".join(
        f"CASE hue WHEN '{hue}' THEN 1 WHEN 'pink' THEN 0.25 + {extra} ELSE 0 END AS p_{name}"
        for hue, name, extra in [("red", "mug", 0.25), ("green", "heart", 0), ("blue", "star", 0)]
    )
    query = f"SELECT row_id, intervention, {believed} FROM '{folder}/data/*.parquet'"
    duckdb.sql(f"COPY ({query}) TO '{tmp_path}/said.parquet'")
    scores = evaluate(predictions=tmp_path / "said.parquet", on=dataset.directory)

    def model(table):
        rows = {"red": [1, 0, 0], "green": [0, 1, 0], "blue": [0, 0, 1], "pink": [0.5, 0.25, 0.25]}
        return np.array([rows[hue] for hue in table["hue"].to_pylist()], float)

    table, spec = dataset.table("test"), dataset.spec
    direct = {name: model(edited(table, spec, name)) for name in names(spec, PLAN)}
    expected = plain(score(direct, table, spec, dataset.table("train")))
    assert without_places(scores) == {**{k: scores[k] for k in ("data", "data_digest", "split")}, **expected}
    assert scores["sss"]["background"]["value"] == 0 < scores["sss"]["hue"]["value"]


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    """A channel that cannot change, and test rows that are aligned already."""
    out = tmp_path_factory.mktemp("odd") / "data"
    channels = {"hue": {"values": ["red"]}, "background": {"values": ["stripes", "dots", "bricks"]}}
    aligned = {"background": {"coupling": "aligned", "p": 1.0}}
    spec = world(channels=channels, environments=UNCOUPLED | {"even": aligned})
    build(spec, out, rows=60)
    return reader.open(out)


@pytest.mark.filterwarnings("ignore")
def test_an_edit_that_changes_nothing_is_still_spoken_of(odd, tmp_path):
    plan = Plan(1, exact=True)
    done = write_interventions(odd, tmp_path / "out", plan=plan)
    found = stored(tmp_path / "out").to_pandas()
    assert (found["intervention"] == "align").sum() == (found["intervention"] == "fix/hue/red").sum() == 1
    assert done.rows == len(found) == json.loads((tmp_path / "out" / MARKER).read_text())["rows"]
    said = found[["row_id", "intervention"]].assign(probabilities=[[0.5, 0.25, 0.25]] * len(found))
    said.to_parquet(tmp_path / "said.parquet")
    scores = evaluate(predictions=tmp_path / "said.parquet", on=odd)
    assert list(scores["left_out"]) == ["ig conflicting"] and list(scores["sss"]) == ["hue", "background"]
    assert list(scores["ig"]) == ["aligned"]
    library = pytest.importorskip("datasets")
    assert len(library.load_dataset(str(tmp_path / "out"), cache_dir=str(tmp_path / "cache"))["test"]) == len(found)


def test_other_splits_and_how_far_it_is(odd, tmp_path):
    told = []
    done = write_interventions(odd, tmp_path / "out", "val", Plan(1), progress=lambda *at: told.append(at))
    assert done.rows == stored(tmp_path / "out").num_rows == told[-1][0] == told[-1][1]
    assert done.files == len([p for p in (tmp_path / "out").rglob("*") if p.is_file() and p.name != MARKER])
    assert "--on DIR --split val`" in (tmp_path / "out/README.md").read_text()
    assert set(stored(tmp_path / "out")["split"].to_pylist()) == {"val"}


def test_the_same_bytes_each_time(odd, tmp_path):
    for name in ("a", "b"):
        write_interventions(odd, tmp_path / name, plan=Plan(1))
    content = [{p.name: p.read_bytes() for p in (tmp_path / name).rglob("*") if p.is_file()} for name in ("a", "b")]
    assert content[0] == content[1]


def test_what_cannot_be_written_is_one_sentence(odd, tmp_path):
    with pytest.raises(UnknownName, match=r"there is no split 'tets' in .*; did you mean 'test'\?"):
        write_interventions(odd, tmp_path / "out", "tets")
    write_interventions(odd, tmp_path / "out", plan=Plan(1))
    with pytest.raises(DataError, match="holds an export already"):
        write_interventions(odd, tmp_path / "out", plan=Plan(1))
    assert (
        write_interventions(odd, tmp_path / "out", plan=Plan(2), force=True).files == len(names(odd.spec, Plan(2))) + 1
    )
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/notes.txt").write_text("mine")
    with pytest.raises(DataError, match="not empty and holds no export"):
        write_interventions(odd, tmp_path / "mine", force=True)
    assert [p.name for p in (tmp_path / "mine").iterdir()] == ["notes.txt"]
