"""Plans: every combination once, each with a key that all that determines it makes, and nothing else."""

from __future__ import annotations

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spurgen.errors import SpecError
from spurgen.study.plan import again, plan
from spurgen.study.spec import StudySpec
from spurgen.study.trial import Trial, trial_from
from tests.study.conftest import study
from tests.train.conftest import world


def planned(folder, device="cpu", **changes):
    return plan(StudySpec.from_dict(study(**changes)), folder, device)


def test_every_combination_once(folder):
    trials = planned(
        folder,
        methods={"erm": {}, "group_dro": {"eta": [0.1, 0.01]}},
        ablations={"strength": {"p": [0.5, 0.9]}, "without": {"without": "each"}},
        seeds=[3, 5],
    )
    # (1 as it is + 2 strengths + 2 channels) worlds x (1 + 2) settings x 2 seeds
    assert len(trials) == 5 * 3 * 2
    assert {t.variant for t in trials} == {"", "p=0.5", "p=0.9", "without background", "without hue"}
    assert {(t.method, t.config) for t in trials} == {("erm", ""), ("group_dro", "eta=0.1"), ("group_dro", "eta=0.01")}
    assert {t.seed for t in trials} == {t.data_seed for t in trials} == {3, 5}
    assert all(t.options["batch_size"] == 32 and t.options["learning_rate"] == 1e-2 for t in trials)


def test_strength_and_absence_are_edits_of_the_world(folder):
    from spurgen.study.worlds import variants

    asked = StudySpec.from_dict(study(ablations={"s": {"p": [0.4]}, "w": {"without": ["hue"]}}, unchanged=False))
    strong, without = variants(asked, folder)
    for environment in world().splits["train"].weights:
        assert all(c.p == 0.4 for c in strong.spec.environments[environment].values())
    assert all("hue" not in couplings for couplings in without.spec.environments.values())
    assert list(without.spec.channels) == list(world().channels)  # it still varies, and can still be measured


def test_rows_of_their_own_or_the_same(folder):
    assert len({t.data for t in planned(folder)}) == 2
    assert len({t.data for t in planned(folder, fresh_rows=False)}) == 1


def test_keys_follow_what_determines_a_trial(folder):
    base = planned(folder)
    assert [t.key for t in planned(folder)] == [t.key for t in base]
    renamed = planned(folder, worlds={"other": {"spec": "world.toml", "rows": 300}}, id="another", rule="average")
    assert [t.key for t in renamed] == [t.key for t in base]  # what it is called changes nothing
    more = planned(folder, methods={"erm": {}, "irm": {}, "group_dro": {}}, seeds=3)
    assert {t.key for t in base} < {t.key for t in more}
    for changes in (
        {"options": {"steps": 13, "batch_size": 32, "checks": 3}},
        {"draws": 2},
        {"group_by": ["label"]},
        {"worlds": {"small": {"spec": "world.toml", "rows": 330}}},
    ):
        assert not {t.key for t in base} & {t.key for t in planned(folder, **changes)}
    assert not {t.key for t in base} & {t.key for t in planned(folder, device="cuda")}


def test_an_option_said_or_left_at_its_default_is_the_same_trial(folder):
    said = planned(folder, options={"steps": 12, "batch_size": 32, "checks": 3, "weight_decay": 0.01})
    assert [t.key for t in said] == [t.key for t in planned(folder)]


def test_settings_that_are_almost_alike_have_words_of_their_own(folder):
    trials = planned(folder, methods={"erm": {}, "group_dro": {"eta": [0.1, 0.10000001]}}, seeds=1)
    assert [t.config for t in trials] == ["", "eta=0.1", "eta=0.10000001"]


def test_a_variant_that_is_the_world_as_it_is_keeps_its_name(folder):
    trials = planned(folder, ablations={"w": {"without": ["hue"]}, "again": {"without": ["hue"]}}, seeds=1)
    assert [t.ablation for t in trials if t.method == "erm"] == ["", "w", "again"]
    assert len({t.key for t in trials}) == 4


