"""JTT: trains, then trains anew with the rows that the first network gets wrong repeated."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from spurgen.learning import Data, Method, Needs, Sampling, Stage, Task
from spurgen.methods._two_stage import over_rows, restart
from spurgen.methods.erm import Erm
from spurgen.settings import Even, Power, setting


@dataclass(frozen=True)
class Settings:
    """Settings of JTT."""

    first_stage: float = setting(
        0.5, "share of the steps after which errors are gathered: early, while the network still relies on shortcuts",
        Even(0.2, 0.8), least=0.01, most=0.99,
    )  # fmt: skip
    upweight: int = setting(
        10, "how often a row that was wrong comes in a pass over the rows", Power(0, 2.5, whole=True), least=1,
        most=10_000,
    )  # fmt: skip


class Jtt(Erm):
    """Two plain trainings; the second starts afresh and sees each error of the first `upweight` times in a pass."""

    errors: Tensor

    def __init__(self, task: Task, settings: Settings):
        super().__init__(task, settings)
        self.register_buffer("errors", torch.zeros(task.rows, dtype=torch.bool, device=task.device))

    def stages(self) -> list[Stage]:
        """The network that errs, and the one that counts."""
        share = self.settings.first_stage
        return [Stage("identify", share), Stage("train", 1 - share)]

    def begin(self, stage: int, data: Data) -> None:
        """Gather the errors of the first network, then start it afresh."""
        if stage == 0:
            return
        predicted = over_rows(self.net, data.train, lambda inputs: self.net(inputs).argmax(1))
        self.errors.copy_(predicted != data.train.y)
        restart(self.net, self.task.build())
        if not self.errors.any():
            warnings.warn(
                "JTT's first stage gets every training row right, so nothing is repeated and the second is plain "
                "training; shorten the first with first_stage",
                stacklevel=2,
            )

    def sampling(self, stage: int) -> Sampling:
        """All rows, errors repeated in the second stage."""
        if stage == 0:
            return Sampling()
        again = np.flatnonzero(self.errors.cpu().numpy())
        return Sampling(rows=np.concatenate([np.arange(self.task.rows), *[again] * (self.settings.upweight - 1)]))


METHOD = Method(
    name="jtt",
    about="trains twice: the second time with the errors of the first repeated",
    paper="Liu et al. 2021, Just Train Twice: Improving Group Robustness without Training Group Information, "
    "arXiv:2107.09044",
    learner=Jtt,
    settings=Settings,
    needs=Needs(rows=True),
)
