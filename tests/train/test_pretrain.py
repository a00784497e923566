"""Starts: made alike each time, gone on with after a kill, refused where they do not fit, and begun from by all."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

import spurgen
from spurgen.classes import CLASSES, DEFAULT_CLASSES
from spurgen.errors import DataError, SpurgenError
from spurgen.learning import METHODS, MODELS, Shape
from spurgen.train import load_run, train
from spurgen.train.loop import Trainer
from spurgen.train.pretrain import OTHERS, RANGES, pretrain, world
from spurgen.train.start import RUN, Start, body_of, digest_of, find_start, load_start

FEW = {"steps": 6, "batch_size": 16, "size_px": 32}
SHORT = {"steps": 4, "batch_size": 16}
STILL = {"steps": 1, "batch_size": 16, "learning_rate": 1e-12, "weight_decay": 0}


@pytest.fixture(scope="module")
def start(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("starts") / "tiny"
    pretrain("tiny", out, **FEW)
    return out


def same(a, b):
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


# ------------------------------------------------------------------------------------------------------- the world


def test_other_objects_are_told_apart_and_nothing_goes_along_with_them():
    spec = world()
    assert set(OTHERS) == set(CLASSES) - set(DEFAULT_CLASSES) and len(OTHERS) == 12
    assert spec.classes == list(OTHERS) and not spec.channels
    assert {"material", "floor", "watermark", "frame", "sensor", "companion", *RANGES} <= set(spec.nuisances)


def test_it_varies_as_far_as_the_values_of_channels_go():
    from spurgen.spec.known import CHANNELS

    varying = world().varying
    for name in CHANNELS.names():
        for value in CHANNELS.get(name).values.values():
            for trait, setting in value.traits.items():
                assert trait not in varying or varying[trait].contains([setting]).all(), (name, trait, setting)


# ---------------------------------------------------------------------------------------------------------- making


def test_the_same_seed_gives_the_same_start_and_another_another(start, tmp_path):
    made = load_start(start)
    again, other = pretrain("tiny", **FEW), pretrain("tiny", **FEW, seed=1)
    assert same(made.body, again.body) and made.about["digest"] == again.about["digest"] != other.about["digest"]
    assert not any(name.startswith("head") for name in made.body)
    about = json.loads((start / "start.json").read_text())
    assert about == made.about and about["digest"] == digest_of(made.body)
    assert about["classes"] == list(OTHERS) and about["world_digest"] == world(size_px=32).digest()
    assert about["steps"] == 6 and 0 <= about["accuracy"] <= 1 and about["default_classes"] == []
    assert repr(made) == "Start(tiny, 12 classes, 32 px, 6 steps of 16, seed 0)"
    assert spurgen.pretrain is pretrain


class Stop(BaseException):
    """Stands for whatever ends a process."""


def test_a_stopped_start_goes_on_bit_for_bit(start, tmp_path, monkeypatch):
    monkeypatch.setattr("spurgen.train.loop._SAVE_SECONDS", 0.0)
    save = Trainer._save

    def stopping(self, stepper):
        save(self, stepper)
        if self.place.taken == 4:
            raise Stop

    monkeypatch.setattr(Trainer, "_save", stopping)
    with pytest.raises(Stop):
        pretrain("tiny", tmp_path / "s", **FEW)
    with pytest.raises(DataError, match=r"is not finished; give the command that makes it again \(spurgen pretrain"):
        load_start(tmp_path / "s")
    with pytest.raises(DataError, match="holds another start"):
        pretrain("tiny", tmp_path / "s", **FEW, seed=1)
    monkeypatch.setattr(Trainer, "_save", save)
    began = []
    made = pretrain("tiny", tmp_path / "s", **FEW, subscribers=[began.append])
    assert began[0].step == 4 and same(made.body, load_start(start).body)


SCRIPT = """
import sys, torch
sys.path.insert(0, {root!r})
torch.set_num_threads(1)
import spurgen.train.loop as loop
loop._SAVE_SECONDS = 0.0
from spurgen.learning import MODELS
from tests.train.conftest import TINY
MODELS.add("tiny", TINY)
from spurgen.train.pretrain import pretrain
print("ready", flush=True)
pretrain("tiny", {out!r}, steps=300, batch_size=16, size_px=32)
"""


def test_killed_and_started_again_it_ends_with_the_same_weights(tmp_path):
    root = os.fspath(Path(__file__).parents[2])
    script = SCRIPT.format(root=root, out=str(tmp_path / "s"))
    for pause in (0.0, 0.3):
        process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
        assert process.stdout.readline()
        deadline = time.monotonic() + 60
        while not (tmp_path / "s/run/checkpoint.safetensors").exists() and process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        time.sleep(pause)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    assert subprocess.run([sys.executable, "-c", script], capture_output=True).returncode == 0
    whole = pretrain("tiny", steps=300, batch_size=16, size_px=32)
    assert same(load_start(tmp_path / "s").body, whole.body)


def test_a_complete_start_is_only_opened_and_another_refused(start, tmp_path):
    before = (start / "start.safetensors").stat().st_mtime_ns
    began = []
    assert same(pretrain("tiny", start, **FEW, subscribers=[began.append]).body, load_start(start).body)
    assert not began and (start / "start.safetensors").stat().st_mtime_ns == before
    with pytest.raises(DataError, match=r"holds another start \(tiny.*its seed is 0, not 1\); .*--force"):
        pretrain("tiny", start, **FEW, seed=1)
    one = tmp_path / "s"
    pretrain("tiny", one, **FEW)
    (one / "notes.txt").write_text("mine")
    made = pretrain("tiny", one, **FEW, seed=1, force=True)
    assert same(load_start(one).body, made.body) and made.about["seed"] == 1
    assert (one / "notes.txt").read_text() == "mine"


def test_what_is_no_start_is_not_touched(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/notes.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    for name, sentence in (("mine", "is not empty and holds no start"), ("file", "is a file")):
        with pytest.raises(DataError, match=sentence):
            pretrain("tiny", tmp_path / name, **FEW, force=True)
    assert (tmp_path / "mine/notes.txt").read_text() == (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("how", ["cut", "changed", "gone"])
def test_damaged_weights_are_refused_and_taken_from_the_run_again(tmp_path, how):
    made = pretrain("tiny", tmp_path / "s", **FEW)
    path = tmp_path / "s/start.safetensors"
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    if how == "gone":
        path.unlink()
    else:
        path.write_bytes(content if how == "changed" else content[:200])
    with pytest.raises(DataError, match=r"start.safetensors .*make.* again \(spurgen pretrain") as raised:
        load_start(tmp_path / "s")
    assert "\n" not in str(raised.value)
    assert same(pretrain("tiny", tmp_path / "s", **FEW).body, made.body)
    assert same(load_start(tmp_path / "s").body, made.body)


def test_a_file_that_is_no_start_is_refused(start, tmp_path):
    pretrain("tiny", tmp_path / "s", **FEW)
    for content in ("{broken", "[]", '{"format": 0}'):
        (tmp_path / "s/start.json").write_text(content)
        with pytest.raises(DataError, match=r"start.json .*make the start again"):
            load_start(tmp_path / "s")
        with pytest.raises(DataError, match="--force"):
            pretrain("tiny", tmp_path / "s", **FEW)
    assert same(pretrain("tiny", tmp_path / "s", **FEW, force=True).body, load_start(start).body)


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ({"model": "resnet81"}, "there is no model 'resnet81'; did you mean 'resnet18'?"),
        ({"model": "bag_of_words"}, "bag_of_words reads captions, and a start is made of pictures alone"),
        ({"model": "paired"}, "paired reads images and captions, and a start is made of pictures alone"),
        ({"model": "efficientnet_lite0"}, "efficientnet_lite0 comes with pretrained weights (imagenet)"),
        ({"classes": ["gear", "cactsu"]}, "did you mean 'cactus'?"),
        ({"classes": ["gear"]}, "names one class only"),
        ({"size_px": 7}, "image.size_px"),
        ({"model": "vit_small", "size_px": 50}, "pictures of 50 × 50 do not suit a vision transformer"),
        ({"steps": 0}, "steps is 0; it must be"),
        ({"batch_size": 0}, "batch_size of training is 0"),
        ({"learning_rate": float("nan")}, "learning_rate of training is nan"),
        ({"device": "tpu"}, "there is no device 'tpu'"),
        ({"graphs": "on", "device": "cpu"}, "graphs are for GPUs"),
        ({"seed": -1}, "seed"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_one_sentence_and_leaves_nothing(tmp_path, how, sentence):
    with pytest.raises(SpurgenError) as raised:
        pretrain(**({"model": "tiny", "out": tmp_path / "s"} | FEW | how))
    assert sentence in str(raised.value) and "\n" not in str(raised.value)
    assert not (tmp_path / "s").exists()


def test_default_classes_are_allowed_and_said():
    made = pretrain("tiny", **FEW, classes=["gear", "mug", "torus"])
    assert made.about["default_classes"] == ["mug", "torus"]


# ------------------------------------------------------------------------------------------------------- beginning


def test_a_run_begins_there_with_a_head_of_its_own(built, start):
    body = load_start(start).body
    run, fresh = (train(built, model="tiny", options=STILL, start=s) for s in (start, None))
    learnt = {name: value for name, value in body_of(run.learner.net).items() if "num_batches" not in name}
    for name, value in learnt.items():
        running = name.split(".")[-1].startswith("running")
        assert torch.allclose(value, body[name], atol=0.2 if running else 1e-6), name
    assert not torch.allclose(body_of(fresh.learner.net)["hidden.0.weight"], body["hidden.0.weight"], atol=1e-3)
    heads = [r.learner.net.head.weight for r in (run, fresh)]
    assert heads[0].shape == (3, 16) and torch.allclose(*heads, atol=1e-6), "the head follows from the run's seed"


def test_the_start_is_in_the_key_and_runs_without_one_are_as_before(built, start, tmp_path):
    fresh = [train(built, model="tiny", options=SHORT, start=s).about for s in (None, "", "nothing")]
    assert len({about["key"] for about in fresh}) == 1 and not any("start" in about for about in fresh)
    run = train(built, model="tiny", options=SHORT, start=start, out=tmp_path / "r")
    other = train(built, model="tiny", options=SHORT, start=pretrain("tiny", **FEW, seed=1))
    assert run.about["start"] == "pretrained" and run.about["start_digest"] == load_start(start).about["digest"]
    assert len({fresh[0]["key"], run.about["key"], other.about["key"]}) == 3
    assert repr(run) == "Run(erm, tiny, seed 0, start pretrained)"
    for words, sentence in (
        ({}, "its start is 'pretrained', not 'nothing'"),
        ({"start": pretrain("tiny", **FEW, seed=1)}, "its start_digest is "),
    ):
        with pytest.raises(DataError, match=sentence):
            train(built, model="tiny", options=SHORT, out=tmp_path / "r", **words)


def test_the_run_outlives_its_start(built, tmp_path):
    pretrain("tiny", tmp_path / "s", **FEW)
    run = train(built, "lff", "tiny", tmp_path / "r", options=SHORT, start=tmp_path / "s")
    (tmp_path / "s").rename(tmp_path / "elsewhere")
    assert same(load_run(tmp_path / "r").learner.state_dict(), run.learner.state_dict())
    moved = train(built, "lff", "tiny", tmp_path / "r", options=SHORT, start=tmp_path / "elsewhere")
    assert moved.outcome is None, "where it lies does not matter"


@pytest.mark.filterwarnings("ignore:JTT's first stage gets every training row right")
@pytest.mark.parametrize("method", METHODS.names())
def test_every_method_begins_there(method, built, start, monkeypatch):
    """Every network that a method builds has the start's body, also those of later stages."""
    body, filled = load_start(start).body, []
    put_into = Start.put_into

    def noted(self, net, size_px):
        put_into(self, net, size_px)
        filled.append(same(body_of(net), body))

    monkeypatch.setattr(Start, "put_into", noted)
    run = train(built, method, "tiny", options={"batch_size": 32, "epochs": 1}, start=start)
    assert run.about["start"] == "pretrained" and run.about["steps"] == 11
    two = method in ("lff", "jtt") or method.endswith("crt")
    assert filled == [True] * (2 if two else 1)


