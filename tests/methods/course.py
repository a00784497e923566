"""A whole training in a few lines, for tests: stages, sampling, partners and frozen parts as a method asks for them.

It also takes a learner apart half-way and goes on with another, from nothing but what was saved.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from spurgen.learning import Batch, Learner, Split
from tests.methods.tiny import Line, data, learner, split


class Deep(Line):
    """Features are learnt, with running statistics; scores start at 0."""

    def __init__(self) -> None:
        super().__init__(4, weight=torch.zeros(3, 4))
        self.body = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh())

    def features(self, inputs: Tensor) -> Tensor:
        return self.body(inputs)


def flat() -> Line:
    """Scores that start at 0."""
    return Line(weight=torch.zeros(3, 3))


def rows(of: Split, positions: Any, partners: Any = None) -> Batch:
    """Some rows as a batch."""
    at = torch.as_tensor(positions)
    partner = None if partners is None else rows(of, partners)
    return Batch(of.raw(at).float(), of.y[at], of.group[at], of.environment[at], of.attributes[at], at, partner)


def error(trial: Learner, of: Split) -> float:
    """The mean cross-entropy of what is predicted."""
    trial.eval()
    with torch.no_grad():
        return cross_entropy(trial(rows(of, range(len(of))).inputs), of.y).item()


def trained(name: str, settings: dict[str, Any] | None = None, steps: int = 60, stop: int = -1, **changes: Any) -> Any:
    """(learner, error before, error after) of `steps` steps; before step `stop` a fresh learner takes over."""
    changes = {"build": flat, **changes}
    trial, all_data = learner(name, settings, **changes), data()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # tensors this small only make threads wait for one another
    try:
        before = error(trial, all_data.train)
        taken = 0
        for stage, (_, share) in enumerate(trial.stages()):
            trial.begin(stage, all_data)
            trial = _stage(trial, stage, round(steps * share), taken, stop, lambda: learner(name, settings, **changes))
            taken += round(steps * share)
        return trial, before, error(trial, all_data.train)
    finally:
        torch.set_num_threads(threads)


def _stage(trial: Learner, stage: int, steps: int, taken: int, stop: int, again: Any) -> Learner:
    train = data().train
    descent = torch.optim.AdamW(trial.trained(stage), lr=0.05, weight_decay=0.0)
    for step in range(steps):
        if taken + step == stop:
            saved = {k: v.clone() for k, v in trial.state_dict().items()}
            memory = descent.state_dict()
            trial = again()
            trial.load_state_dict(saved)
            descent = torch.optim.AdamW(trial.trained(stage), lr=0.05, weight_decay=0.0)
            descent.load_state_dict(memory)
        trial.train()
        for module in trial.frozen(stage):
            module.eval()
        positions = drawn(trial, stage, step, train)
        batch = rows(train, positions, trial.partners(positions, taken + step))
        torch.manual_seed(taken + step)
        loss = trial.loss(batch, trial.phase(stage, step, steps))
        assert torch.isfinite(loss.total) and loss.total.ndim == 0
        assert loss.scores is None or loss.scores.shape == (len(batch), 3)
        trial.zero_grad(set_to_none=True)
        loss.total.backward()
        descent.step()
    return trial


def drawn(trial: Learner, stage: int, step: int, train: Split, size: int = 16) -> np.ndarray:
    """Positions as the method's sampling says, roughly."""
    how, generator = trial.sampling(stage), np.random.default_rng([stage, step])
    among = np.arange(len(train)) if how.rows is None else how.rows
    if how.kind == "shuffled":
        return generator.choice(among, size, replace=False)
    codes = (train.group if how.over == "group" else train.y).numpy()
    picks = generator.choice(np.unique(codes), size)
    return np.array([generator.choice(np.flatnonzero(codes == c)) for c in picks])


def reached(trial: Learner, loss: Tensor) -> set[str]:
    """The parameters that a loss has a gradient for; all gradients are finite."""
    trial.zero_grad(set_to_none=True)
    loss.backward()
    for name, p in trial.named_parameters():
        assert p.grad is None or torch.isfinite(p.grad).all(), name
    return {name for name, p in trial.named_parameters() if p.grad is not None}


def same(one: Learner, other: Learner) -> bool:
    """Whether two learners hold the same numbers, bit for bit."""
    a, b = one.state_dict(), other.state_dict()
    return a.keys() == b.keys() and all(torch.equal(a[k], b[k]) for k in a)


def looks_at_no_value(name: str, settings: dict[str, Any] | None = None, phases: tuple[str, ...] = ("train",)) -> bool:
    """Whether every phase's loss and gradient run on tensors that have shapes and no values.

    Whatever looks at a value on its way (an `if`, `.item()`, a size that depends on data) raises there; on a GPU it
    would wait for the device, and could not be captured as a graph.
    """
    trial = learner(name, settings).to("meta")
    trial.net = Deep().to("meta")
    batch = rows(split(), range(16), range(16))
    for phase in phases:
        trial.loss(ghost(batch), phase).total.backward()
    return True


def ghost(batch: Batch) -> Batch:
    """The batch without values."""
    tensors = {f.name: getattr(batch, f.name) for f in dataclasses.fields(batch)}
    gone = {name: value.to("meta") for name, value in tensors.items() if isinstance(value, Tensor)}
    return dataclasses.replace(batch, **gone, partner=None if batch.partner is None else ghost(batch.partner))
