"""Trials as a person starts them: they learn, they go on bit for bit, and they refuse what they must."""

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch

from spurgen.errors import Busy, DataError, SpurgenError
from spurgen.store import lock
from spurgen.store.layout import BUILD
from spurgen.store.writer import build
from spurgen.train import events, load_run, train
from spurgen.train.loop import Trainer
from tests.train.conftest import world

FAST = {"epochs": 4, "batch_size": 32}


def weights(run):
    return {name: value.clone() for name, value in run.learner.state_dict().items()}


def equal(a, b):
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


def test_it_learns_and_is_kept(built, tmp_path):
    run = train(built, model="tiny", out=tmp_path / "run", options=FAST | {"epochs": 12, "schedule": "constant"})
    records = pq.read_table(tmp_path / "run/records.parquet").to_pandas()
    assert len(records) == run.about["steps"] == 12 * (360 // 32)
    assert records["loss"][-20:].mean() < 0.7 * records["loss"][:5].mean()
    groups = [name for name in records if name.startswith("loss of ")]
    assert len(groups) == 4 and records[groups].notna().any().all()
    checks = pq.read_table(tmp_path / "run/checks.parquet").to_pandas()
    assert checks["step"].iloc[-1] == run.about["steps"]
    assert (checks["worst_group_accuracy"] <= checks["accuracy"]).all()
    again = load_run(tmp_path / "run")
    assert equal(weights(run), weights(again)) and not again.learner.training
    assert not (tmp_path / "run/checkpoint.safetensors").exists()


def test_the_same_seed_gives_the_same_weights_and_another_others(built):
    one, two = (train(built, model="tiny", options=FAST, seed=3) for _ in range(2))
    other = train(built, model="tiny", options=FAST, seed=4)
    assert equal(weights(one), weights(two)) and not equal(weights(one), weights(other))


def test_the_callers_random_numbers_are_left_alone(built):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    train(built, model="tiny", options={"steps": 3, "batch_size": 32})
    assert torch.equal(torch.rand(3), expected)


class Stop(BaseException):
    """Stands for whatever ends a process."""


@pytest.mark.parametrize("method", ["erm", "group_dro"])
@pytest.mark.parametrize("at", [1, 17, 31])
def test_a_stopped_run_goes_on_bit_for_bit(built, tmp_path, monkeypatch, method, at):
    whole = train(built, method, "tiny", tmp_path / "whole", options=FAST)
    monkeypatch.setattr("spurgen.train.loop._SAVE_SECONDS", 0.0)
    save, saves = Trainer._save, []

    def stopping(self, stepper):
        save(self, stepper)
        saves.append(self.place.taken)
        if self.place.taken == at:
            raise Stop

    monkeypatch.setattr(Trainer, "_save", stopping)
    with pytest.raises(Stop):
        train(built, method, "tiny", tmp_path / "run", options=FAST)
    with pytest.raises(DataError, match="not finished"):
        load_run(tmp_path / "run")
    monkeypatch.setattr(Trainer, "_save", save)
    steps = []
    run = train(built, method, "tiny", tmp_path / "run", options=FAST, subscribers=[lambda e: steps.append(e)])
    assert steps[0] == events.Began(at, 44, steps[0].about)
    assert equal(weights(run), weights(whole))
    one, two = (pq.read_table(tmp_path / d / "records.parquet").to_pandas() for d in ("run", "whole"))
    assert np.array_equal(one.to_numpy(), two.to_numpy(), equal_nan=True)


SCRIPT = """
import sys, torch
sys.path.insert(0, {root!r})
torch.set_num_threads(1)
import spurgen.train.loop as loop
loop._SAVE_SECONDS = 0.0
from spurgen.learning import MODELS
from tests.train.conftest import TINY
MODELS.add("tiny", TINY)
from spurgen.train import train
print("ready", flush=True)
train({data!r}, "group_dro", "tiny", {out!r}, options={options!r})
"""


def test_killed_and_started_again_it_ends_with_the_same_weights(built, tmp_path):
    root = os.fspath(__import__("pathlib").Path(__file__).parents[2])
    options = {"epochs": 20, "batch_size": 32}
    whole = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(root=root, data=str(built), out=str(tmp_path / "whole"), options=options)]
    )
    assert whole.returncode == 0
    script = SCRIPT.format(root=root, data=str(built), out=str(tmp_path / "run"), options=options)
    for pause in (0.05, 0.2, 0.4):
        process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
        assert process.stdout.readline()
        deadline = time.monotonic() + 60
        while not (tmp_path / "run/checkpoint.safetensors").exists() and process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        time.sleep(pause)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0
    assert equal(weights(load_run(tmp_path / "run")), weights(load_run(tmp_path / "whole")))


