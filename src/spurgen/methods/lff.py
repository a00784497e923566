"""LfF: one network is driven towards shortcuts, and another towards what the first finds hard."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from spurgen.learning import Batch, Data, Learner, Loss, Method, Needs, Task
from spurgen.settings import Even, setting

_TINY = 1e-8


@dataclass(frozen=True)
class Settings:
    """Settings of LfF."""

    q: float = setting(
        0.7, "how much the biased network is drawn to what it already finds easy", Even(0.05, 0.95), least=0.001, most=1
    )
    decay: float = setting(0.7, "how much of a row's remembered loss is kept when it is seen again", least=0, most=0.99)


class Lff(Learner):
    """Two networks. `net` is the debiased one and predicts.

    The biased one goes down the generalised cross-entropy (1 - p^q) / q. The other goes down cross-entropies times
    b / (b + d), where b and d are the two networks' losses on the row: moving averages over the times it was seen,
    divided by the largest such average of a row of the same class.
    """

    label: Tensor  # of every training row
    losses: Tensor  # (2, rows): the biased and the debiased network's moving averages
    seen: Tensor

    def __init__(self, task: Task, settings: Settings):
        super().__init__(task, settings)
        self.biased = task.build()
        self.register_buffer("label", torch.zeros(task.rows, dtype=torch.long, device=task.device))
        self.register_buffer("losses", torch.zeros(2, task.rows, device=task.device))
        self.register_buffer("seen", torch.zeros(task.rows, device=task.device))

    def begin(self, stage: int, data: Data) -> None:
        """Remember the labels, which say whose losses a loss is compared with."""
        self.label.copy_(data.train.y)

    def loss(self, batch: Batch, phase: str) -> Loss:
        """Both networks' losses; neither reaches the other network, nor what made the other's inputs.

        The trainer clips the gradient of both together.
        """
        debiased = self.net(batch.inputs)
        biased = self.biased(batch.inputs.detach())
        easy = cross_entropy(biased, batch.y, reduction="none")
        hard = cross_entropy(debiased, batch.y, reduction="none")
        weights = self._weights(batch, torch.stack([easy, hard]).detach())
        q = self.settings.q
        generalised = -torch.expm1(-q * easy) / q  # p = exp(-easy)
        return Loss(generalised.mean() + (weights * hard).mean(), debiased)

    @torch.no_grad()
    def _weights(self, batch: Batch, losses: Tensor) -> Tensor:
        """Take the losses into the averages, and see how hard each row is for the biased network."""
        keep = self.settings.decay * self.seen[batch.position]  # the first loss is taken as it is
        averages = keep * self.losses[:, batch.position] + (1 - keep) * losses.float()
        self.losses.index_copy_(1, batch.position, averages)
        self.seen.index_fill_(0, batch.position, 1)
        largest = torch.zeros(2, len(self.task.classes), device=losses.device)
        largest.scatter_reduce_(1, self.label.expand(2, -1), self.losses, "amax")
        b, d = averages / largest[:, batch.y].clamp(min=_TINY)
        return b / (b + d + _TINY)


METHOD = Method(
    name="lff",
    about="trains a second network on what a network that loves shortcuts finds hard",
    paper="Nam et al. 2020, Learning from Failure: Training Debiased Classifier from Biased Classifier, "
    "arXiv:2007.02561",
    learner=Lff,
    settings=Settings,
    needs=Needs(rows=True),
)
