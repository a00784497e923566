"""What only a GPU can show: captured steps learn what uncaptured ones do, and trials in turns what they would alone."""

from __future__ import annotations

import pytest
import torch

from spurgen.learning import METHODS
from spurgen.train import train
from spurgen.train.run import training
from spurgen.train.turns import beside

pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
    pytest.mark.filterwarnings("ignore:JTT's first stage gets every training row right"),
]
FAST = {"batch_size": 32, "steps": 24, "checks": 2, "precision": "float32"}


def loss_of(run):
    return torch.from_numpy(run.outcome.records[:, 0])


@pytest.mark.parametrize("method", METHODS.names())
def test_a_captured_step_is_the_step(built, method):
    settings = {"first_stage": 0.5} if method == "jtt" else {}
    how = {"settings": settings, "options": FAST, "device": "cuda"}
    captured, plain = (train(built, method, "tiny", graphs=graphs, **how) for graphs in ("on", "off"))
    assert torch.allclose(loss_of(captured)[:12], loss_of(plain)[:12], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("method", ["erm", "group_dro", "irm", "lff"])  # none of which draws random numbers on the way
def test_a_gpu_learns_what_a_processor_does(built, method):
    there, here = (train(built, method, "tiny", options=FAST, device=device) for device in ("cuda", "cpu"))
    assert torch.allclose(loss_of(there)[:8], loss_of(here)[:8], rtol=1e-2, atol=1e-3)


def test_in_turns_or_alone_the_losses_are_the_same(built):
    asked = [("mixup", 0), ("erm", 1), ("group_dro", 2), ("adversarial", 3)]
    alone = [train(built, m, "tiny", seed=seed, options=FAST, device="cuda") for m, seed in asked]
    work = [training(built, m, "tiny", seed=seed, options=FAST, device="cuda") for m, seed in asked]
    together = {run.about["key"]: run for run in beside(work, 3)}
    for run in alone:
        assert torch.allclose(loss_of(run), loss_of(together[run.about["key"]]), rtol=1e-3, atol=1e-4)


def test_a_stopped_run_goes_on(built, tmp_path, monkeypatch):
    from spurgen.train.loop import Trainer

    class Stop(BaseException):
        pass

    monkeypatch.setattr("spurgen.train.loop._SAVE_SECONDS", 0.0)
    save = Trainer._save

    def stopping(self, stepper):
        save(self, stepper)
        if self.place.taken == 13:
            raise Stop

    whole = train(built, "group_dro", "tiny", options=FAST, device="cuda")
    monkeypatch.setattr(Trainer, "_save", stopping)
    with pytest.raises(Stop):
        train(built, "group_dro", "tiny", tmp_path / "run", options=FAST, device="cuda")
    monkeypatch.setattr(Trainer, "_save", save)
    again = train(built, "group_dro", "tiny", tmp_path / "run", options=FAST, device="cuda")
    assert torch.allclose(loss_of(again), loss_of(whole), rtol=1e-3, atol=1e-4)
