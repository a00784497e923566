"""Every method, also those to come: it learns, goes on bit for bit, refuses what it must, and uses what it is told."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import numpy as np
import pytest
import torch

from spurgen.errors import SpurgenError
from spurgen.evaluate import Plan, evaluate
from spurgen.learning import METHODS, MODELS
from spurgen.settings import fill
from spurgen.store.writer import build
from spurgen.train import train
from spurgen.train.loop import Trainer
from tests.train.conftest import TINY, world

ALL = METHODS.names()
FAST = {"batch_size": 32, "epochs": 2}
SAMPLING = {"causirl_coral", "causirl_mmd", "coral", "crt", "group_dro", "irm", "mmd", "mmd_aae", "resample", "vrex"}
torch.set_num_threads(1)  # networks this small only make threads wait for one another

pytestmark = pytest.mark.filterwarnings("ignore:JTT's first stage gets every training row right")


@pytest.fixture(autouse=True)
def _tiny_model():
    """It stays: fixtures of a whole session are made before those of a test."""
    MODELS.add("tiny", TINY)


@pytest.fixture(scope="session")
def odd(tmp_path_factory) -> dict[str, Any]:
    """Data that lacks something: channels, a second environment, validation rows."""
    there = tmp_path_factory.mktemp("odd")
    plain = world(channels={}, environments={"strong": {}, "weak": {}, "even": {}})
    build(plain, there / "groups", rows=300)
    one = {"train": {"share": 0.6, "environments": ["strong"]}, "val": {"share": 0.4, "environments": ["even"]}}
    build(changed(splits=one), there / "environments", rows=300)
    two = {
        "train": {"share": 0.6, "environments": ["strong", "weak"]},
        "test": {"share": 0.4, "environments": ["even"]},
    }
    build(changed(splits=two), there / "validation", rows=300)
    return {name: there / name for name in ("groups", "environments", "validation")}


def changed(splits):
    """The world with other splits."""
    from spurgen.spec import World
    from tests.worlds import small

    return World.from_dict(small(rows=300, splits=splits))


def weights(run):
    return {name: value.clone() for name, value in run.learner.state_dict().items()}


def equal(a, b):
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


@pytest.mark.parametrize("name", ALL)
def test_methods_are_described(name):
    method = METHODS.get(name)
    assert method.name == name
    assert method.about and not method.about.endswith(".")
    assert re.search(r"\b(19|20)\d\d\b", method.paper), "the paper has a year"
    assert str(method.needs)
    for field in dataclasses.fields(method.settings):
        search = field.metadata["search"]
        assert field.metadata["about"]
        assert search is None or field.default == 0 or search.contains(field.default), "0 switches a part off"
        for u in (0.0, 0.5, 0.999):
            if search is not None:
                fill(method.settings, {field.name: search.sample(u)}, name)
    fill(method.settings, dataclasses.asdict(method.settings()), name)  # defaults are within the bounds


class Stop(BaseException):
    """Stands for whatever ends a process."""


GENTLE = {"irm": {"weight": 1.0}}  # the default of 100 holds scores down for longer than this test


@pytest.mark.parametrize("name", ALL)
def test_it_learns_and_goes_on_bit_for_bit(name, built, tmp_path, monkeypatch):
    """Captions name the class among other words; the run is stopped in each stage, at other steps than checks."""
    trial = {"method": name, "model": "bag_of_words", "settings": GENTLE.get(name),
             "options": {"batch_size": 32, "epochs": 10, "schedule": "constant", "learning_rate": 0.02}}  # fmt: skip
    whole = train(built, **trial)
    loss, accuracy = whole.outcome.checks[-1][1:3]
    assert accuracy > 0.8 and loss < whole.outcome.checks[0][1]

    monkeypatch.setattr("spurgen.train.loop._SAVE_SECONDS", 0.0)
    save, stops = Trainer._save, [7, 40, 80, 105]

    def stopping(self, stepper):
        save(self, stepper)
        if stops and self.place.taken == stops[0]:
            stops.pop(0)
            raise Stop

    monkeypatch.setattr(Trainer, "_save", stopping)
    while stops:
        with pytest.raises(Stop):
            train(built, **trial, out=tmp_path / "run")
    run = train(built, **trial, out=tmp_path / "run")
    assert equal(weights(run), weights(whole))
    assert np.array_equal(run.outcome.records, whole.outcome.records, equal_nan=True)

    scores = evaluate(tmp_path / "run", built, plan=Plan(1))
    assert set(scores["sss"]) == {"background", "hue"} and scores["metrics"]["accuracy"] > 0.8


@pytest.mark.parametrize("name", ALL)
def test_it_refuses_data_without_what_it_needs_by_name(name, odd):
    needs = METHODS.get(name).needs
    sentences = {
        "groups": "balances groups of validation rows" if needs.validation else "needs group attributes",
        "generator": "draws rows again with other attributes",
        "environments": "compares environments",
        "validation": "fits on validation rows",
    }
    options = {"batch_size": 16, "steps": 4}
    for lacking, sentence in sentences.items():
        data = odd["groups" if lacking == "generator" else lacking]
        if getattr(needs, lacking) or (lacking == "groups" and needs.validation):
            with pytest.raises(SpurgenError, match=f"^{name} {sentence}") as raised:
                train(data, name, "tiny", options=options)
            assert "\n" not in str(raised.value)
        elif lacking != "generator" and not (lacking == "groups" and needs.generator):
            assert train(data, name, "tiny", options=options).about["steps"] == 4


@pytest.mark.parametrize("name", [n for n in ALL if "over" in METHODS.get(n).settings.__dataclass_fields__])
def test_classes_can_count_alike_where_there_are_no_groups(name, odd):
    run = train(odd["groups"], name, "tiny", settings={"over": "class"}, options={"batch_size": 16, "steps": 4})
    assert run.about["steps"] == 4


@pytest.mark.parametrize("name", ALL)
def test_a_stream_is_trained_on_or_refused_by_name(name):
    options = {"batch_size": 16, "steps": 4}
    if METHODS.get(name).needs.rows or METHODS.get(name).needs.validation or name in SAMPLING:
        with pytest.raises(SpurgenError, match=f"^{name} .* stream") as raised:
            train(world(), name, "tiny", options=options, stream=True)
        assert "\n" not in str(raised.value)
    else:
        assert train(world(), name, "tiny", options=options, stream=True).about["steps"] == 4


@pytest.mark.parametrize("name", ALL)
def test_an_unknown_setting_is_refused(name, built):
    with pytest.raises(SpurgenError, match=f"no setting of method {name}, 'nonsense'"):
        train(built, name, "tiny", settings={"nonsense": 1})


SETTINGS = [(name, field) for name in ALL for field in dataclasses.fields(METHODS.get(name).settings)]


def other(field: Any) -> Any:
    """Another value that the setting may have."""
    default, note = field.default, field.metadata
    if note["choices"]:
        return next(choice for choice in note["choices"] if choice != default)
    if isinstance(default, bool):
        return not default
    if note["search"] is not None:
        ends = [note["search"].sample(u) for u in (0.05, 0.95)]
        return max(ends, key=lambda value: abs(value - default))
    return default + 1 if isinstance(default, int) else 0.5 * default or 0.5


@pytest.mark.parametrize(("name", "field"), SETTINGS, ids=[f"{name}-{field.name}" for name, field in SETTINGS])
def test_every_setting_has_an_effect(name, field, built):
    options = FAST | {"learning_rate": 0.02}
    runs = [train(built, name, "tiny", settings=given, options=options) for given in ({}, {field.name: other(field)})]
    one, two = (run.outcome.records[:, 0] for run in runs)
    nets = [run.learner.net.state_dict() for run in runs]
    assert len(one) != len(two) or not np.array_equal(one, two, equal_nan=True) or not equal(*nets)
