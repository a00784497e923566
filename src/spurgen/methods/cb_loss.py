"""Class-balanced loss: weights from the effective number of rows, which stops growing where rows repeat each other."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from spurgen.learning import Method, Needs
from spurgen.methods._weights import Over, Weighted
from spurgen.settings import Power, setting


@dataclass(frozen=True)
class Settings(Over):
    """Settings of the class-balanced loss."""

    beta: float = setting(
        0.9999,
        "share of what a further row shows that is new; 0 gives plain training, 1 would give reweight",
        Power(-5, -2, complement=True),
        least=0,
        most=0.999999,
    )


class CbLoss(Weighted):
    """Weights (1 - beta) / (1 - beta^n) for n training rows, worked out with 64 bits: beta^n is close to 1."""

    def raw(self, sizes: Tensor) -> Tensor:
        """The inverse of the effective numbers."""
        beta = self.settings.beta
        return (1 - beta) / (1 - beta**sizes)


METHOD = Method(
    name="cb_loss",
    about="weighs rows by one over the effective number of rows of their group",
    paper="Cui et al. 2019, Class-Balanced Loss Based on Effective Number of Samples, arXiv:1901.05555",
    learner=CbLoss,
    settings=Settings,
    needs=Needs(groups=True),
)
