"""cRT: features from plain training, then a new head trained on groups, or classes, that are seen equally often."""

from __future__ import annotations

from dataclasses import dataclass

from spurgen.learning import Method, Needs, Sampling
from spurgen.methods._two_stage import FirstStage, Retrained
from spurgen.methods._weights import Over


@dataclass(frozen=True)
class Settings(Over, FirstStage):
    """Settings of cRT."""


class Crt(Retrained):
    """A new head on balanced rows."""

    def sampling(self, stage: int) -> Sampling:
        """Groups or classes equally often, in the second stage."""
        return Sampling("balanced", over=self.settings.over) if stage == 1 else Sampling()


METHOD = Method(
    name="crt",
    about="plain training, then a new head on frozen features and balanced rows",
    paper="Kang et al. 2020, Decoupling Representation and Classifier for Long-Tailed Recognition, arXiv:1910.09217",
    learner=Crt,
    settings=Settings,
    needs=Needs(groups=True, rows=True),
)
