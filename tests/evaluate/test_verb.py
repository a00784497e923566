"""A run evaluated from end to end: its files, the same again, and what is refused before anything is predicted."""

from __future__ import annotations

import json

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch

import spurgen.evaluate as verb
from spurgen.errors import SpurgenError
from spurgen.evaluate import Plan, evaluate
from spurgen.evaluate.interventions import edited, names
from spurgen.evaluate.predict import of_run, predict
from spurgen.evaluate.predictions import softmax
from spurgen.load.rows import open_rows
from spurgen.render import draw
from spurgen.spec import World
from spurgen.store.writer import build
from spurgen.train import load_run, train
from tests.evaluate.tables import UNCOUPLED, strict_json, without_places
from tests.worlds import small

PLAN = Plan(2, False, True)


def close(one, two):
    """Two scores that are equal but for rounding."""
    if isinstance(one, dict):
        assert one.keys() == two.keys()
        return all(close(one[name], two[name]) for name in one)
    if isinstance(one, list):
        return len(one) == len(two) and all(map(close, one, two))
    return one == (pytest.approx(two, rel=1e-6, abs=1e-9) if isinstance(two, float) else two)


@pytest.fixture(scope="module")
def scored(trained, dataset, tmp_path_factory):
    """(scores of the run, where they are kept)."""
    out = tmp_path_factory.mktemp("scored") / "results"
    return evaluate(trained, dataset, plan=PLAN, out=out), out


def test_scores_are_kept_as_they_are_returned(scored):
    scores, out = scored
    assert sorted(p.name for p in out.iterdir()) == ["predictions.parquet", "results.json", "results.parquet"]
    kept = json.loads((out / "results.json").read_text())
    assert strict_json(scores) == scores and {**kept, "directory": str(out)} == scores
    (row,) = pq.read_table(out / "results.parquet").to_pylist()
    assert row["method"] == "erm" and row["model"] == "tiny" and row["seed"] == 0 and row["settings"] == "{}"
    assert row["sss_hue"] == scores["sss"]["hue"]["value"] and row["accuracy"] == scores["metrics"]["accuracy"]
    assert all(isinstance(value, int | float | str) for value in row.values())


def test_the_model_has_learnt_and_leans_on_something(scored):
    scores, _ = scored
    assert scores["metrics"]["accuracy"] > 0.4 and scores["rows"] == 120
    assert max(s["value"] for s in scores["sss"].values()) > 0.02
    assert scores["left_out"] == {} and len(scores["groups"]) == 4


def test_its_predictions_score_the_same_again(scored, dataset):
    scores, out = scored
    again = evaluate(predictions=out / "predictions.parquet", on=dataset)
    assert without_places(again).keys() == without_places(scores).keys()
    assert close(without_places(again), without_places(scores))


def test_predictions_of_an_overconfident_model_score_the_same_again(trained, dataset, tmp_path, monkeypatch):
    run = load_run(trained)
    forward = run.learner.forward
    monkeypatch.setattr(run.learner, "forward", lambda inputs: 300 * forward(inputs))
    scores = evaluate(run, dataset, plan=Plan(1), out=tmp_path)
    assert scores["metrics"]["cross_entropy"] > 5
    again = evaluate(predictions=tmp_path / "predictions.parquet", on=dataset)
    assert close(without_places(again), without_places(scores))


