"""What methods that compare training environments share: which rows are whose, risks, sampling, annealing.

No loop over environments and no waiting for the device: everything is a product with a table of who belongs where.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor
from torch.nn.functional import cross_entropy

from spurgen.errors import SpurgenError
from spurgen.learning import Batch, Learner, Sampling, Task
from spurgen.methods._groups import means_of, members


def ranks(member: Tensor) -> Tensor:
    """The place of each row among the rows of its own set, from 0."""
    return ((member.long().cumsum(1) - 1) * member).sum(0)


def average(values: Tensor, present: Tensor) -> Tensor:
    """The mean over sets that are present, each counting the same."""
    return (values * present).sum() / present.sum().clamp(min=1)


class Environments(Learner):
    """A method whose penalty compares environments: as many rows of each in every batch."""

    least_rows = 1  # of an environment in a batch; with fewer the penalty would always be 0

    def __init__(self, task: Task, settings: Any):
        count = len(task.environments)
        if count < 2:
            only = f"are all of {task.environments[0]!r}" if count else "have no environment"
            raise SpurgenError(
                f"this method compares training environments, but the training rows {only}; "
                "use data with two environments or more in the training split, or another method"
            )
        if task.batch_size // count < self.least_rows:
            raise SpurgenError(
                f"a batch of {task.batch_size} has fewer than {self.least_rows} rows of each of the {count} training "
                f"environments, too few for this method; set the batch size to {self.least_rows * count} or more"
            )
        super().__init__(task, settings)

    def sampling(self, stage: int) -> Sampling:
        """Environments equally often."""
        return Sampling("by_environment")

    def members(self, batch: Batch) -> Tensor:
        """(environments, rows): whether a row is of an environment."""
        return members(batch.environment, len(self.task.environments))

    def risks(self, scores: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
        """(the mean cross-entropy of each environment, whether it is in the batch)."""
        member = self.members(batch)
        return means_of(cross_entropy(scores, batch.y, reduction="none"), member), member.any(1)


class Annealed(Environments):
    """A penalty whose weight is 1 for a share `anneal` of the steps and the setting `weight` from there on.

    The loss jumps at that step, so the optimiser's averages, which are of another loss, are forgotten there. A share
    rather than a number of steps, so that the weight rises in short runs too: 0.1 is the usual 500 of 5,000 steps.
    """

    def phase(self, stage: int, step: int, steps: int) -> str:
        """Which weight the penalty has."""
        return "before" if step < self._rise(steps) else "after"

    def restarts(self, stage: int, step: int, steps: int) -> bool:
        """At the annealing step and at no other."""
        return step == self._rise(steps)

    def _rise(self, steps: int) -> int:
        return round(self.settings.anneal * steps)

    def weight(self, phase: str) -> float:
        """The weight of the penalty."""
        return 1.0 if phase == "before" else float(self.settings.weight)