def test_a_complete_run_is_only_opened_and_another_one_refused(built, tmp_path):
    train(built, model="tiny", out=tmp_path / "run", options=FAST)
    before = (tmp_path / "run/weights.safetensors").stat().st_mtime_ns
    assert train(built, model="tiny", out=tmp_path / "run", options=FAST).outcome is None
    with pytest.raises(DataError, match=r"holds another run .*seed 0.*--force"):
        train(built, model="tiny", out=tmp_path / "run", options=FAST, seed=1)
    assert (tmp_path / "run/weights.safetensors").stat().st_mtime_ns == before
    assert train(built, model="tiny", out=tmp_path / "run", options=FAST, seed=1, force=True).outcome is not None
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/notes.txt").write_text("mine")
    with pytest.raises(DataError, match="holds no run"):
        train(built, model="tiny", out=tmp_path / "mine", options=FAST, force=True)


def test_the_best_weights_can_be_kept(built):
    run = train(built, model="tiny", options=FAST | {"keep": "average", "epochs": 8})
    best = run.outcome.checks[:, 2].max()
    assert run.outcome.place.best == pytest.approx(best)


def test_a_loss_that_is_no_number_ends_the_run_with_a_reason(built, tmp_path):
    with pytest.raises(SpurgenError, match=r"no finite number any more at step \d+ of 44"):
        train(
            built, model="tiny", out=tmp_path / "run",
            options=FAST | {"learning_rate": 100, "optimiser": "sgd", "clip": 0, "schedule": "constant", "warmup": 0,
                            "weight_decay": 10},
        )  # fmt: skip
    about = json.loads((tmp_path / "run/run.json").read_text())
    assert about["state"] == "failed" and "no finite number" in about["reason"]


def test_weights_that_are_no_numbers_end_the_run_even_at_the_last_step(built, tmp_path, monkeypatch):
    from spurgen.train.step import Stepper

    take = Stepper.take

    def spoil(self, given, phase, rate):
        take(self, given, phase, rate)
        with torch.no_grad():
            if len(steps := self.__dict__.setdefault("taken", [])) == 43:
                self.parameters[-1].fill_(torch.nan)
            steps.append(1)

    monkeypatch.setattr(Stepper, "take", spoil)
    with pytest.raises(SpurgenError, match=r"no finite numbers any more after step 44 of 44"):
        train(built, model="tiny", out=tmp_path / "run", options=FAST)
    assert not (tmp_path / "run/weights.safetensors").exists()


def test_a_run_in_progress_is_not_dropped_by_force(built, tmp_path):
    train(built, model="tiny", out=tmp_path / "run", options=FAST)
    before = {p.name: p.read_bytes() for p in (tmp_path / "run").iterdir()}
    with lock.held(tmp_path / "run"), pytest.raises(Busy):
        train(built, model="tiny", out=tmp_path / "run", options=FAST, seed=1, force=True)
    assert {p.name: p.read_bytes() for p in (tmp_path / "run").iterdir() if p.is_file()} == before