def test_a_stopped_run_goes_on_from_its_own_weights(built, start, tmp_path, monkeypatch):
    options = {"epochs": 2, "batch_size": 32}
    whole = train(built, "jtt", "tiny", options=options, start=start, settings={"first_stage": 0.3})
    monkeypatch.setattr("spurgen.train.loop._SAVE_SECONDS", 0.0)
    save = Trainer._save

    def stopping(self, stepper):
        save(self, stepper)
        if self.place.taken == 4:
            raise Stop

    monkeypatch.setattr(Trainer, "_save", stopping)
    asked = {"settings": {"first_stage": 0.3}, "options": options, "start": start}
    with pytest.raises(Stop):
        train(built, "jtt", "tiny", tmp_path / "r", **asked)
    monkeypatch.setattr(Trainer, "_save", save)
    run = train(built, "jtt", "tiny", tmp_path / "r", **asked)
    assert same(run.learner.state_dict(), whole.learner.state_dict())


def test_starts_that_do_not_fit_are_refused(built, start, tmp_path):
    net = MODELS.get("vit_small").build(Shape(12, (3, 64, 64)))
    patches = Start(None, {"model": "vit_small", "size_px": 64, "digest": "0"}, body_of(net))
    for model, given, sentence in (
        ("small_cnn", start, r"is a start of tiny, not of small_cnn; take that model, or make another"),
        ("small_cnn", "imagenet", "no weights of ImageNet for small_cnn, only for efficientnet_lite0"),
        ("vit_small", patches, r"made on pictures of 64 px, and does not fit vit_small on pictures of 32 px.*32"),
        ("tiny", tmp_path / "none", "holds no start, there is no start.json in it; make one first"),
        ("tiny", "x" * 5000, "cannot be used"),
        ("tiny", built, "holds no start"),
    ):
        with pytest.raises(SpurgenError, match=sentence) as raised:
            train(built, model=model, options=SHORT, out=tmp_path / "r", start=given)
        assert "\n" not in str(raised.value) and not (tmp_path / "r").exists()


