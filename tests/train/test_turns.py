"""Trials that take turns in one process end as they would alone, whatever they do with torch's random numbers."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from spurgen.errors import SpurgenError
from spurgen.train import train
from spurgen.train.run import training
from spurgen.train.turns import Turns, beside, done

FAST = {"batch_size": 32, "steps": 15, "checks": 3}
ASKED = [
    ("mixup", 0, FAST),  # draws from torch's generator at every step
    ("erm", 1, FAST | {"shift_px": 3, "steps": 22}),  # as does a shift
    ("adversarial", 2, FAST | {"steps": 9}),
    ("contrastive", 3, FAST | {"steps": 6}),
]


def test_in_turns_or_alone_the_weights_are_the_same(built):
    alone = [train(built, m, "tiny", seed=seed, options=o) for m, seed, o in ASKED]
    work = [training(built, m, "tiny", seed=seed, options=o) for m, seed, o in ASKED]
    together = {run.about["key"]: run for run in beside(work, 3)}
    assert len(together) == len(ASKED)
    for run in alone:
        twin = together[run.about["key"]]
        ours, theirs = run.learner.state_dict(), twin.learner.state_dict()
        assert all(torch.equal(ours[name], theirs[name]) for name in ours)
        assert np.array_equal(run.outcome.records, twin.outcome.records, equal_nan=True)


def test_between_turns_torch_belongs_to_the_caller(built):
    torch.manual_seed(5)
    expected = torch.rand(4)
    torch.manual_seed(5)
    work = training(built, "mixup", "tiny", options=FAST)
    exact = torch.backends.cudnn.deterministic
    assert not exact  # which it is while a trial has its turn
    found = []
    for _ in range(4):
        next(work)
        assert torch.backends.cudnn.deterministic == exact
        found.append(torch.rand(1))
    work.close()
    assert torch.equal(torch.cat(found), expected)


def test_a_trial_that_fails_leaves_the_others_and_torch_alone(built):
    torch.manual_seed(5)
    before = torch.get_rng_state()
    good = training(built, "erm", "tiny", options=FAST)
    rough = {"learning_rate": 100, "optimiser": "sgd", "clip": 0, "schedule": "constant", "warmup": 0, "steps": 60}
    bad = training(built, "erm", "tiny", options=FAST | rough | {"weight_decay": 10})

    def caught(work: Turns):
        try:
            return (yield from work)
        except SpurgenError as error:
            return error

    found = list(beside([caught(good), caught(bad)], 2))
    assert any(isinstance(f, SpurgenError) and "no finite number" in str(f) for f in found)
    assert any(not isinstance(f, SpurgenError) for f in found)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("width", [1, 2, 5])
def test_no_more_than_so_many_at_a_time(width):
    open_now, most = 0, 0

    def work(n):
        nonlocal open_now, most
        open_now += 1
        most = max(most, open_now)
        for _ in range(n):
            yield
        open_now -= 1
        return n

    assert sorted(beside((work(n) for n in (3, 1, 4, 1, 5)), width)) == [1, 1, 3, 4, 5]
    assert most == min(width, 5) and open_now == 0
    assert done(work(2)) == 2


def test_what_is_left_is_closed_when_one_breaks():
    closed = []

    def good():
        try:
            while True:
                yield
        finally:
            closed.append(True)

    def bad():
        yield
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        list(beside([good(), bad()], 2))
    assert closed == [True]
