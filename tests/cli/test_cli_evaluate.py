"""`spurgen evaluate` and `spurgen generate --interventions`: answers, JSON that scripts can count on, mistakes."""

import json

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

pytest.importorskip("torch")

from spurgen.evaluate import instruments
from spurgen.evaluate.interventions import Plan, names
from tests.cli.calls import run
from tests.evaluate.conftest import _tiny_model, built, dataset, trained  # noqa: F401


def shape(data):
    """What stands in a JSON document: keys and types; of a list, what its first entry is."""
    if isinstance(data, dict):
        return {name: shape(value) for name, value in data.items()}
    if isinstance(data, list):
        return [shape(data[0])] if data else []
    return type(data).__name__


SSS = {
    **dict.fromkeys(("value", "low", "high", "signed", "different"), "float"),
    "n": "int",
    "draws": "int",
    "exact": "bool",
    "attributes": "int",
    "aligned_share": "float",
}
IG = {"value": "float", "low": "float", "high": "float", "n": "int"}
GROUP = {"name": "str", "n": "int", "accuracy": "float", "low": "float", "high": "float", "train_rows": "int"}
METRICS = (
    *("accuracy", "balanced_accuracy", "worst_group_accuracy", "weighted_accuracy"),
    *("cross_entropy", "calibration_error", "auroc"),
)
SCORES = {
    "data": "str",
    "data_digest": "str",
    "split": "str",
    "rows": "int",
    "classes": ["str"],
    "metrics": dict.fromkeys(METRICS, "float"),
    "worst_group": {
        "value": "float",
        "group": "str",
        "n": "int",
        "low": "float",
        "high": "float",
        "too_small": [],
        "all_small": "bool",
    },
    "group_by": ["str"],
    "groups": [GROUP],
    "confusion_matrix": [["int"]],
    "sss": {"background": SSS, "hue": SSS},
    "ig": {"conflicting": IG, "aligned": IG},
    "left_out": {},
}
RUN = {"key": "str", "method": "str", "settings": {}, "model": "str", "seed": "int", "directory": "str"}


@pytest.fixture(scope="module")
def said(dataset, tmp_path_factory):  # noqa: F811
    """Somebody's predictions for every row and edit."""
    path = tmp_path_factory.mktemp("said") / "said.csv"
    ids, wanted = dataset.row_ids("test"), names(dataset.spec, Plan())
    p = np.random.default_rng(0).dirichlet([1, 1, 1], len(ids) * len(wanted))
    table = pd.DataFrame(p, columns=["p_mug", "p_heart", "p_star"])
    table.insert(0, "row_id", np.tile(ids, len(wanted)))
    table.assign(intervention=np.repeat(wanted, len(ids))).to_csv(path, index=False)
    return path


def test_the_json_of_a_run_keeps_its_keys_and_types(capsys, trained, built, tmp_path):  # noqa: F811
    code, out, err = run(capsys, "evaluate", trained, "--on", built, "--out", tmp_path, "--json")
    scores = json.loads(out)
    assert (code, err) == (0, "") and shape(scores) == SCORES | RUN
    assert scores["directory"] == str(tmp_path) and (tmp_path / "results.json").is_file()
    words = ("--exact", "--constants", "--draws", 1)
    code, out, _ = run(capsys, "evaluate", trained, "--on", built, "--out", tmp_path, "--json", *words)
    constants = {f"constant/{i}": IG for i in range(4)}
    assert shape(json.loads(out)) == SCORES | RUN | {"ig": SCORES["ig"] | constants}


def test_the_json_of_predictions_keeps_its_keys_and_types(capsys, said, built):  # noqa: F811
    code, out, err = run(capsys, "evaluate", "--predictions", said, "--on", built, "--json")
    assert (code, err) == (0, "") and shape(json.loads(out)) == SCORES | {"predictions": "str"}


