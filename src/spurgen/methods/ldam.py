"""LDAM: the rarer a group or class, the wider the margin by which its rows have to be right."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from spurgen.learning import Batch, Learner, Loss, Method, Needs, Task
from spurgen.methods._weights import Over, codes_of, sizes_of
from spurgen.settings import OneOf, Power, setting


@dataclass(frozen=True)
class Settings(Over):
    """Settings of LDAM."""

    max_margin: float = setting(0.5, "the margin of the smallest group", Power(-1, -0.1), least=0)
    scale: float = setting(30.0, "what scores are multiplied by before the softmax", OneOf((10.0, 30.0)), least=0.01)


class Ldam(Learner):
    """Margins in proportion to n^(-1/4), the largest of them `max_margin`.

    A margin is taken off the score of a row's own class during training only: the margin of that class, or of the
    row's group, whatever the group says about the class. Predictions have the scale, for with it the softmax was
    trained, and no margin.
    """

    margins: Tensor

    def __init__(self, task: Task, settings: Settings):
        super().__init__(task, settings)
        sizes = sizes_of(task, settings.over).double()
        raw = torch.where(sizes > 0, sizes.clamp(min=1) ** -0.25, 0.0)
        self.register_buffer("margins", (settings.max_margin * raw / raw.max()).float())

    def loss(self, batch: Batch, phase: str) -> Loss:
        """The mean cross-entropy of scaled scores with margins."""
        scores = self(batch.inputs)
        own = batch.y[:, None] == torch.arange(len(self.task.classes), device=scores.device)
        margins = self.margins[codes_of(batch, self.settings.over)]
        return Loss(cross_entropy(scores - self.settings.scale * own * margins[:, None], batch.y), scores)

    def forward(self, inputs: Tensor) -> Tensor:
        """Scaled scores."""
        scores: Tensor = self.settings.scale * self.net(inputs)
        return scores


METHOD = Method(
    name="ldam",
    about="asks for wider margins where there are fewer rows",
    paper="Cao et al. 2019, Learning Imbalanced Datasets with Label-Distribution-Aware Margin Loss, arXiv:1906.07413",
    learner=Ldam,
    settings=Settings,
    needs=Needs(groups=True),
)
