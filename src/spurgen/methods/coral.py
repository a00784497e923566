"""CORAL: means and covariances of the features are to be the same in every environment."""

from __future__ import annotations

from spurgen.learning import Method, Needs
from spurgen.methods import _distances
from spurgen.methods._alignment import Aligned, Settings


class Coral(Aligned):
    """Cross-entropy averaged per environment (equal weights) + weight · CORAL distance averaged over pairs.

    As in DomainBed the distance has means beside the paper's covariances, and averages squares over entries where the
    paper divides their sum by 4d². An environment with one row in a batch has no covariance to compare.
    """

    least_rows = 2

    distance = staticmethod(_distances.coral)


METHOD = Method(
    name="coral",
    about="aligns means and covariances of the features between environments",
    paper="Sun and Saenko 2016, Deep CORAL: Correlation Alignment for Deep Domain Adaptation, arXiv:1607.01719",
    learner=Coral,
    settings=Settings,
    needs=Needs(environments=True),
)
