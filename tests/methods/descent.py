"""What tests of methods that look at features share: a network with features of its own, a batch, a short training."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from spurgen.learning import Batch, Learner
from tests.methods.tiny import Line, learner, split


class Bent(Line):
    """A network whose features are learnt: tanh of a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(3, 3)

    def features(self, inputs: Tensor) -> Tensor:
        return torch.tanh(self.body(inputs))


def rows(n: int = 100) -> Batch:
    """All rows of the tiny training data as one batch, environments in turn; twins are the rows with other noise."""
    s, every = split(n), torch.arange(n)
    x = s.raw(every)
    twin = x + 0.3 * torch.randn(x.shape, generator=torch.Generator().manual_seed(7))
    return Batch(x, s.y, s.group, s.environment, s.attributes, every, twin=twin)


def error(trial: Learner, of: Batch) -> float:
    """The mean cross-entropy of what is predicted."""
    with torch.no_grad():
        return cross_entropy(trial(of.inputs), of.y).item()


def descend(trial: Learner, measure: Callable[[], float], steps: int = 60) -> tuple[float, float]:
    """The measure before and after a short training on `rows()`, the optimiser made anew where the method says so."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # tensors this small only make threads wait for one another
    try:
        batch, before = rows(), measure()
        for step in range(steps):
            if step == 0 or trial.restarts(0, step, steps):
                descent = torch.optim.AdamW(trial.trained(0), lr=0.05)
            descent.zero_grad(set_to_none=True)
            found = trial.loss(batch, trial.phase(0, step, steps))
            assert torch.isfinite(found.total) and found.scores.shape == (len(batch), 3)
            found.total.backward()
            descent.step()
        return before, measure()
    finally:
        torch.set_num_threads(threads)


def total(trial: Learner, phase: str) -> Callable[[], float]:
    """A measure: the loss of all rows in a phase, with the same random numbers at every call."""

    def measure() -> float:
        with torch.random.fork_rng():
            torch.manual_seed(3)
            return trial.loss(rows(), phase).total.item()

    return measure


def reached(trial: Learner, loss: Tensor) -> set[str]:
    """The parameters that a loss has a gradient for."""
    trial.zero_grad(set_to_none=True)
    loss.backward()
    for name, p in trial.named_parameters():
        assert p.grad is None or torch.isfinite(p.grad).all(), name
    return {name for name, p in trial.named_parameters() if p.grad is not None}


def runs_without_values(name: str, settings: dict[str, Any], phases: tuple[str, ...]) -> bool:
    """Whether every phase's loss and gradient run on tensors that have shapes and no values.

    Whatever looks at a value on its way (an `if`, `.item()`, a size that depends on data) raises there; on a GPU it
    would wait for the device, and could not be captured as a graph.
    """
    there = {f: torch.zeros(2, dtype=torch.long, device="meta") for f in ("class_sizes", "group_sizes")}
    trial = learner(name, settings, build=lambda: Bent().to("meta"), **there)
    batch = rows()
    ghost = dataclasses.replace(
        batch,
        **{f: getattr(batch, f).to("meta") for f in ("inputs", "y", "group", "environment", "attributes", "twin")},
    )
    for phase in phases:
        trial.loss(ghost, phase).total.backward()
    return True