def test_force_drops_scores_and_runs_that_cannot_be_read(built, tmp_path):
    run = tmp_path / "run"
    train(built, model="tiny", out=run, options=FAST)
    (run / "evaluate").mkdir()
    (run / "evaluate/old.json").write_text("{}")
    (run / "notes.txt").write_text("mine")
    (run / "run.json").write_text("{broken")
    with pytest.raises(DataError, match="train again into another directory, or into this one with --force"):
        train(built, model="tiny", out=run, options=FAST)
    assert train(built, model="tiny", out=run, options=FAST, force=True).outcome is not None
    assert not (run / "evaluate").exists() and (run / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("name", ["checkpoint.safetensors", "weights.safetensors"])
def test_damaged_files_of_a_run_are_named_and_force_starts_over(built, tmp_path, monkeypatch, name):
    run = tmp_path / "run"
    done = train(built, model="tiny", out=run, options=FAST)
    (run / "weights.safetensors").rename(run / name)
    (run / name).write_bytes((run / name).read_bytes()[:500])
    with pytest.raises(DataError, match=f"{name} cannot be read as safetensors.*train again with --force"):
        train(built, model="tiny", out=run, options=FAST)
    assert equal(weights(train(built, model="tiny", out=run, options=FAST, force=True)), weights(done))


def test_what_came_to_nothing_stands_in_nobodys_way_and_differences_are_named(built, tmp_path):
    run = tmp_path / "run"
    with pytest.raises(SpurgenError, match="dfr ends with a computation"):
        train(built, "dfr", "tiny", run, options=FAST | {"keep": "average"})
    assert not run.exists(), "refused before anything is written"
    rough = {
        "learning_rate": 100,
        "optimiser": "sgd",
        "clip": 0,
        "schedule": "constant",
        "warmup": 0,
        "weight_decay": 10,
    }
    with pytest.raises(SpurgenError, match="no finite number"):
        train(built, model="tiny", out=run, options=FAST | rough)
    train(built, "group_dro", "tiny", run, options=FAST)
    for settings, options, sentence in (
        ({}, {"weight_decay": 0.1}, r"its weight_decay is 0\.01, not 0\.1"),
        ({"eta": 0.5}, {}, r"its eta is 0\.01, not 0\.5"),
    ):
        with pytest.raises(DataError, match=f"holds another run .*{sentence}"):
            train(built, "group_dro", "tiny", run, settings=settings, options=FAST | options)


def test_data_that_was_changed_is_not_trained_on(tmp_path):
    build(world(), tmp_path / "d", rows=200)
    shard = next((tmp_path / "d/data").glob("train*"))
    content = bytearray(shard.read_bytes())
    content[len(content) // 2] ^= 1
    shard.write_bytes(content)
    with pytest.raises(DataError, match=r"is not as its manifest says.*spurgen verify"):
        train(tmp_path / "d", model="tiny", options={"steps": 2, "batch_size": 16})


def test_what_is_no_dataset_is_one_sentence(built):
    with pytest.raises(SpurgenError, match="data is NoneType; give a dataset"):
        train(None, model="tiny")
    with pytest.raises(SpurgenError, match="give two, one to train and another to validate on"):
        train(built, model="tiny", splits=("train", "train"))
    assert repr(train(built, model="tiny", options={"steps": 2, "batch_size": 32})) == "Run(erm, tiny, seed 0)"


def test_a_lock_that_a_kill_left_is_no_run(built, tmp_path):
    (tmp_path / "run" / BUILD).mkdir(parents=True)
    (tmp_path / "run" / BUILD / "lock").write_text("1")
    assert train(built, model="tiny", out=tmp_path / "run", options=FAST).outcome is not None


def test_the_optimiser_comes_back_as_it_lay_in_memory(tmp_path):
    """Kernels that take a whole step at once want all numbers of a weight in the same order."""
    from spurgen.train import checkpoint, optimiser
    from spurgen.train.options import Options

    conv = torch.nn.Conv2d(3, 4, 3).to(memory_format=torch.channels_last)
    first, second = (optimiser.optimiser(conv.parameters(), Options(), torch.device("cpu")) for _ in range(2))
    conv(torch.rand(2, 3, 5, 5)).sum().backward()
    first.step()
    checkpoint.write(tmp_path / "c", "k", checkpoint.Place(), {"optimiser": optimiser.tensors(first)})
    optimiser.restore(second, checkpoint.read(tmp_path / "c", "k")[1]["optimiser"])
    one, two = (o.state[conv.weight]["exp_avg"] for o in (first, second))
    assert two.stride() == one.stride() == conv.weight.stride() and torch.equal(one, two)


def test_a_stage_trains_what_the_one_before_had_frozen(built):
    from spurgen.learning import METHODS, Stage
    from spurgen.methods.erm import METHOD, Erm

    class HeadFirst(Erm):
        def stages(self):
            return [Stage("head", 0.5), Stage("all", 0.5)]

        def trained(self, stage):
            return list((self.net.head if stage == 0 else self.net).parameters())

    METHODS.add("head_first", dataclasses.replace(METHOD, name="head_first", learner=HeadFirst))
    try:
        fresh = train(built, "head_first", "tiny", options={"steps": 2, "batch_size": 32, "learning_rate": 1e-12})
        run = train(built, "head_first", "tiny", options=FAST)
    finally:
        del METHODS._loaded()["head_first"]
    one, two = (r.learner.net.hidden[0].weight for r in (fresh, run))
    assert not torch.allclose(one, two, atol=1e-4)


def test_keeping_the_best_is_refused_where_the_end_is_a_computation(built):
    with pytest.raises(SpurgenError, match=r"dfr ends with a computation on validation rows.*leave keep out"):
        train(built, "dfr", "tiny", options=FAST | {"keep": "average"})


def test_on_the_fly_it_goes_on_too(tmp_path, monkeypatch):
    options = {"steps": 12, "batch_size": 16}
    whole = train(world(), model="tiny", options=options, stream=True, out=tmp_path / "whole")
    monkeypatch.setattr("spurgen.train.loop._SAVE_SECONDS", 0.0)
    save = Trainer._save

    def stopping(self, stepper):
        save(self, stepper)
        if self.place.taken == 7:
            raise Stop

    monkeypatch.setattr(Trainer, "_save", stopping)
    with pytest.raises(Stop):
        train(world(), model="tiny", options=options, stream=True, out=tmp_path / "run")
    monkeypatch.setattr(Trainer, "_save", save)
    run = train(world(), model="tiny", options=options, stream=True, out=tmp_path / "run")
    assert equal(weights(run), weights(whole))


def test_a_tracker_that_fails_is_heard_of_and_stops_nothing(built):
    def broken(event):
        raise RuntimeError("no connection")

    with pytest.warns(UserWarning, match="a tracker failed .*no connection"):
        run = train(built, model="tiny", options={"steps": 3, "batch_size": 32}, subscribers=[broken])
    assert run.about["method"] == "erm"


def no_channels(path):
    plain = world(channels={}, environments={"strong": {}, "weak": {}, "even": {}})
    build(plain, path, rows=200)
    return path


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ({"method": "grop_dro"}, "there is no method 'grop_dro'; did you mean 'group_dro'?"),
        ({"model": "resnet81"}, "there is no model 'resnet81'; did you mean 'resnet18'?"),
        ({"method": "group_dro", "settings": {"etta": 1}}, "there is no setting of method group_dro, 'etta'; did you"),
        ({"settings": {"eta": 1}}, "there is no setting of method erm, 'eta'; method erm has none"),
        ({"method": "group_dro", "settings": {"eta": "fast"}}, "is 'fast'; it must be a number"),
        ({"method": "group_dro", "settings": {"eta": -1}}, "eta of method group_dro is -1.0; it must be at least 0"),
        ({"options": {"batchsize": 3}}, "there is no setting of training, 'batchsize'; did you mean 'batch_size'?"),
        ({"options": {"batch_size": 1000}}, "has 360 rows, fewer than a batch of 1000; take a smaller batch_size"),
        ({"options": {"optimiser": "adamw2"}}, "did you mean 'adamw'?"),
        ({"options": {"momentum": 0.5}}, "momentum would have no effect: only the optimiser sgd has one; leave it out"),
        ({"options": {"epochs": 3, "steps": 5}}, "epochs would have no effect: steps are given too"),
        ({"device": "tpu"}, "there is no device 'tpu'; take auto, cpu or cuda"),
        ({"graphs": "on", "device": "cpu"}, "graphs are for GPUs"),
        ({"splits": ("training", "val")}, "; did you mean 'train'?"),
        ({"group_by": "colour"}, "there is no column to group by 'colour'"),
        ({"stream": True}, "a stream has no epochs; say how many steps"),
        ({"stream": True, "method": "group_dro", "options": {"steps": 5}}, "samples rows by group or environment"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_one_sentence(built, how, sentence):
    data = world() if how.get("stream") else built
    with pytest.raises(SpurgenError, match=r"(?s).*") as raised:
        train(data, **({"model": "tiny"} | how))
    assert sentence in str(raised.value) and "\n" not in str(raised.value)


def test_data_without_groups_environments_or_classes_is_refused(built, tmp_path):
    plain = no_channels(tmp_path / "plain")
    with pytest.raises(SpurgenError, match=r"group_dro needs group attributes, and this data has none"):
        train(plain, "group_dro", "tiny", options=FAST)
    train(plain, "group_dro", "tiny", options={"steps": 2, "batch_size": 16}, group_by="label")
    shares = {"mug": 1e6, "heart": 1e-6, "star": 1e-6}
    build(world(class_shares=shares, sampling="iid"), tmp_path / "one", rows=200)
    with pytest.raises(SpurgenError, match="all training rows of small/v1 are of one class"):
        train(tmp_path / "one", model="tiny", options=FAST)
    with pytest.raises(DataError, match="holds no"):
        load_run(tmp_path / "plain")


def test_files_that_lie_are_not_run(built, tmp_path):
    train(built, model="tiny", out=tmp_path / "run", options={"steps": 2, "batch_size": 32})
    (tmp_path / "run/weights.safetensors").write_bytes(b"\x80\x04\x95 a pickle")
    with pytest.raises(DataError, match="cannot be read as safetensors"):
        load_run(tmp_path / "run")
    (tmp_path / "run/run.json").write_text("[]")
    with pytest.raises(DataError, match="another version of SpurGen, or of something else"):
        load_run(tmp_path / "run")
