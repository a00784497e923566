"""Reweighting: rows of rare groups weigh more, so that all groups weigh the same in all."""

from __future__ import annotations

from torch import Tensor

from spurgen.learning import Method, Needs
from spurgen.methods._weights import Over, Weighted


class Reweight(Weighted):
    """Weights 1 / n for a group of n training rows."""

    def raw(self, sizes: Tensor) -> Tensor:
        """The inverse of the sizes."""
        return 1 / sizes


METHOD = Method(
    name="reweight",
    about="weighs rows by one over the size of their group, so that every group counts the same",
    paper="Idrissi et al. 2022, Simple Data Balancing Achieves Competitive Worst-Group-Accuracy, arXiv:2110.14503",
    learner=Reweight,
    settings=Over,
    needs=Needs(groups=True),
)
