"""Balanced softmax: how common a class is, is added to its score in training, so that scores need not learn it."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from spurgen.learning import Batch, Data, Learner, Loss, Method, Needs, Task
from spurgen.methods._contexts import contexts
from spurgen.methods._weights import Over


class BalancedSoftmax(Learner):
    """Cross-entropy of scores plus log counts; predictions use the plain scores.

    Over classes, a class adds the log of its training rows. Over groups, it adds the log of the training rows that
    have the class and the row's *context*: what the name of the row's group says besides the label. So for groups of
    label and background these are the sizes of the groups with the row's background, one for each class; for groups
    that do not name the label they are the counts of labels within the row's group. What was counted only within
    groups that name the label would be 0 for all classes but one, and nothing would be learnt; a class that does not
    occur in a context counts as if it did once, so that its score is held down instead of being ruled out.
    """

    context: Tensor  # of each group
    prior: Tensor  # (contexts, classes): logs of counts

    def __init__(self, task: Task, settings: Over):
        super().__init__(task, settings)
        places = contexts(task.groups) if settings.over == "group" else [0]
        self.register_buffer("context", torch.tensor(places, dtype=torch.long, device=task.device))
        self.register_buffer("prior", torch.zeros(max(places) + 1, len(task.classes), device=task.device))

    def begin(self, stage: int, data: Data) -> None:
        """Count labels in contexts."""
        cells = self._context(data.train.group) * len(self.task.classes) + data.train.y
        counts = torch.bincount(cells, minlength=self.prior.numel()).reshape(self.prior.shape)
        self.prior.copy_(counts.clamp(min=1).log())

    def _context(self, group: Tensor) -> Tensor:
        return self.context[group] if self.settings.over == "group" else torch.zeros_like(group)

    def loss(self, batch: Batch, phase: str) -> Loss:
        """The mean cross-entropy of scores and log counts together."""
        scores = self.net(batch.inputs)
        return Loss(cross_entropy(scores + self.prior[self._context(batch.group)], batch.y), scores)


METHOD = Method(
    name="balanced_softmax",
    about="takes out of the scores how common each class is among rows like this one",
    paper="Ren et al. 2020, Balanced Meta-Softmax for Long-Tailed Visual Recognition, arXiv:2007.10740",
    learner=BalancedSoftmax,
    settings=Over,
    needs=Needs(groups=True, rows=True),
)
