"""Models whose scores follow by arithmetic: the scores must be those, and a wrong score must be found out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spurgen.evaluate import instruments
from spurgen.evaluate.instruments import channel_only, check, label_only, mixture, predictions
from spurgen.evaluate.interventions import Plan
from spurgen.evaluate.score import score
from spurgen.latents.sample import sample
from spurgen.metrics.sss import sss
from spurgen.spec import load, presets
from tests.evaluate.tables import UNCOUPLED, by_hand, one_channel
from tests.worlds import world

# Mugs belong to red, hearts to green, nobody to blue. What a model that looks at the hue alone gives the true class:
#              as it is   on red   green   blue       |as it is − each|     mean     signed
HAND = by_hand(
    ("mug", "red"),  # 1       1       0      ½           0, 1, ½             ½        ½
    ("mug", "green"),  # 0     1       0      ½           1, 0, ½             ½       −½
    ("heart", "green"),  # 1   0       1      ½           1, 0, ½             ½        ½
    ("heart", "blue"),  # ½    0       1      ½           ½, ½, 0             ⅓        0
)
#  SSS = (½ + ½ + ½ + ⅓) / 4 = 11/24; signed = (½ − ½ + ½ + 0) / 4 = ⅛;
#  over other values only: (1½ + 1½ + 1½ + 1) / 8 = 11/16. Rows 1 and 3 are aligned: ½.
#  Accuracy: rows 1 and 3 are right, row 2 is wrong, row 4 is a tie, and the first class wins it: wrong. So aligned
#  rows are all right, the others all wrong.


def found_by(model, spec):
    """Predictions of HAND for every hue in turn, which is also taken for the draws of `randomise`."""
    found = predictions(model, HAND, spec, Plan(1, exact=True))
    drawn = {f"randomise/{i}": found[f"fix/hue/{hue}"] for i, hue in enumerate(spec.values("hue"))}
    return found | drawn


def test_by_hand_a_model_that_sees_the_channel_only():
    spec = one_channel()
    scores = score(found_by(channel_only("hue"), spec), HAND, spec)
    found = scores["sss"]["hue"]
    assert found["value"] == pytest.approx(11 / 24) and found["signed"] == pytest.approx(1 / 8)
    assert found["different"] == pytest.approx(11 / 16) and found["aligned_share"] == 0.5
    assert found["exact"] and found["attributes"] == found["draws"] == 3
    assert {g["name"]: g["accuracy"] for g in scores["groups"]} == {"hue:aligned": 1.0, "hue:not": 0.0}
    assert scores["metrics"]["worst_group_accuracy"] == 0 and scores["metrics"]["accuracy"] == 0.5
    assert scores["worst_group"]["group"] == "hue:not" and scores["worst_group"]["all_small"]


def test_by_hand_a_model_that_believes_the_label_with_three_fifths():
    spec = one_channel()
    scores = score(found_by(mixture("hue", 0.6), spec), HAND, spec)
    assert scores["sss"]["hue"]["value"] == pytest.approx(0.4 * 11 / 24)
    assert scores["metrics"]["worst_group_accuracy"] == 1
    # the true class gets .6 where the hue is another's, 1 where it is its own, .8 where it is nobody's;
    # −ln .6 = .510826, −ln .8 = .223144. At random, each a third of the time: (.510826 + 0 + .223144) / 3 = .244656
    # conflicting: .510826 − .244656 = .266170 (hearts on red, mugs on green); aligned: 0 − .244656
    assert scores["ig"]["conflicting"]["value"] == pytest.approx(0.266170, abs=1e-6)
    assert scores["ig"]["aligned"]["value"] == pytest.approx(-0.244656, abs=1e-6)


def test_by_hand_a_model_that_sees_the_label_only():
    spec = one_channel()
    scores = score(found_by(label_only, spec), HAND, spec)
    assert (
        scores["sss"]["hue"]["value"] == scores["ig"]["conflicting"]["value"] == scores["ig"]["aligned"]["value"] == 0
    )
    assert scores["metrics"]["worst_group_accuracy"] == scores["metrics"]["accuracy"] == 1


def none_wrong(spec, rows):
    readings = check(sample(spec, rows), spec)
    assert [r for r in readings if not r.right] == []
    return readings


@pytest.mark.parametrize("preset", presets())
def test_every_preset_scores_what_arithmetic_says(preset, monkeypatch):
    for metric in ("sss", "ig"):  # intervals take most of the time, and are no readings
        monkeypatch.setattr(f"spurgen.metrics.{metric}.interval_of_mean", lambda values, seed: (0.0, 0.0))
    spec = load(preset)
    readings = none_wrong(spec, 400)
    for channel in spec.channels:
        own = [r for r in readings if r.instrument == channel and r.score.startswith("sss")]
        assert all((r.found > 0.1) == (r.score == f"sss {channel}") for r in own)
        assert all(r.found == 0 for r in own if r.score != f"sss {channel}")


WORLDS = {
    "one channel": one_channel(),
    "unequal classes": world(class_shares={"mug": 9.0, "heart": 3.0, "star": 0.5}),
    "a shared attribute": world(channels__hue__aligned={"mug": "red", "heart": "red", "star": "blue"}),
    "one attribute for all": world(channels__hue__aligned={"mug": "red", "heart": "red", "star": "red"}),
    "fewer values than classes": world(
        channels={"hue": {"values": ["red", "green"]}, "background": {"values": ["dots", "bricks"]}},
        environments=UNCOUPLED,
    ),
    "one value": world(channels={"hue": {"values": ["red"]}}, environments=UNCOUPLED),
    "no channels": world(channels={}, environments=UNCOUPLED),
    "noise": world(noise={"core": 0.3, "label": 0.3, "signal": {"hue": 0.5}, "annotation": {"hue": 0.5}}),
}


@pytest.mark.parametrize("name", WORLDS)
def test_odd_worlds_score_what_arithmetic_says(name):
    readings = none_wrong(WORLDS[name], 300)
    of_label = {r.score: r.found for r in readings if r.instrument == "label"}
    assert of_label.pop("worst_group_accuracy") == 1
    assert set(of_label.values()) <= {0.0}


@settings(max_examples=15, deadline=None)
@given(st.integers(2, 4), st.lists(st.integers(1, 5), min_size=1, max_size=2), st.integers(0, 99), st.data())
def test_any_world_scores_what_arithmetic_says(classes, sizes, seed, data):
    names = ["mug", "heart", "star", "torus"][:classes]
    channels = {}
    for trait, size in zip(["saturation", "object_scale"], sizes, strict=False):
        values = {f"v{i}": {trait: 0.6 + 0.1 * i} for i in range(size)}
        aligned = {name: f"v{data.draw(st.integers(0, size - 1))}" for name in names}
        channels[f"{trait}_level"] = {"values": values, "aligned": aligned}
    spec = world(classes=names, channels=channels, environments=UNCOUPLED)
    rows = data.draw(st.sampled_from([7, 60]))  # 7: no group is large
    assert [r for r in check(sample(spec, 120, seed).slice(0, rows), spec) if not r.right] == []


@pytest.mark.parametrize("draws", [1, 2, 8])
def test_random_draws_come_close_to_the_exact_score(draws):
    spec = world(rows=2000)
    rows, model = sample(spec, seed=3), mixture("background", 0.3)
    exact = score(predictions(model, rows, spec, Plan(1, exact=True)), rows, spec)["sss"]["background"]
    drawn = score(predictions(model, rows, spec, Plan(draws)), rows, spec)["sss"]["background"]
    assert exact["exact"] and not drawn["exact"] and drawn["draws"] == draws
    assert drawn["low"] <= exact["value"] <= drawn["high"]
    # a row moves by 0 or .7, so its SD is at most .35
    assert 0 < abs(drawn["value"] - exact["value"]) < 4 * 0.35 / np.sqrt(2000 * draws)
    assert drawn["different"] == pytest.approx(exact["different"], abs=0.03)


def test_a_metric_that_is_slightly_wrong_is_found_out(monkeypatch):
    def wrong(before, after, changed=None, seed=0):
        return sss(before, after[1:], changed[1:], seed)  # forgets the first attribute

    monkeypatch.setattr("spurgen.evaluate.score.sss", wrong)
    spec = world()
    readings = check(sample(spec), spec)
    assert {r.score for r in readings if not r.right} == {"sss background", "sss hue"}


def test_edits_that_leave_rows_as_they_are_are_found_out(monkeypatch):
    monkeypatch.setattr("spurgen.latents.intervene.align", lambda table, spec: table)
    spec = world()
    assert not any(r.score.startswith("sss") for r in check(sample(spec), spec) if not r.right)
    monkeypatch.setattr("spurgen.latents.intervene.fix", lambda table, spec, channel, value: table)
    assert {"sss hue", "sss background"} <= {r.score for r in check(sample(spec), spec) if not r.right}


def test_a_model_that_peeks_is_found_out(monkeypatch):
    def peeking(table, spec):
        return 0.999 * label_only(table, spec) + 0.001 * channel_only("hue")(table, spec)

    monkeypatch.setattr(instruments, "label_only", peeking)
    spec = world()
    wrong = {(r.instrument, r.score) for r in check(sample(spec), spec) if not r.right}
    assert ("label", "sss hue") in wrong and ("label", "sss background") not in wrong
    assert {("label", "ig conflicting"), ("label", "ig aligned")} <= wrong
