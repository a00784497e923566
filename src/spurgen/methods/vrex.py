"""V-REx: the risks of the environments are to be equal."""

from __future__ import annotations

from dataclasses import dataclass

from spurgen.learning import Batch, Loss, Method, Needs
from spurgen.methods._environments import Annealed, average
from spurgen.settings import Power, setting


@dataclass(frozen=True)
class Settings:
    """Settings of V-REx."""

    weight: float = setting(10.0, "weight of the variance once annealed (β); 1 before", Power(-1, 5), least=0)
    anneal: float = setting(0.1, "share of the steps before the weight rises", Power(-3.7, -0.1), least=0, most=0.99)


class Vrex(Annealed):
    """Mean risk + weight · variance of the risks, over environments.

    The variance divides by the number of environments, and the risks are averaged where the paper sums them, both as
    in DomainBed, so that a weight means the same for any number of environments.
    """

    def loss(self, batch: Batch, phase: str) -> Loss:
        """Cross-entropy averaged per environment, plus the variance."""
        scores = self.net(batch.inputs)
        risks, present = self.risks(scores, batch)
        mean = average(risks, present)
        return Loss(mean + self.weight(phase) * average((risks - mean).square(), present), scores)


METHOD = Method(
    name="vrex",
    about="penalises the variance of the environments' risks",
    paper="Krueger et al. 2021, Out-of-Distribution Generalization via Risk Extrapolation (REx), arXiv:2003.00688",
    learner=Vrex,
    settings=Settings,
    needs=Needs(environments=True),
)
