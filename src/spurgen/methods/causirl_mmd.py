"""CausIRL with the MMD distance: two random mixtures of all environments are to look alike."""

from __future__ import annotations

from spurgen.learning import Method, Needs
from spurgen.methods import _distances
from spurgen.methods._alignment import Mixed, Settings


class CausIrlMmd(Mixed):
    """Cross-entropy averaged per environment (equal weights) + weight · distance between two random mixtures."""

    distance = staticmethod(_distances.mmd)


METHOD = Method(
    name="causirl_mmd",
    about="aligns the distributions of the features between random mixtures of environments",
    paper="Chevalley et al. 2022, Invariant Causal Mechanisms through Distribution Matching, arXiv:2206.11646",
    learner=CausIrlMmd,
    settings=Settings,
    needs=Needs(environments=True),
)
