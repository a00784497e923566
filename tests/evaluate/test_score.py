"""From predictions to scores: what is there, what is left out and why, and that order never matters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spurgen.evaluate.instruments import channel_only, predictions
from spurgen.evaluate.interventions import NONE, Plan, names
from spurgen.evaluate.score import as_row, plain, score
from tests.evaluate.tables import UNCOUPLED, by_hand, one_channel, quarters, split_of, strict_json
from tests.worlds import world

SPEC = world()
ROWS, TRAIN = split_of(SPEC, "test"), split_of(SPEC, "train")


def guesses(plan=None, table=ROWS, spec=SPEC, seed=0):
    """Some probabilities for every edit."""
    wanted = names(spec, plan or Plan())
    return {name: quarters(table.num_rows, len(spec.classes), seed + i) for i, name in enumerate(wanted)}


def test_all_scores_are_there_and_are_plain_data():
    scores = plain(score(guesses(Plan(2, False, True)), ROWS, SPEC, TRAIN))
    assert strict_json(scores) == scores and scores["left_out"] == {}
    assert list(scores["sss"]) == ["background", "hue"]
    assert list(scores["ig"]) == ["conflicting", "aligned", *(f"constant/{i}" for i in range(4))]
    assert (
        scores["rows"] == ROWS.num_rows == sum(g["n"] for g in scores["groups"]) == np.sum(scores["confusion_matrix"])
    )
    assert sum(g["train_rows"] for g in scores["groups"]) == TRAIN.num_rows
    assert scores["metrics"]["worst_group_accuracy"] == scores["worst_group"]["value"]


@settings(max_examples=10, deadline=None)
@given(st.randoms(use_true_random=False))
def test_neither_the_order_of_edits_nor_that_of_rows_matters(random):
    found = guesses(Plan(3, False, True))
    expected = score(found, ROWS, SPEC, TRAIN)
    edits = random.sample(list(found), len(found))
    assert plain(score({name: found[name] for name in edits}, ROWS, SPEC, TRAIN)) == plain(expected)
    order = random.sample(range(ROWS.num_rows), ROWS.num_rows)
    again = score({name: p[order] for name, p in found.items()}, ROWS.take(order), SPEC, TRAIN)
    assert again["metrics"] == pytest.approx(expected["metrics"]) and again["groups"] == expected["groups"]
    for kind in ("sss", "ig"):
        for name, one in expected[kind].items():
            assert again[kind][name]["value"] == pytest.approx(one["value"])


def test_what_was_not_predicted_is_left_out_by_name():
    scores = score({NONE: quarters(ROWS.num_rows, 3)}, ROWS, SPEC, TRAIN)
    assert scores["sss"] == scores["ig"] == {}
    assert scores["left_out"] == {
        "sss background": "no predictions of shuffle/background/0, nor of fix/background for every value",
        "sss hue": "no predictions of shuffle/hue/0, nor of fix/hue for every value",
        "ig": "no predictions of randomise/0",
    }
    found = guesses(Plan(1, exact=True))
    del found["fix/hue/pink"], found["align"], found["conflict/0"]
    scores = score(found, ROWS, SPEC, TRAIN)
    assert list(scores["sss"]) == ["background"] and scores["ig"] == {}
    assert scores["left_out"] == {
        "sss hue": "no predictions of shuffle/hue/0, nor of fix/hue for every value",
        "ig conflicting": "no predictions of conflict/0",
        "ig aligned": "no predictions of align",
    }


def test_every_attribute_goes_before_random_draws():
    found = guesses(Plan(2)) | guesses(Plan(2, exact=True))
    scores = score(found, ROWS, SPEC, TRAIN)
    assert [(s["exact"], s["draws"]) for s in scores["sss"].values()] == [(True, 3), (True, 4)]


def test_a_world_without_channels_has_the_scores_that_need_none():
    spec = world(channels={}, environments=UNCOUPLED)
    rows = split_of(spec, "test")
    scores = plain(score({NONE: quarters(rows.num_rows, 3)}, rows, spec, split_of(spec, "train")))
    assert scores["sss"] == scores["ig"] == {} and scores["left_out"] == {"ig": "small/v1 has no channels"}
    assert [g["name"] for g in scores["groups"]] == ["all"] and scores["group_by"] == []
    assert scores["metrics"]["worst_group_accuracy"] == scores["metrics"]["accuracy"]


def test_a_world_that_cannot_conflict_says_so():
    spec = world(channels__hue__aligned={"mug": "red", "heart": "red", "star": "red"})
    rows = split_of(spec, "test")
    scores = score(guesses(None, rows, spec), rows, spec, split_of(spec, "train"))
    assert list(scores["ig"]) == ["aligned"]
    reason = "all classes share the aligned attribute of hue, so nothing conflicts"
    assert scores["left_out"] == {"ig conflicting": reason}


def test_rows_of_one_class_only():
    rows = ROWS.filter([label == "star" for label in ROWS["label"].to_pylist()])
    scores = plain(score(guesses(None, rows), rows, SPEC, TRAIN))
    assert scores["metrics"]["auroc"] is None and scores["left_out"] == {"auroc": "all rows are of one class"}
    assert scores["metrics"]["balanced_accuracy"] == pytest.approx(scores["metrics"]["accuracy"])
    assert all(value is not None for name, value in scores["metrics"].items() if name != "auroc")
    assert strict_json(scores) == scores


def test_a_channel_of_one_value_has_no_other_value():
    spec = world(channels={"hue": {"values": ["red"]}}, environments=UNCOUPLED)
    rows = split_of(spec, "test")
    scores = plain(score(predictions(channel_only("hue"), rows, spec, Plan()), rows, spec, split_of(spec, "train")))
    assert scores["sss"]["hue"]["value"] == 0 and scores["sss"]["hue"]["different"] is None


def of_groups(scores):
    return {g["name"]: (g["n"], g["train_rows"], g["accuracy"]) for g in scores["groups"]}


def test_groups_that_are_empty_here_or_in_training():
    spec = one_channel()
    test = by_hand(*[("mug", "red")] * 3, *[("mug", "green")])
    only_aligned, only_others = by_hand(*[("heart", "green")] * 7), by_hand(*[("heart", "red")] * 7)
    right = {NONE: np.eye(2)[[0, 0, 1, 0]]}  # aligned: 2 of 3, not: 1 of 1
    # only what was trained on weighs anything
    scores = plain(score(right, test, spec, only_aligned))
    assert of_groups(scores) == {"hue:aligned": (3, 7, 2 / 3), "hue:not": (1, 0, 1.0)}
    assert scores["metrics"]["weighted_accuracy"] == pytest.approx(2 / 3)
    assert plain(score(right, test, spec, only_others))["metrics"]["weighted_accuracy"] == 1
    # a group without rows here has no accuracy, is never the worst, and is shown
    scores = plain(score({NONE: right[NONE][:3]}, test.slice(0, 3), spec, only_others))
    assert of_groups(scores) == {"hue:aligned": (3, 0, 2 / 3), "hue:not": (0, 7, None)}
    assert scores["worst_group"]["group"] == "hue:aligned"
    assert scores["metrics"]["weighted_accuracy"] is None
    assert scores["left_out"]["weighted_accuracy"] == "no group has rows both here and in training"
    assert strict_json(scores) == scores


def test_without_training_rows_nothing_is_weighted_by_them():
    scores = plain(score(guesses(), ROWS, SPEC))
    assert {g["train_rows"] for g in scores["groups"]} == {0}
    assert scores["metrics"]["weighted_accuracy"] is None and "weighted_accuracy" in scores["left_out"]


def test_groups_under_ten_rows_neither_win_nor_vanish():
    spec = one_channel()
    rows = by_hand(*[("mug", "red")] * 12, *[("mug", "green")] * 9)
    found = {NONE: np.eye(2)[[0] * 11 + [1] + [1] * 9]}  # aligned: 11 of 12; not: 0 of 9
    worst = score(found, rows, spec)["worst_group"]
    assert (worst["group"], worst["value"], worst["all_small"]) == ("hue:aligned", 11 / 12, False)
    assert worst["too_small"] == ("hue:not",)
    # with fewer than ten everywhere, all that have rows are considered
    few = score({NONE: found[NONE][[0, *range(12, 21)][:9]]}, rows.take([0, *range(12, 20)]), spec)["worst_group"]
    assert (few["group"], few["value"], few["all_small"], few["too_small"]) == ("hue:not", 0.0, True, ())


def test_other_groups_can_be_asked_for():
    scores = score(guesses(), ROWS, SPEC, TRAIN, "label,hue:aligned")
    assert scores["group_by"] == ["label", "hue:aligned"] and len(scores["groups"]) == 6
    # no row here is of an environment of training, so nothing can be weighted: the rest is scored
    scores = score(guesses(), ROWS, SPEC, TRAIN, ["environment"])
    assert of_groups(scores)["environment=even"][:2] == (ROWS.num_rows, 0)
    assert list(scores["left_out"]) == ["weighted_accuracy"] and len(scores["sss"]) == 2


def test_noise_is_scored_by_what_rows_are_and_show():
    spec = world(noise={"label": 0.5, "signal": {"hue": 0.5}})
    rows = split_of(spec, "test")
    found = predictions(channel_only("hue"), rows, spec, Plan(exact=True))
    scores = score(found, rows, spec, split_of(spec, "train"))
    labels = np.array([spec.classes.index(x) for x in rows["label"].to_pylist()])
    assert scores["metrics"]["accuracy"] == (found[NONE].argmax(1) == labels).mean()
    assert scores["sss"]["background"]["value"] == 0 < scores["sss"]["hue"]["value"]


def test_a_row_of_a_ledger_is_flat():
    scores = score(guesses(Plan(1, False, True)), ROWS, SPEC, TRAIN)
    row = as_row(scores, {"seed": 3})
    assert {"seed", "accuracy", "worst_group", "sss_hue", "ig_conflicting", "ig_constant_3"} <= set(row)
    assert all(isinstance(value, int | float | str) for value in row.values())


def test_data_for_json_has_no_nan_and_no_tuples():
    given = {1: (np.float32(0.5), np.nan, float("inf")), "a": [np.int64(3), np.True_, None, "x"], "b": {"c": -np.inf}}
    found = plain(given)
    assert found == {"1": [0.5, None, None], "a": [3, True, None, "x"], "b": {"c": None}}
    assert type(found["1"][0]) is float and type(found["a"][0]) is int and strict_json(found) == found
