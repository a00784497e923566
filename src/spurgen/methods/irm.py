"""IRM: the best scaling of the scores is to be the same in every environment."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from spurgen.learning import Batch, Loss, Method, Needs
from spurgen.methods._environments import Annealed, average, ranks
from spurgen.methods._groups import means_of, members
from spurgen.settings import Power, setting


@dataclass(frozen=True)
class Settings:
    """Settings of IRM."""

    weight: float = setting(1e2, "weight of the penalty once annealed (λ); 1 before", Power(-1, 5), least=0)
    anneal: float = setting(0.1, "share of the steps before the weight rises", Power(-3.7, -0.1), least=0, most=0.99)


class Irm(Annealed):
    """Mean risk + weight · mean penalty, over environments (IRMv1).

    An environment's penalty estimates the squared derivative of its risk by a factor on the scores, at 1: the product
    of the derivatives of two halves of its rows, which is right on average (the square of one estimate is too large by
    its variance) and may be negative. The loss is not divided by a weight above 1, as the authors' first code did and
    DomainBed does not: an adaptive optimiser hardly sees such a factor, and under SGD it changes the learning rate.
    """

    least_rows = 2

    def loss(self, batch: Batch, phase: str) -> Loss:
        """Cross-entropy averaged per environment, plus the penalty."""
        scores = self.net(batch.inputs)
        risks, present = self.risks(scores, batch)
        total = average(risks, present) + self.weight(phase) * average(self.penalties(scores, batch), present)
        return Loss(total, scores)

    def penalties(self, scores: Tensor, batch: Batch) -> Tensor:
        """One number per environment; 0 for one with a single row, whose second half is empty.

        The derivative by s of −log softmax(s·z)[y], at s = 1, is Σ_k softmax(z)_k·z_k − z_y.
        """
        z = scores.float()
        slopes = (z.softmax(1) * z).sum(1) - z.gather(1, batch.y[:, None])[:, 0]
        half = 2 * batch.environment + ranks(self.members(batch)) % 2
        halves = means_of(slopes, members(half, 2 * len(self.task.environments)))
        return halves[0::2] * halves[1::2]


METHOD = Method(
    name="irm",
    about="asks for features on which one classifier is the best in every environment",
    paper="Arjovsky et al. 2019, Invariant Risk Minimization, arXiv:1907.02893",
    learner=Irm,
    settings=Settings,
    needs=Needs(environments=True),
)
