"""The example files of the docs work as the pages say."""

import importlib.util
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from spurgen.latents import intervene
from spurgen.latents.sample import sample
from spurgen.render import draw
from spurgen.spec import World
from spurgen.spec.known import CHANNELS, MODALITIES
from tests.contracts import test_channels as contract
from tests.worlds import small

EXAMPLES = Path(__file__).parents[1] / "docs" / "examples"


def module(name):
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    loaded = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@contextmanager
def offered(registry, name, attribute):
    """The example, unless somebody has copied it into the package, where it is found by itself."""
    added = name not in registry
    if added:
        registry.add(name, getattr(module(name), attribute))
    yield
    if added:
        del registry._loaded()[name]


@pytest.fixture
def known():
    with offered(CHANNELS, "sticker", "CHANNEL"), offered(MODALITIES, "pulse", "MODALITY"):
        yield


def test_a_channel_with_a_drawing_of_its_own(known):
    spec = World.from_dict(small(channels__sticker={}))
    rows = sample(spec).slice(0, 12)
    drawn = draw(intervene.every_value(rows, spec, "sticker"), spec, "image").reshape(12, 4, 32, 32, 3)
    changed = (drawn != drawn[:, :1]).any(-1)
    assert changed[:, 1:].any((2, 3)).all()
    assert not changed[..., 8:, :].any() and not changed[..., 8:].any()


def test_it_passes_the_contract_tests_as_it_is(known):
    contract.test_channels_are_described("sticker")
    contract.test_pictures_change_where_the_channel_touches_them("sticker")
    contract.test_captions_say_the_same_of_every_other_channel("sticker")


def test_ground_truth_is_of_what_lies_beneath(known):
    spec, bare = World.from_dict(small(channels__sticker={})), World.from_dict(small())
    rows = sample(spec).slice(0, 12)
    with_truth = draw(rows, spec, "image", truth=True)
    assert (with_truth.image == draw(rows, spec, "image")).all()
    assert (with_truth.mask == draw(rows, bare, "image", truth=True).mask).all()


def test_a_modality_in_one_file(known):
    spec = World.from_dict(small(modalities=["image", "pulse"], channels__light={}, pulse={"steps": 32}))
    rows = sample(spec)
    assert {"pulse_phase", "pulse_seed"} <= set(rows.column_names)
    waves = draw(rows, spec, "pulse")
    assert waves.shape == (240, 32)
    part = MODALITIES.get("pulse")
    again = part.decode(part.encode(waves))
    assert (again == waves).all()
    order = np.random.default_rng(0).permutation(240)
    assert (draw(rows.take(order), spec, "pulse") == waves[order]).all()
    # a channel written for pictures works here at once, and nothing else moves
    dim = draw(intervene.fix(rows, spec, "light", "dim_left"), spec, "pulse")
    bright = draw(intervene.fix(rows, spec, "light", "bright_left"), spec, "pulse")
    assert (np.ptp(bright, axis=1) > np.ptp(dim, axis=1)).mean() > 0.9
    other_hue = draw(intervene.fix(rows, spec, "hue", "pink"), spec, "pulse")
    assert (other_hue == waves).all()


def test_a_channel_without_code():
    spec = World.from_dict(
        small(
            channels__lean={
                "says": "adjective",
                "values": {"left": {"pose_roll_degrees": 25}, "right": {"pose_roll_degrees": -25}},
            }
        )
    )
    rows = sample(spec).slice(0, 8)
    drawn = draw(intervene.every_value(rows, spec, "lean"), spec, "image").reshape(8, 2, -1)
    assert (drawn[:, 0] != drawn[:, 1]).any(1).all()


def test_a_method_in_one_file(tmp_path):
    from spurgen.learning import METHODS
    from spurgen.store.writer import build
    from spurgen.train import train

    with offered(METHODS, "smoothing", "METHOD"):
        build(World.from_dict(small(modalities=["image", "caption"])), tmp_path / "d")
        how = {"model": "bag_of_words", "options": {"batch_size": 32, "epochs": 20, "learning_rate": 0.02}}
        losses = {
            share: train(tmp_path / "d", "smoothing", settings={"share": share}, **how).outcome.records[-1, 0]
            for share in (0.0, 0.3)
        }
    assert losses[0.0] < 0.1
    # the least that is possible with 0.3 of the label spread over three classes: the entropy of (0.8, 0.1, 0.1)
    assert losses[0.3] > 0.639


def test_built_in_names_are_kept():
    with pytest.raises(ValueError, match="comes with spurgen"):
        CHANNELS.add("hue", CHANNELS.get("hue"))
