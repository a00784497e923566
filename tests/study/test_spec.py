"""Study files: what is wrong with one is a sentence with the path of the field and the nearest name."""

from __future__ import annotations

import re

import pytest

from spurgen.errors import SpecError, SpurgenError, UnknownName
from spurgen.spec import World
from spurgen.study.foresee import foresee
from spurgen.study.plan import plan
from spurgen.study.run import run_study
from spurgen.study.spec import StudySpec, presets, read, text_of
from spurgen.study.worlds import variants
from tests.study.conftest import file_of, study
from tests.worlds import small


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"sedes": 3}, r"sedes: is not a field of the study; did you mean 'seeds'"),
        ({"id": "a/b"}, r"id: is 'a/b'; names are letters, digits"),
        ({"seeds": 0}, r"seeds: .*0"),
        ({"seeds": [1, 1]}, r"seeds: names something twice"),
        ({"seeds": "three"}, r"seeds: "),
        ({"methods": {}}, r"methods: is empty"),
        ({"methods": {"erm": {}, "grup_dro": {}}}, r"methods: there is no method 'grup_dro'; did you mean 'group_dro'"),
        ({"methods": {"erm": {}, "group_dro": {"eat": 0.1}}}, r"methods.group_dro: .*'eat'.*did you mean 'eta'"),
        ({"methods": {"erm": {}, "group_dro": {"eta": [0.1, -1.0]}}}, r"methods.group_dro: eta .* is -1.0"),
        ({"methods": {"group_dro": {}}}, r"reference: there is no method 'erm' in this study; known: group_dro"),
        ({"models": ["tinny"]}, r"models.tinny: there is no model 'tinny'; did you mean 'tiny'"),
        ({"models": []}, r"models: is empty"),
        (
            {"models": {"tiny": {"starts": ["imagenet"]}}},
            r"models.tiny.starts: tiny is built with random weights; say 'nothing'",
        ),
        ({"models": {"tiny": {"starts": ["nowhere"]}}}, r"models.tiny.starts.0: is 'nowhere'; it must be"),
        ({"options": {"stepps": 3}}, r"options: .*'stepps'.*did you mean 'steps'"),
        ({"options": {"batch_size": ["a"]}}, r"options: batch_size of training is 'a'"),
        ({"rule": "worst_grup"}, r"rule: there is no selection rule 'worst_grup'; did you mean 'worst_group'"),
        ({"rules": ["average"]}, r"rule: is 'worst_group', which is not among the rules"),
        ({"worlds": {}}, r"worlds: is empty"),
        ({"worlds": {"w": {"spec": "quik/v1"}}}, r"there is no preset 'quik/v1'; did you mean 'quick/v1'"),
        ({"worlds": {"w": {"spec": "missing.toml"}}}, r"worlds.w: there is no file .*missing.toml"),
        (
            {"worlds": {"w": {"spec": "world.toml", "set": {"environments.strong.hue.p": 2.0}}}},
            r"worlds.w: environments.strong.hue.p: is 2.0; it must be at most 1",
        ),
        ({"worlds": {"w": {"spec": "world.toml", "rows": 1}}}, r"1 rows"),
        ({"ablations": {"a": {}}}, r"ablations.a: needs exactly one of p, without and set"),
        ({"ablations": {"a": {"p": [0.5], "without": "each"}}}, r"ablations.a: needs exactly one"),
        ({"ablations": {"a": {"p": [1.5]}}}, r"ablations.a.p.0: is 1.5; it must be at most 1"),
        ({"ablations": {"a": {"without": ["hew"]}}}, r"ablations.a.without: there is no channel 'hew'.* 'hue'"),
        ({"ablations": {"a": {"set": {"x": {"rowz": 3}}}}}, r"ablations.a: x of the world 'small': rowz"),
        ({"unchanged": False}, r"unchanged: is false, and there are no ablations"),
        ({"search": {"samples": 0}}, r"search.samples: is 0"),
        ({"search": {"samples": 2, "options": ["schedule"]}}, r"search.options: there is nothing to search for"),
        ({"group_by": "label"}, r"group_by: "),
        ({"seeds": []}, r"seeds: is empty"),
        ({"methods": {"erm": {}, "group_dro": {"eta": []}}}, r"methods.group_dro.eta: is empty; give at least one"),
        ({"methods": {"erm": {}, "group_dro": {"eta": [0.1, 0.1]}}}, r"methods.group_dro.eta: names a value twice"),
        ({"options": {"steps": []}}, r"options.steps: is empty"),
        ({"worlds": {"w": {"spec": "world.toml", "rows": 300, "set": {"rows": 3}}}}, r"worlds.w.set.rows: says the n"),
        ({"pretrain": {"steps": 3}}, r"pretrain: has no effect: no model starts from 'pretrained'"),
        ({"search": {"samples": 2, "seeds": 5}}, r"search.seeds: is 5; the study has 2"),
        ({"search": {"samples": 2, "seeds": 1, "per_seed": True}}, r"search.seeds: has no effect with per_seed"),
        ({"methods": {"erm": {"group_by": ["label"]}}}, r"methods.erm.group_by: has no effect: erm is told no groups"),
        ({"options": {"keep": "average"}}, r"options.keep: is not for studies"),
        ({"search": {"samples": 2, "options": ["momentum"]}}, r"search.options: momentum has no effect"),
        (
            {"models": {"bag_of_words": {"starts": ["pretrained"]}}},
            r"models.bag_of_words.starts: bag_of_words reads captions, and a start is made of pictures",
        ),
    ],
)
def test_what_is_wrong_is_a_sentence(folder, changes, sentence):
    path = file_of(folder, **changes)
    with pytest.raises(SpurgenError, match=sentence) as raised:
        plan(read(path.read_text("utf-8"), "study.toml"), folder, "cpu")
    assert "\n" not in str(raised.value)


