"""The contract file: every spelling of it says the same, and what is wrong with one is a sentence."""

from __future__ import annotations

import json

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spurgen.errors import DataError, SpurgenError, UnknownName
from spurgen.evaluate.predictions import read, softmax, write
from tests.evaluate.tables import quarters

CLASSES = ["mug", "heart", "star"]
IDS = np.array([40, 7, 2**40, 0, 12], np.uint64)
PLAIN, ALIGNED = quarters(5, 3, seed=1), quarters(5, 3, seed=2)
EDITS = ["none"] * 5 + ["align"] * 5
BOTH = np.concatenate([PLAIN, ALIGNED])


def frame(values=BOTH, prefix="p_", edits=EDITS):
    ids = np.tile(IDS, len(values) // len(IDS))
    columns = {prefix + name: values[:, i] for i, name in enumerate(CLASSES)}
    return pd.DataFrame({"row_id": ids, "intervention": edits, **columns})


def lists(values=BOTH, name="probabilities", edits=EDITS):
    return pa.table({"row_id": np.tile(IDS, len(values) // len(IDS)), "intervention": edits, name: values.tolist()})


def fixed_lists(path):
    flat = pa.FixedSizeListArray.from_arrays(pa.array(BOTH.ravel().astype(np.float16)), 3)
    pq.write_table(lists().set_column(2, "probabilities", flat), path)


def from_duckdb(path):
    text = "row_id, intervention, [p_mug, p_heart, p_star] AS probabilities"
    duckdb.from_df(frame()).query("t", f"COPY (SELECT {text} FROM t) TO '{path}'")


def decimals(path):
    text = "* REPLACE (p_mug::DECIMAL(4, 3) AS p_mug)"
    duckdb.from_df(frame()).query("t", f"COPY (SELECT {text} FROM t) TO '{path}'")


def with_logits(prefix):
    return frame(np.log(np.where(BOTH == 0, 1e-300, BOTH)) + 5, prefix)


def categories(path):
    frame().astype({"intervention": "category", "p_mug": "float32"}).to_parquet(path)


SPELLINGS = {
    "columns.csv": lambda path: frame().to_csv(path, index=False),
    "columns.CSV": lambda path: frame().to_csv(path),  # pandas adds a column without a name
    "columns.parquet": lambda path: frame().to_parquet(path),
    "categories.parquet": categories,
    "empty.csv": lambda path: frame(edits=[""] * 5 + ["align"] * 5).to_csv(path, index=False),
    "nothing.parquet": lambda path: frame(edits=[None] * 5 + ["align"] * 5).to_parquet(path),
    "lists.parquet": lambda path: pq.write_table(lists(), path),
    "lists.pq": lambda path: frame()[["row_id", "intervention"]].assign(probabilities=list(BOTH)).to_parquet(path),
    "lists.csv": lambda path: lists().to_pandas().assign(probabilities=BOTH.tolist()).to_csv(path, index=False),
    "fixed.parquet": fixed_lists,
    "duckdb.parquet": from_duckdb,
    "duckdb.csv": from_duckdb,
    "decimals.parquet": decimals,
    "logits.csv": lambda path: with_logits("logit_").to_csv(path, index=False),
    "logits.parquet": lambda path: pq.write_table(lists(with_logits("p_")[["p_" + c for c in CLASSES]].to_numpy(),
                                                        "logits"), path),
}  # fmt: skip


@pytest.mark.parametrize("name", SPELLINGS)
def test_every_spelling_says_the_same(tmp_path, name):
    SPELLINGS[name](tmp_path / name)
    found = read(tmp_path / name, CLASSES, IDS)
    assert list(found) == ["none", "align"]
    np.testing.assert_allclose(found["none"], PLAIN, atol=1e-12)
    np.testing.assert_allclose(found["align"], ALIGNED, atol=1e-12)


def test_without_interventions_it_speaks_of_the_rows_as_they_are(tmp_path):
    frame(PLAIN, edits="none").drop(columns="intervention").to_csv(tmp_path / "p.csv", index=False)
    found = read(tmp_path / "p.csv", CLASSES, IDS)
    assert list(found) == ["none"] and (found["none"] == PLAIN).all()


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_the_order_of_rows_and_classes_does_not_matter(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("order")
    order = data.draw(st.permutations(range(10)))
    columns = data.draw(st.permutations(list(frame().columns)))
    shuffled = frame().iloc[order][columns]
    suffix = data.draw(st.sampled_from(["csv", "parquet"]))
    path = folder / f"p.{suffix}"
    shuffled.to_csv(path, index=False) if suffix == "csv" else shuffled.to_parquet(path)
    found = read(path, CLASSES, IDS)
    assert (found["none"] == PLAIN).all() and (found["align"] == ALIGNED).all()


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 5), st.integers(1, 6), st.integers(0, 3), st.integers(0, 99))
def test_what_is_written_reads_back(tmp_path_factory, classes, rows, edits, seed):
    path = tmp_path_factory.mktemp("back") / "deeper" / "p.parquet"
    rng = np.random.default_rng(seed)
    names, ids = [f"c{i}" for i in range(classes)], rng.permutation(100)[:rows].astype(np.uint64)
    found = {
        name: softmax(9 * rng.normal(size=(rows, classes))) for name in ["none", "align", "fix/a/b", "x/0"][: edits + 1]
    }
    write(path, ids, found, names)
    order = rng.permutation(rows)
    again = read(path, names, ids[order])
    assert list(again) == list(found)
    for name in found:
        np.testing.assert_allclose(again[name], found[name][order], rtol=1e-14)


def test_a_label_held_all_but_impossible_reads_back_as_that(tmp_path):
    write(tmp_path / "p.parquet", IDS, {"none": softmax([[0.0, 200.0, 0.0]] * 5)}, CLASSES)
    found = read(tmp_path / "p.parquet", CLASSES, IDS)
    np.testing.assert_allclose(np.log(found["none"][:, 0]), -200)


def test_logits_are_scores_before_the_softmax(tmp_path):
    # e⁰ : e^ln 2 : e^ln 5 = 1 : 2 : 5, whatever is added to all; and 1000 does not overflow
    scores = np.array([[0, np.log(2), np.log(5)]] * 4 + [[1000, 0, 0]])
    pq.write_table(lists(scores, "logits", ["none"] * 5), tmp_path / "p.parquet")
    found = read(tmp_path / "p.parquet", CLASSES, IDS)["none"]
    np.testing.assert_allclose(found[0], [1 / 8, 2 / 8, 5 / 8])
    np.testing.assert_allclose(found[4], [1, 0, 0])


def test_rounded_probabilities_are_made_to_sum_to_one(tmp_path):
    frame(np.array([[0.333, 0.333, 0.333]] * 5), edits="none").to_csv(tmp_path / "p.csv", index=False)
    assert (read(tmp_path / "p.csv", CLASSES, IDS)["none"] == 1 / 3).all()


def test_only_rows_that_an_intervention_changes_are_needed(tmp_path):
    changed = np.array([True, False, True, False, False])
    kept = frame().iloc[[0, 1, 2, 3, 4, 5, 7]]
    kept.to_parquet(tmp_path / "p.parquet")
    found = read(tmp_path / "p.parquet", CLASSES, IDS, lambda name: changed)
    assert (found["align"] == np.where(changed[:, None], ALIGNED, PLAIN)).all()
    with pytest.raises(DataError, match=r"'align': row 0 is missing \(1 of 3 rows\); predict every row of"):
        read(tmp_path / "p.parquet", CLASSES, IDS, lambda name: np.array([1, 0, 1, 1, 0], bool))


def test_types_do_not_depend_on_the_first_megabyte(tmp_path):
    ids = np.arange(100_000, 190_000, dtype=np.uint64)
    plain = [f"{i},1,0,0,\n" for i in ids[1:]] + [f"{ids[0]},0.5,0.25,0.25,\n"]
    edited = [f"{i},0,1,0,align\n" for i in ids]
    (tmp_path / "p.csv").write_text("row_id,p_mug,p_heart,p_star,intervention\n" + "".join(plain + edited))
    found = read(tmp_path / "p.csv", CLASSES, ids)
    assert found["none"][0].tolist() == [0.5, 0.25, 0.25] and (found["align"][:, 1] == 1).all()


def columns(**changes):
    """Predictions for the rows as they are, with some columns replaced; None drops one."""
    known = {"row_id": IDS.tolist(), **{f"p_{c}": PLAIN[:, i].tolist() for i, c in enumerate(CLASSES)}}
    known |= changes
    return pa.table({name: values for name, values in known.items() if values is not None})


def listed(rows, name="probabilities"):
    return columns(p_mug=None, p_heart=None, p_star=None, **{name: rows})


def first(row):
    return listed([row, *PLAIN[1:].tolist()])


def twice(table, name):
    return pa.Table.from_arrays([*table.columns, table[name]], [*table.column_names, name])


BAD = {
    "missing": (columns().slice(1), "intervention 'none': row 40 is missing (1 of 5 rows); predict every row"),
    "two missing": (columns().slice(2), "row 7 is missing (2 of 5 rows)"),
    "none at all": (columns().slice(5), "row 0 is missing (5 of 5 rows)"),
    "twice": (pa.concat_tables([columns(), columns().slice(1, 2)]),
              "row 7 stands there twice (2 rows too many); keep one of each"),
    "unknown": (columns(row_id=[40, 7, 99, 0, 12]), "row 99 is not in the split (1 row like it)"),
    "sum": (first([0.5, 0.5, 0.5]), "row 40 sum to 1.5; they must be 0 or more and sum to 1 (1 row like it); scores"),
    "no sum": (listed([[0.0, 0.0, 0.0]] * 5), "row 40 sum to 0; they must be 0 or more and sum to 1 (5 rows like it)"),
    "negative": (first([1.5, -0.5, 0.0]), "row 40 hold -0.5; they must be 0 or more"),
    "nan": (first([np.nan, 0.5, 0.5]), "1 row with a number that is missing, NaN or infinite, the first of row 40"),
    "inf": (listed([[np.inf, 0.0, 0.0]] * 5, "logits"), "5 rows with a number that is missing, NaN or infinite"),
    "-inf": (listed([[-np.inf, 0.0, 0.0]] * 5, "logits"), "5 rows with a number that is missing, NaN or infinite"),
    "null": (columns(p_star=[None, *PLAIN[1:, 2]]), "1 row with a number that is missing"),
    "null in a list": (first([None, 0.5, 0.5]), "1 row with a number that is missing"),
    "no list": (first(None), "probabilities of entry 1 holds no list; there must be 3, one per class, in the order"),
    "too few": (first([0.5, 0.5]), "probabilities of entry 1 holds 2 numbers; there must be 3, one per class"),
    "too many": (listed([[0.25] * 4] * 5, "logits"), "logits of entry 1 holds 4 numbers; there must be 3"),
    "a struct": (listed([{"mug": 1.0}] * 5), "probabilities of entry 1 holds no list"),
    "words in lists": (listed([["a", "b", "c"]] * 5), "of entry 1 is ['a', 'b', 'c']; there must be numbers"),
    "lists in lists": (listed([[[1.0], [0.0], [0.0]]] * 5), "is [[1.0], [0.0], [0.0]]; there must be numbers"),
    "words": (columns(p_mug=["1", "0", "1", "hello", "0"]), "p_mug of entry 4 is 'hello'; there must be a number"),
    "lists in columns": (columns(p_mug=[[1.0]] * 5), "p_mug of entry 1 is [1.0]; there must be a number"),
    "dates": (columns(p_mug=np.zeros(5, "M8[s]")), "p_mug of entry 1 is datetime"),
    "both": (columns(logits=[[1.0, 0.0, 0.0]] * 5), "says it in two ways (p_mug and logits); keep one of them"),
    "a bit of both": (columns(logit_mug=[1.0] * 5), "says it in two ways (p_mug and logit_mug); keep one of them"),
    "no such class": (columns(p_stars=[0.0] * 5), "the column 'p_stars' is of no class; meant 'p_star'?"),
    "no class": (columns(p_star=None), "has no column 'p_star'; there must be one for every class"),
    "no logit": (columns(p_mug=None, p_heart=None, p_star=None, logit_mug=[0.0] * 5), "has no column 'logit_heart'"),
    "nothing": (columns(p_mug=None, p_heart=None, p_star=None), "has neither probabilities nor logits; write a list"),
    "no row_id": (columns(row_id=None), "has no column 'row_id'; it has p_mug, p_heart, p_star"),
    "negative id": (columns(row_id=[40, -7, 1, 0, 12]), "row_id of entry 2 is -7; row ids are whole"),
    "id in words": (columns(row_id=["40", "7", "abc", "0", "12"]), "row_id of entry 3 is 'abc'; row ids are whole"),
    "no id": (columns(row_id=[40, None, 1, 0, 12]), "row_id of entry 2 is None; row ids are whole numbers"),
    "id with a point": (columns(row_id=[40.0, 7.0, 1.5, 0, 12]), "row_id of entry 3 is 1.5; row ids are whole numbers"),
    "truth for an id": (columns(row_id=[True] * 5), "row_id of entry 1 is True; row ids are whole numbers"),
    "only edits": (columns(intervention=["align"] * 5), "has no predictions for the rows as they are; add them, with"),
    "numbered edits": (columns(intervention=[1] * 5), "an intervention is 1; interventions are names, such as 'align'"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_is_one_sentence(tmp_path, case):
    table, sentence = BAD[case]
    pq.write_table(table, tmp_path / "p.parquet")
    refused(tmp_path / "p.parquet", sentence)


def refused(path, sentence, changed=None):
    with pytest.raises(SpurgenError) as raised:
        read(path, CLASSES, IDS, changed)
    told = str(raised.value)
    assert sentence in told and "\n" not in told and str(path) in told


HEAD = "row_id,p_mug,p_heart,p_star"
FILES = {
    "nothing.csv": (b"", "cannot be read as CSV: Empty CSV file"),
    "head.csv": (f"{HEAD}\n".encode(), "row 0 is missing (5 of 5 rows)"),
    "broken.csv": (f"{HEAD}\n1,2\n".encode(), "cannot be read as CSV: CSV parse error: Expected 4 columns, got 2"),
    "words.csv": (f"{HEAD}\n40,a,0,0\n".encode(), "p_mug of entry 1 is 'a'; there must be a number"),
    "nan.csv": (f"{HEAD}\n40,nan,0,1\n".encode(), "1 row with a number that is missing, NaN or infinite"),
    "inf.csv": (f"{HEAD}\n40,inf,0,1\n".encode(), "1 row with a number that is missing, NaN or infinite"),
    "gap.csv": (f"{HEAD}\n40,,0,1\n".encode(), "1 row with a number that is missing, NaN or infinite"),
    "no_id.csv": (f"{HEAD}\n40,1,0,0\n,1,0,0\n".encode(), "row_id of entry 2 is None"),
    "spaces.csv": (b'row_id,probabilities\n40,"[0.5 0.25 0.25]"\n', "probabilities of entry 1 holds no list"),
    "two.csv": (b"row_id,row_id,p_mug,p_heart,p_star\n40,40,1,0,0\n", "has two columns 'row_id'; keep one of them"),
    "semicolons.csv": (f"{HEAD}\n".replace(",", ";").encode(), "; separate columns by commas, not by semicolons"),
    "latin.csv": (b"row_id,p_m\xfcg\n40,1\n", "cannot be read as CSV"),
    "wide.csv": (f"{HEAD}\n40,1,0,0\n".encode("utf-16"), "cannot be read as CSV"),
    "broken.parquet": (b"PAR1 and no more", "cannot be read as Parquet (a CSV file must be called .csv)"),
    "rows.txt": (f"{HEAD}\n40,1,0,0\n".encode(), "cannot be read as Parquet (a CSV file must be called .csv)"),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_what_is_wrong_with_a_file_is_one_sentence(tmp_path, name):
    content, sentence = FILES[name]
    (tmp_path / name).write_bytes(content)
    refused(tmp_path / name, sentence)


def test_two_columns_of_a_name_in_parquet_too(tmp_path):
    pq.write_table(twice(columns(), "p_mug"), tmp_path / "p.parquet")
    refused(tmp_path / "p.parquet", "p_mug")


def test_paths_that_hold_no_file(tmp_path):
    refused(tmp_path / "none.csv", "there is no file")
    refused(tmp_path, "is a directory; give a CSV or Parquet file of predictions")
    with pytest.raises(DataError, match=r"cannot be used .*; choose another path"):
        read("x" * 5000, CLASSES, IDS)


def test_an_unknown_intervention_is_told_with_the_file(tmp_path):
    def changed(name):
        raise UnknownName(f"there is no intervention {name!r}")

    frame().to_parquet(tmp_path / "p.parquet")
    refused(tmp_path / "p.parquet", "p.parquet: there is no intervention 'align'", changed)


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    (tmp_path / "p.parquet").mkdir()
    with pytest.raises(DataError, match="cannot write"):
        write(tmp_path / "p.parquet", IDS, {"none": PLAIN}, CLASSES)
    assert [p.name for p in tmp_path.iterdir()] == ["p.parquet"]


def test_the_file_is_for_everybody(tmp_path):
    write(tmp_path / "p.parquet", IDS, {"none": PLAIN, "align": ALIGNED}, CLASSES)
    found = duckdb.sql(
        f"SELECT * FROM '{tmp_path / 'p.parquet'}' WHERE intervention = 'align' AND row_id = 7"
    ).fetchall()
    assert [(i, name, list(values)) for i, name, values in found] == [(7, "align", ALIGNED[1].tolist())]
    assert json.loads(pd.read_parquet(tmp_path / "p.parquet")["row_id"].to_json(orient="values")) == IDS.tolist() * 2
