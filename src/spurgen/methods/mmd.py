"""MMD: the distributions of the features are to be the same in every environment."""

from __future__ import annotations

from spurgen.learning import Method, Needs
from spurgen.methods import _distances
from spurgen.methods._alignment import Aligned, Settings


class Mmd(Aligned):
    """Cross-entropy averaged per environment (equal weights) + weight · squared MMD averaged over pairs.

    This is the penalty alone, as DomainBed has it; the paper's auto-encoder and prior are in `mmd_aae`.
    """

    distance = staticmethod(_distances.mmd)


METHOD = Method(
    name="mmd",
    about="aligns the distributions of the features between environments",
    paper="Li et al. 2018, Domain Generalization with Adversarial Feature Learning, CVPR; "
    "Gretton et al. 2012, A Kernel Two-Sample Test, JMLR 13",
    learner=Mmd,
    settings=Settings,
    needs=Needs(environments=True),
)