def test_scores_are_shown_as_tables(capsys, trained, built, said, tmp_path):  # noqa: F811
    code, out, _ = run(capsys, "evaluate", trained, "--on", built, "--out", tmp_path)
    assert code == 0 and "erm, tiny, seed 0 on small/v1, test: 120 rows" in out and f"kept in {tmp_path}" in out
    assert all(word in out for word in ("worst-group accuracy", "SSS", "conflicting", "background:aligned,hue:not"))
    code, out, _ = run(capsys, "evaluate", "--predictions", said, "--on", built)
    assert code == 0 and f"{said} on small/v1, test: 120 rows" in out and "kept in" not in out
    assert run(capsys, "evaluate", "--predictions", said, "--on", built, "--quiet") == (0, "", "")


def test_what_is_left_out_is_said(capsys, trained, built, tmp_path):  # noqa: F811
    words = ("--group-by", "environment", "--out", tmp_path)
    code, out, _ = run(capsys, "evaluate", trained, "--on", built, *words)
    assert code == 0 and "left out: weighted_accuracy: no group has rows both here and in training" in out


def test_instruments_read_what_they_must(capsys, built):  # noqa: F811
    code, out, _ = run(capsys, "evaluate", "--instruments", "--on", built)
    assert code == 0 and "WRONG" not in out and "0.6 label + 0.4 hue" in out
    code, out, _ = run(capsys, "evaluate", "--instruments", "--on", built, "--split", "val", "--json")
    reading = {"instrument": "str", "score": "str", "expected": "float", "found": "float", "right": "bool"}
    assert code == 0 and shape(json.loads(out)) == [reading] and all(r["right"] for r in json.loads(out))


def test_an_instrument_that_reads_wrongly_ends_with_an_error(capsys, built, monkeypatch):  # noqa: F811
    def peeking(table, spec):
        return 0.99 * np.eye(3)[label(table, spec).argmax(1)] + 0.01 * instruments.channel_only("hue")(table, spec)

    label = instruments.label_only
    monkeypatch.setattr(instruments, "label_only", peeking)
    code, out, err = run(capsys, "evaluate", "--instruments", "--on", built)
    assert code == 1 and "WRONG" in out
    assert err.startswith("error: ") and err.count("\n") == 1 and "readings are wrong, so no score here can be" in err
    code, out, _ = run(capsys, "evaluate", "--instruments", "--on", built, "--json")
    assert code == 1 and not all(r["right"] for r in json.loads(out))


