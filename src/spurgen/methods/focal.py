"""Focal loss: rows that are already predicted well count for little."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.nn.functional import cross_entropy

from spurgen.learning import Batch, Learner, Loss, Method
from spurgen.settings import Power, setting

_TINY = 1e-12  # below this 1 - p counts as this: at 0 a power below 1 has no slope


@dataclass(frozen=True)
class Settings:
    """Settings of the focal loss."""

    gamma: float = setting(
        1.0, "how much less rows count that are predicted well; 0 gives plain training", Power(0, 1, times=0.5), least=0
    )


class Focal(Learner):
    """Cross-entropies times (1 - p)^gamma, where p is the probability given to the row's class."""

    def loss(self, batch: Batch, phase: str) -> Loss:
        """The mean focal loss, with p = exp(-cross-entropy)."""
        scores = self.net(batch.inputs)
        rows = cross_entropy(scores, batch.y, reduction="none")
        missed = -torch.expm1(-rows)
        return Loss((missed.clamp(min=_TINY) ** self.settings.gamma * rows).mean(), scores)


METHOD = Method(
    name="focal",
    about="turns attention to rows that are predicted badly, whatever their group",
    paper="Lin et al. 2017, Focal Loss for Dense Object Detection, arXiv:1708.02002",
    learner=Focal,
    settings=Settings,
)