def test_a_method_may_be_told_groups_of_its_own(folder):
    trials = planned(folder, methods={"erm": {}, "dfr": {"group_by": ["label"], "reg": [0.1, 1.0]}}, seeds=1)
    assert [(t.method, t.group_by, t.learns_by) for t in trials] == [
        ("erm", None, None), ("dfr", None, ["label"]), ("dfr", None, ["label"])
    ]  # fmt: skip
    with pytest.raises(SpecError, match=r"methods.dfr.group_by: must be a list of columns"):
        planned(folder, methods={"erm": {}, "dfr": {"group_by": "label"}})


def test_samples_of_a_search(folder):
    methods = {"erm": {}, "irm": {"anneal": 0.2}, "group_dro": {}}
    search = {"samples": 4, "options": ["learning_rate"]}
    trials = planned(folder, methods=methods, search=search)
    assert len(trials) == 3 * 4  # one seed of each
    assert {t.phase for t in trials} == {"search"} and {t.seed for t in trials} == {0}
    irm = [t for t in trials if t.method == "irm"]
    assert irm[0].config == "#0 defaults" and irm[0].settings["weight"] == 100.0
    assert all(t.settings["anneal"] == 0.2 for t in irm)  # what the study fixes is not searched
    assert len({t.settings["weight"] for t in irm}) == len({t.options["learning_rate"] for t in irm}) == 4
    assert [t.key for t in planned(folder, methods=methods, search=search)] == [t.key for t in trials]
    other = planned(folder, methods=methods, search=search | {"seed": 1})
    assert {t.key for t in other} & {t.key for t in trials} == {t.key for t in trials if "defaults" in t.config}
    # more samples keep those that are there
    assert {t.key for t in trials} < {t.key for t in planned(folder, methods=methods, search=search | {"samples": 6})}


def test_every_seed_may_search_for_itself(folder):
    trials = planned(folder, search={"samples": 3, "per_seed": True})
    assert {t.phase for t in trials} == {"final"} and len(trials) == 2 * 3 * 2
    rates = {(t.seed, t.options["learning_rate"]) for t in trials if t.method == "erm" and "defaults" not in t.config}
    assert len({rate for _, rate in rates}) == 4


def test_what_is_run_again_is_the_same_trial_where_the_seed_is(folder):
    asked = StudySpec.from_dict(study(search={"samples": 2}, seeds=3))
    first = plan(asked, folder, "cpu")[0]
    finals = again(asked, first)
    assert [t.seed for t in finals] == [0, 1, 2] and {t.phase for t in finals} == {"final"}
    assert finals[0].key == first.key and len({t.key for t in finals}) == 3
    assert [t.data for t in finals] == [t.data for t in plan(asked.model_copy(update={"search": None}), folder, "cpu")
                                        if t.method == "erm"]  # fmt: skip


def test_trials_survive_json(folder):
    for trial in planned(folder):
        assert trial_from(json.loads(json.dumps(trial.as_dict())), "here") == trial


@given(st.sampled_from([f.name for f in dataclasses.fields(Trial)]), st.integers(1, 5))
def test_any_field_that_determines_a_trial_changes_its_key(name, by):
    base = Trial(
        world="w", ablation="", variant="", spec_id="a/v1", spec_digest="d", data="d-0", data_seed=0, rows=10,
        method="erm", settings={}, config="", model="tiny", model_digest="", start="nothing", pretrain=None,
        options={"steps": 1}, asked=[], seed=0, device="cpu", group_by=None, learns_by=None, draws=2, phase="final",
    ).keyed()  # fmt: skip
    words = ("key", "world", "ablation", "variant", "config", "phase", "asked", "data", "keep_weights")
    value = getattr(base, name)
    if isinstance(value, bool):
        new = not value
    elif isinstance(value, int):
        new = value + by
    elif isinstance(value, str):
        new = value + "x" * by
    elif isinstance(value, dict):
        new = value | {"x": by}
    else:
        new = ["x"] * by if value is None or isinstance(value, list) else value
    changed = dataclasses.replace(base, **{name: new}).keyed()
    assert (changed.key == base.key) == (name in words)
