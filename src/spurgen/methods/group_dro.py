"""GroupDRO: the groups' losses weighted by how badly each has been doing."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from spurgen.learning import Batch, Learner, Loss, Method, Needs, Sampling, Task
from spurgen.methods._groups import means
from spurgen.settings import Power, setting


@dataclass(frozen=True)
class Settings:
    """Settings of GroupDRO."""

    eta: float = setting(0.01, "how fast weight moves to the groups that do badly", Power(-3, -1), least=0)
    balanced: bool = setting(True, "sample groups equally often, as the authors do; without, rare ones are seldom seen")


class GroupDro(Learner):
    """Weights q over groups, moved at every step by exp(eta · loss) and kept from step to step."""

    q: Tensor

    def __init__(self, task: Task, settings: Settings):
        super().__init__(task, settings)
        present = (task.group_sizes > 0).float()
        self.register_buffer("q", present / present.sum())

    def sampling(self, stage: int) -> Sampling:
        """Groups equally often."""
        return Sampling("balanced") if self.settings.balanced else Sampling()

    def loss(self, batch: Batch, phase: str) -> Loss:
        """Sum over groups of q times the group's mean loss; a group that is not in the batch keeps its q."""
        scores = self.net(batch.inputs)
        rows = cross_entropy(scores, batch.y, reduction="none")
        losses, present = means(rows, batch.group, len(self.task.groups))
        with torch.no_grad():
            self.q.mul_(torch.where(present, torch.exp(self.settings.eta * losses), 1.0))
            self.q.div_(self.q.sum())
        return Loss((self.q * losses).sum(), scores)


METHOD = Method(
    name="group_dro",
    about="minimises the loss of the worst groups: weights grow for groups that do badly",
    paper="Sagawa et al. 2020, Distributionally Robust Neural Networks, arXiv:1911.08731",
    learner=GroupDro,
    settings=Settings,
    needs=Needs(groups=True),
)
