"""Counts of groups or classes, and weights of rows made of them whose mean over the training rows is 1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from spurgen.learning import Batch, Learner, Loss, Task
from spurgen.settings import setting


@dataclass(frozen=True)
class Over:
    """The setting that says whether groups or classes are to count alike."""

    over: str = setting("group", "what is to count alike, however many rows it has", choices=("group", "class"))


def sizes_of(task: Task, over: str) -> Tensor:
    """Training rows of each group or class."""
    return task.group_sizes if over == "group" else task.class_sizes


def codes_of(batch: Batch, over: str) -> Tensor:
    """The group or class of each row."""
    return batch.group if over == "group" else batch.y


def normalised(raw: Tensor, sizes: Tensor) -> Tensor:
    """Weights in these proportions whose mean over the training rows is 1; 0 for what has no rows.

    Were the mean anything else, the weights would change the learning rate as well.
    """
    rows = sizes.double()
    raw = torch.where(rows > 0, raw.double(), 0.0)
    return (raw * rows.sum() / (raw * rows).sum()).float()


def weights_for(task: Task, over: str, raw: Callable[[Tensor], Tensor]) -> Tensor:
    """The weight of each group or class: in proportion to `raw` of its size, which counts as 1 where it is 0."""
    sizes = sizes_of(task, over)
    return normalised(raw(sizes.double().clamp(min=1)), sizes)


class Weighted(Learner):
    """Cross-entropies times weights that depend on how many rows a group or class has."""

    weights: Tensor

    def __init__(self, task: Task, settings: Any):
        super().__init__(task, settings)
        self.register_buffer("weights", weights_for(task, settings.over, self.raw))

    def raw(self, sizes: Tensor) -> Tensor:
        """Weights in any unit, for sizes of at least 1."""
        raise NotImplementedError

    def loss(self, batch: Batch, phase: str) -> Loss:
        """The sum of weighted cross-entropies, divided by the number of rows and not by what they happen to weigh."""
        scores = self.net(batch.inputs)
        rows = cross_entropy(scores, batch.y, reduction="none")
        return Loss((self.weights[codes_of(batch, self.settings.over)] * rows).mean(), scores)
