"""Square-root reweighting: half-way between plain training and groups that all weigh the same."""

from __future__ import annotations

from torch import Tensor

from spurgen.learning import Method, Needs
from spurgen.methods._weights import Over, Weighted


class SqrtReweight(Weighted):
    """Weights 1 / sqrt(n) for a group of n training rows."""

    def raw(self, sizes: Tensor) -> Tensor:
        """The inverse of the sizes' square roots."""
        return sizes.rsqrt()


METHOD = Method(
    name="sqrt_reweight",
    about="weighs rows by one over the square root of the size of their group, milder than reweight",
    paper="Mahajan et al. 2018, Exploring the Limits of Weakly Supervised Pretraining, arXiv:1805.00932",
    learner=SqrtReweight,
    settings=Over,
    needs=Needs(groups=True),
)
