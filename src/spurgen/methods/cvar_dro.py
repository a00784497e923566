"""CVaR DRO: only the rows with the largest losses count."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.nn.functional import cross_entropy

from spurgen.learning import Batch, Learner, Loss, Method
from spurgen.settings import Power, setting


@dataclass(frozen=True)
class Settings:
    """Settings of CVaR DRO."""

    alpha: float = setting(
        0.1, "share of a batch that counts; 1 gives plain training", Power(-2, 0), least=0.0001, most=1
    )


class CvarDro(Learner):
    """The conditional value at risk of a batch: the mean loss of its worst `alpha` share."""

    def loss(self, batch: Batch, phase: str) -> Loss:
        """The worst alpha · n losses, the last of them in part where that is no whole number, divided by alpha · n.

        Where alpha · n is below 1 that is the largest loss.
        """
        scores = self.net(batch.inputs)
        rows = cross_entropy(scores, batch.y, reduction="none").sort(descending=True).values
        many = self.settings.alpha * len(batch)
        shares = (many - torch.arange(len(batch), device=rows.device, dtype=rows.dtype)).clamp(0, 1)
        return Loss((shares * rows).sum() / many, scores)


METHOD = Method(
    name="cvar_dro",
    about="minimises the mean loss of the worst share of rows, without knowing their groups",
    paper="Levy et al. 2020, Large-Scale Methods for Distributionally Robust Optimization, arXiv:2010.05893",
    learner=CvarDro,
    settings=Settings,
)
