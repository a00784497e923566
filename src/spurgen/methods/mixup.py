"""Mixup: rows are blended with other rows of their batch, and so are their labels."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.nn.functional import cross_entropy

from spurgen.learning import Batch, Learner, Loss, Method
from spurgen.methods._mixing import beta
from spurgen.settings import Power, setting


@dataclass(frozen=True)
class Settings:
    """Settings of mixup."""

    alpha: float = setting(
        0.2, "shares come from Beta(alpha, alpha): small ones hardly mix, large ones mix half and half", Power(-1, 1),
        least=0.001,
    )  # fmt: skip


class Mixup(Learner):
    """Inputs and losses mixed in one share for the whole batch, each row with a row of the same batch at random."""

    def loss(self, batch: Batch, phase: str) -> Loss:
        """The two cross-entropies in the shares of the inputs; there are no scores of the rows themselves."""
        share = beta(self.settings.alpha, 1, batch.inputs)[0]
        other = torch.rand(len(batch), device=batch.inputs.device).argsort()
        own = share.to(batch.inputs.dtype)
        scores = self.net(own * batch.inputs + (1 - own) * batch.inputs[other])
        return Loss(share * cross_entropy(scores, batch.y) + (1 - share) * cross_entropy(scores, batch.y[other]))


METHOD = Method(
    name="mixup",
    about="trains on blends of two rows with the labels blended alike",
    paper="Zhang et al. 2018, mixup: Beyond Empirical Risk Minimization, arXiv:1710.09412",
    learner=Mixup,
    settings=Settings,
)