BROKEN = {
    "sum.csv": ("row_id,p_mug,p_heart,p_star\n0,1,1,1\n", "the probabilities of row 0 sum to 3; they must be"),
    "class.csv": ("row_id,p_mug,p_heart,p_stars\n0,1,0,0\n", "has no column 'p_star'; there must be one for every"),
    "edit.csv": ("row_id,p_mug,p_heart,p_star,intervention\n0,1,0,0,1\n", "an intervention is 1; interventions are"),
    "id.csv": ("p_mug,p_heart,p_star\n1,0,0\n", "has no column 'row_id'; it has p_mug, p_heart, p_star"),
    "few.csv": ("row_id,p_mug,p_heart,p_star\n480,1,0,0\n", "is missing (119 of 120 rows); predict every row"),
    "what.parquet": ("no such thing", "cannot be read as Parquet (a CSV file must be called .csv)"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_predictions_are_one_sentence(capsys, built, tmp_path, name):  # noqa: F811
    (tmp_path / name).write_text(BROKEN[name][0])
    code, out, err = run(capsys, "evaluate", "--predictions", tmp_path / name, "--on", built)
    assert (code, out) == (1, "") and BROKEN[name][1] in err and err.count("\n") == 1 and str(tmp_path / name) in err


MISTAKES = [
    ("evaluate --on DATA", 1, "say what to evaluate: a run, or a file of predictions"),
    ("evaluate RUN --predictions SAID --on DATA", 1, "a run and a file of predictions are given; give one of them"),
    ("evaluate RUN", 2, "Missing option '--on'"),
    ("evaluate RUN --on DATA --draws 0", 2, "0 is not in the range"),
    ("evaluate RUN --on DATA --split tets", 1, "; did you mean 'test'?"),
    ("evaluate RUN --on DATA --group-by hues", 1, "there is no column to group by 'hues'; did you mean 'hue'?"),
    ("evaluate RUN --on nowhere", 1, "nowhere"),
    ("evaluate nowhere --on DATA", 1, "nowhere holds no run"),
    ("evaluate --predictions nowhere.csv --on DATA", 1, "there is no file nowhere.csv"),
    ("evaluate --predictions DATA --on DATA", 1, "is a directory; give a CSV or Parquet file of predictions"),
    ("evaluate --predictions SAID --on DATA --split val", 1, "is not in the split (120 rows like it)"),
    ("evaluate --predictions SAID --on DATA --exact", 1, "leave out draws, exact and constants"),
    ("evaluate --predictions SAID --on DATA --draws 2", 1, "leave out draws, exact and constants"),
    ("evaluate RUN --instruments --on DATA", 1, "--instruments scores models of its own; give --on and --split only"),
    ("evaluate --instruments --on DATA --exact", 1, "--instruments scores models of its own"),
    ("evaluate --instruments --on DATA --split tets", 1, "; did you mean 'test'?"),
    ("generate DATA --interventions --out x --split tets", 1, "; did you mean 'test'?"),
    ("generate DATA --interventions --out x --rows 5", 1, "--rows does not go with --interventions"),
    ("generate DATA --interventions --out x --set a=1", 1, "--set does not go with --interventions"),
    ("generate quick/v1 --out x --draws 3", 1, "--draws goes with --interventions"),
    ("generate quick/v1 --out x --exact", 1, "--exact goes with --interventions"),
    ("generate nowhere --interventions --out x", 1, "nowhere"),
    ("generate DATA --out x", 1, "is a directory"),
]


@pytest.mark.parametrize(("words", "code", "sentence"), MISTAKES, ids=[words for words, _, _ in MISTAKES])
def test_mistakes_are_one_sentence(
    capsys, trained, built, said, tmp_path, monkeypatch, words, code, sentence  # noqa: F811
):  # fmt: skip
    monkeypatch.chdir(tmp_path)
    known = {"DATA": built, "RUN": trained, "SAID": said}
    got, out, err = run(capsys, *(known.get(word, word) for word in words.split()))
    assert (got, out) == (code, "") and sentence in err
    assert code == 2 or (err.startswith("error: ") and err.count("\n") == 1)
    assert not list(tmp_path.iterdir()), "a mistake leaves nothing behind"


def test_interventions_are_drawn_and_their_predictions_scored(capsys, built, dataset, tmp_path):  # noqa: F811
    edits = tmp_path / "edits"
    code, out, _ = run(capsys, "generate", built, "--interventions", "--out", edits, "--draws", 1)
    found = pq.read_table(edits / "data").to_pandas()
    files = len(list((edits / "data").iterdir()))
    assert code == 0 and f"{edits}: {len(found):,} rows in {files} files" in out
    assert f"spurgen evaluate --predictions FILE --on {built} --split test" in out
    assert files == len(names(dataset.spec, Plan(1))) == 6
    said = found[["row_id", "intervention"]].assign(probabilities=[[0.5, 0.25, 0.25]] * len(found))
    said.to_parquet(tmp_path / "said.parquet")
    code, out, _ = run(capsys, "evaluate", "--predictions", tmp_path / "said.parquet", "--on", built, "--json")
    scores = json.loads(out)
    assert code == 0 and scores["sss"]["hue"]["value"] == 0 and scores["left_out"] == {}
    code, _, err = run(capsys, "generate", built, "--interventions", "--out", edits, "--draws", 1)
    assert code == 1 and "--force" in err and err.count("\n") == 1
    words = ("--split", "val", "--exact", "--constants", "--force", "--json")
    code, out, _ = run(capsys, "generate", built, "--interventions", "--out", edits, *words)
    answer = json.loads(out)
    assert code == 0 and shape(answer) == {"directory": "str", "rows": "int", "files": "int", "bytes": "int"}
    assert answer["rows"] == pq.read_table(edits / "data").num_rows