def test_models_with_weights_of_their_own_begin_there_and_nowhere_else(start):
    pretrained = MODELS.get("efficientnet_lite0")
    assert find_start(None, pretrained) is None and find_start("imagenet", pretrained) is None
    for given in ("nothing", start):
        with pytest.raises(SpurgenError, match=r"comes with pretrained weights \(imagenet\) and begins from no others"):
            find_start(given, pretrained)


def test_a_run_of_such_a_model_says_so_and_keeps_its_key(built, monkeypatch):
    import dataclasses

    from tests.train.conftest import TINY

    plain = train(built, model="tiny", options=SHORT).about
    monkeypatch.setitem(MODELS._loaded(), "tiny", dataclasses.replace(TINY, pretrained="imagenet"))
    for given in (None, "imagenet"):
        about = train(built, model="tiny", options=SHORT, start=given).about
        assert about["start"] == "imagenet" and about["key"] == plain["key"]


def test_pictures_of_another_size_are_fine_where_the_network_is(built, tmp_path):
    made = pretrain("tiny", **(FEW | {"size_px": 48}))
    assert train(built, model="tiny", options=SHORT, start=made).about["start_digest"] == made.about["digest"]


def test_what_lies_beside_the_run_stays(tmp_path):
    pretrain("tiny", tmp_path / "s", **FEW)
    (tmp_path / "s" / RUN / "notes.txt").write_text("mine")
    with pytest.raises(DataError, match="holds no run"):
        pretrain("tiny", tmp_path / "s", **FEW, seed=1, force=True)
    assert (tmp_path / "s" / RUN / "notes.txt").read_text() == "mine"
