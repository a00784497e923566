"""cRT with weights: features from plain training, then a new head for which every group, or class, weighs the same."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from spurgen.learning import Batch, Method, Needs, Task
from spurgen.methods._two_stage import FirstStage, Retrained
from spurgen.methods._weights import Over, codes_of, weights_for


@dataclass(frozen=True)
class Settings(Over, FirstStage):
    """Settings of cRT with weights."""


class ReweightCrt(Retrained):
    """A new head with weights 1 / n for the rows of a group of n."""

    weights: Tensor

    def __init__(self, task: Task, settings: Settings):
        super().__init__(task, settings)
        self.register_buffer("weights", weights_for(task, settings.over, torch.reciprocal))

    def weight(self, batch: Batch) -> Tensor:
        """The weight of each row's group or class."""
        return self.weights[codes_of(batch, self.settings.over)]


METHOD = Method(
    name="reweight_crt",
    about="plain training, then a new head on frozen features with the loss weighted by group",
    paper="Kang et al. 2020, Decoupling Representation and Classifier for Long-Tailed Recognition, arXiv:1910.09217",
    learner=ReweightCrt,
    settings=Settings,
    needs=Needs(groups=True),
)
