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
    """Weights q over groups, moved at every step by exp(eta · loss) and kept from step to step.

    Their logarithms are kept: a weight that has become very small can grow again, and no loss is too large.
    """

    log_q: Tensor

    def __init__(self, task: Task, settings: Settings):
        super().__init__(task, settings)
        present = (task.group_sizes > 0).float()
        self.register_buffer("log_q", (present / present.sum()).log())

    def sampling(self, stage: int) -> Sampling:
        """Groups equally often."""
        return Sampling("balanced") if self.settings.balanced else Sampling()

    def loss(self, batch: Batch, phase: str) -> Loss:
        """Sum over groups of q times the group's mean loss; a group that is not in the batch keeps its q."""
        scores = self.net(batch.inputs)
        rows = cross_entropy(scores, batch.y, reduction="none")
        losses, _ = means(rows, batch.group, len(self.task.groups))  # 0 for a group that is not in the batch
        with torch.no_grad():
            self.log_q.add_(self.settings.eta * losses)
            self.log_q.sub_(self.log_q.logsumexp(0))
        return Loss((self.log_q.exp() * losses).sum(), scores)


METHOD = Method(
    name="group_dro",
    about="minimises the loss of the worst groups: weights grow for groups that do badly",
    paper="Sagawa et al. 2020, Distributionally Robust Neural Networks, arXiv:1911.08731",
    learner=GroupDro,
    settings=Settings,
    needs=Needs(groups=True),
)