def test_twice_gives_the_same_bytes(trained, built, tmp_path):
    for name in ("a", "b"):
        evaluate(trained, built, plan=PLAN, out=tmp_path / name)
    for file in ("predictions.parquet", "results.json", "results.parquet"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_predictions_are_what_the_network_says_of_every_edited_row(trained, dataset):

    run = load_run(trained)
    rows = open_rows(dataset, "test", target="label")
    told = []
    found = predict(of_run(run), rows, names(dataset.spec, PLAN), lambda *at: told.append(at))
    assert told[-1] == (len(found), len(found))
    for name in names(dataset.spec, PLAN):
        pictures = torch.from_numpy(draw(edited(rows.table, dataset.spec, name), dataset.spec, "image"))
        with torch.no_grad():
            scores = run.learner(run.learner.net.inputs(pictures.permute(0, 3, 1, 2)))
        np.testing.assert_allclose(found[name], softmax(scores.numpy()), atol=1e-5)


def test_results_go_into_the_run_unless_said_otherwise(trained, built, dataset, tmp_path):
    scores = evaluate(load_run(trained), built, split="val", plan=Plan(1))
    where = trained / "evaluate" / f"small-v1-val-{dataset.digest[:8]}-1-draws"
    assert scores["directory"] == str(where) and (where / "results.json").is_file() and scores["split"] == "val"
    kept = (where / "results.json").read_bytes()
    again = evaluate(trained, built, split="val", plan=Plan(1), group_by=["label", "hue:aligned"])
    assert again["directory"] == f"{where}-by-label-hue-aligned" and (where / "results.json").read_bytes() == kept
    unkept = train(built, model="tiny", options={"steps": 2, "batch_size": 32})
    assert "directory" not in evaluate(unkept, dataset, plan=Plan(1))


def test_the_package_is_the_verb(trained, dataset, tmp_path):
    assert verb(trained, dataset, plan=Plan(1), out=tmp_path)["rows"] == 120  # type: ignore[operator]


def test_other_groups_are_scored(trained, dataset, tmp_path):
    scores = evaluate(trained, dataset, plan=Plan(1), group_by="label", out=tmp_path)
    assert [g["name"] for g in scores["groups"]] == ["label=mug", "label=heart", "label=star"]
    scores = evaluate(trained, dataset, plan=Plan(1), group_by="environment", out=tmp_path)
    assert scores["metrics"]["weighted_accuracy"] is None and scores["left_out"].keys() == {"weighted_accuracy"}
    (row,) = pq.read_table(tmp_path / "results.parquet").to_pylist()
    assert np.isnan(row["weighted_accuracy"])


def other(folder, **changes):
    """Where a dataset of 60 rows of another world lies."""
    out = folder / f"data{len(list(folder.iterdir()))}"
    build(World.from_dict(small(**changes)), out, rows=60)
    return out


def test_worlds_without_channels_and_small_ones_are_scored(trained, tmp_path):
    plain = other(tmp_path, channels={}, environments=UNCOUPLED)
    scores = evaluate(trained, plain, out=tmp_path / "plain")
    assert scores["left_out"] == {"ig": "small/v1 has no channels"} and scores["sss"] == {}
    few = other(tmp_path, splits__test__share=0.1, splits__train__share=0.9)
    scores = evaluate(trained, few, plan=Plan(1), out=tmp_path / "few")
    assert scores["rows"] == 6 and scores["worst_group"]["all_small"] and scores["worst_group"]["too_small"] == []
    assert strict_json(scores) == scores


def test_other_data_is_weighted_by_what_the_run_was_trained_on(trained, tmp_path):
    data = other(tmp_path, splits={"test": {"share": 1.0, "environments": ["even"]}})
    scores = evaluate(trained, data, plan=Plan(1), out=tmp_path / "out")
    assert {g["name"]: g["train_rows"] for g in scores["groups"]} == load_run(trained).about["task"]["groups"]
    assert scores["metrics"]["weighted_accuracy"] is not None


def test_any_function_is_scored_like_the_run_it_stands_for(trained, dataset):
    run = load_run(trained)
    asked = []

    def mine(pictures):
        asked.append(len(pictures))
        assert pictures.dtype == np.uint8 and pictures.shape[1:] == (32, 32, 3)
        with torch.no_grad():
            raw = torch.from_numpy(pictures.copy()).permute(0, 3, 1, 2)
            return run.learner(run.learner.net.inputs(raw)).softmax(1)

    scores, expected = evaluate(mine, dataset, plan=PLAN), evaluate(run, dataset, plan=PLAN)
    assert max(asked) <= 256 and "mine" in scores["model"] and "directory" not in scores
    for channel, found in expected["sss"].items():
        assert scores["sss"][channel]["value"] == pytest.approx(found["value"], abs=1e-5)
    assert scores["metrics"]["accuracy"] == expected["metrics"]["accuracy"]
    texts = evaluate(lambda texts: [[float("mug" in t), float("mug" not in t), 0] for t in texts], dataset,
                     plan=Plan(1), modality="caption")  # fmt: skip
    assert 0.3 < texts["metrics"]["accuracy"] < 1


def test_functions_that_answer_badly_are_one_sentence(dataset):
    n = 3
    refused("shape (2, 2); give (rows, 3)", lambda x: np.full((2, 2), 0.5), dataset)
    refused("do not sum to 1", lambda x: np.ones((len(x), n)), dataset)
    refused("for 120 rows; give one for each", lambda x: np.full((2, n), 1 / n), dataset)
    refused("not finite", lambda x: np.full((len(x), n), np.nan), dataset)
    refused("a run and a file know it already", "run", dataset, modality="image")


def refused(sentence, *args, **how):
    with pytest.raises(SpurgenError) as raised:
        evaluate(*args, **how)
    assert sentence in str(raised.value) and "\n" not in str(raised.value)


def test_what_was_not_meant_is_one_sentence(trained, built, scored, tmp_path):
    said = scored[1] / "predictions.parquet"
    refused("say what to evaluate: a run, or a file of predictions", on=built)
    refused("a run and a file of predictions are given; give one of them", trained, built, said)
    refused("say which dataset to evaluate on (--on DIR)", trained)
    refused("leave device out", on=built, predictions=said, device="cpu")
    refused("is in the dataset itself", trained, built, out=built / "scores")
    refused("run is int; give a run, its directory, or a function", 3, built)
    refused("give a Plan, such as", trained, built, plan={"draws": 2})
    refused("there is nothing to group by", trained, built, group_by="")
    refused("the model gave no table of numbers", lambda x: [["a"] * 3] * len(x), built)
    refused("leave out draws, exact and constants", on=built, predictions=said, plan=PLAN)
    refused("; did you mean 'test'?", trained, built, split="tets")
    refused("is not in the split (120 rows like it)", on=built, predictions=said, split="val")
    refused("did you mean 'hue'?", trained, built, group_by="hues")
    refused("holds no run", tmp_path, built)
    refused("nowhere", trained, tmp_path / "nowhere")
    refused("draws is 0; it must be a whole number", trained, built, plan=Plan(0))
    (tmp_path / "file").write_text("mine")
    refused("is a file; choose a directory for the results", trained, built, out=tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_interventions_of_a_file_are_checked_by_name(built, dataset, tmp_path):
    ids = dataset.row_ids("test").tolist()
    for name, sentence in [
        ("shufle/hue/0", "there is no intervention 'shufle/hue/0'; did you mean 'shuffle/hue/0'?"),
        ("fix/hue/reed", "there is no value of channel 'hue', 'reed'; did you mean 'red'?"),
        ("shuffle/hue/00", "it must be a plain number"),
    ]:
        lines = [f"{i},{edit},1,0,0" for edit in ("none", name) for i in ids]
        (tmp_path / "p.csv").write_text("\n".join(["row_id,intervention,p_mug,p_heart,p_star", *lines]) + "\n")
        refused(f"{tmp_path}/p.csv: ", on=built, predictions=tmp_path / "p.csv")
        refused(sentence, on=built, predictions=tmp_path / "p.csv")


def test_a_run_is_refused_what_it_cannot_read(trained, tmp_path):
    star = other(tmp_path, classes=["mug", "star", "heart"])
    refused("the run knows the classes mug, heart, star, and small/v1 has mug, star, heart; evaluate on", trained, star)
    refused("trained on pictures of 32 px, and those of small/v1 have 48 px; evaluate on a dataset of the same size",
            trained, other(tmp_path, image={"size_px": 48}))  # fmt: skip
    without = {name: part for name, part in small(modalities=["caption"]).items() if name != "image"}
    build(World.from_dict(without), tmp_path / "captions", rows=60)
    refused("/captions; known: caption", trained, tmp_path / "captions")