def test_files_that_are_none(tmp_path):
    with pytest.raises(UnknownName, match=re.escape("there is no study 'quik'; did you mean 'quick'?")):
        text_of("quik")
    with pytest.raises(SpecError, match="there is no file"):
        text_of(tmp_path / "none.toml")
    (tmp_path / "d.toml").mkdir()
    with pytest.raises(SpecError, match="is a directory"):
        text_of(tmp_path / "d.toml")
    with pytest.raises(SpecError, match="not valid TOML"):
        read("id = ", "x.toml")


def test_what_is_dumped_reads_the_same():
    asked = StudySpec.from_dict(study(ablations={"s": {"p": [0.5]}}, search={"samples": 3}))
    assert StudySpec.from_dict(asked.dump()) == asked


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"group_by": ["colour"]}, r"group_by: .*'colour'"),
        ({"methods": {"erm": {}, "dfr": {"group_by": ["labl"]}}}, r"methods.dfr.group_by: .*'labl'.*did you mean 'l"),
        ({"options": {"steps": 3, "epochs": 2.0}}, r"methods.erm: the option epochs would have no effect"),
        ({"options": {"steps": 3, "momentum": 0.8}}, r"methods.erm: the option momentum would have no effect"),
        ({"options": {"steps": 3, "batch_size": 4000}}, r"methods.erm: small/v1 has 180 training rows"),
        ({"worlds": {"w": {"spec": "blind.toml"}}}, r"worlds.w: blind/v1 has no split 'val', by which worst_"),
        ({"worlds": {"w": {"spec": "blind.toml"}}, "rules": ["oracle"], "rule": "oracle",
          "methods": {"erm": {}, "dfr": {}}}, r"methods.dfr: dfr fits on validation rows"),
        ({"worlds": {"w": {"spec": "blind.toml"}}, "rules": ["oracle"], "rule": "oracle",
          "methods": {"erm": {}, "irm": {}}}, r"methods.irm: irm compares environments"),
        ({"models": ["text_transformer"], "worlds": {"w": {"spec": "blind.toml"}}, "rules": ["oracle"],
          "rule": "oracle"}, r"methods.erm: there is no modality 'caption'"),
    ],
)  # fmt: skip
def test_what_could_only_fail_is_refused_before_anything_is_drawn(folder, changes, sentence):
    splits = {
        "train": {"share": 0.6, "environments": ["strong"]},
        "test": {"share": 0.4, "environments": ["even"]},
    }
    (folder / "blind.toml").write_text(World.from_dict(small(id="blind/v1", splits=splits)).to_toml())
    with pytest.raises(SpurgenError, match=sentence):
        run_study(file_of(folder, **changes), folder / "s", jobs=1)
    assert not (folder / "s").exists()


@pytest.mark.parametrize("name", presets())
def test_presets_can_be_planned(name):
    text, folder = text_of(name)
    asked = read(text, name)
    assert asked.id == name and folder is None and asked.description
    trials = plan(asked, None, "cpu")
    assert len({t.key for t in trials}) == len(trials) > 0
    foresee(asked, variants(asked, None), trials)


def test_edits_from_the_command_line(folder):
    asked = read(file_of(folder).read_text("utf-8"), "x", ["options.steps=3", "seeds=[4, 7]"])
    assert asked.options["steps"] == 3 and asked.seed_list == [4, 7]
