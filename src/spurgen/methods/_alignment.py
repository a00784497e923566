"""Cross-entropy plus a distance between sets of features: of environments, or of two mixtures of environments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from spurgen.learning import Batch, Loss
from spurgen.methods._environments import Environments, average, ranks
from spurgen.settings import Power, setting


@dataclass(frozen=True)
class Settings:
    """Settings of methods that align features."""

    weight: float = setting(1.0, "weight of the distance between features (γ)", Power(-1, 1), least=0)


class Aligned(Environments):
    """The mean of the environments' cross-entropies (each counts the same) + weight · their features' distance."""

    distance: Callable[[Tensor, Tensor], Tensor]  # of features and a table of who is in which set, over pairs of sets

    def loss(self, batch: Batch, phase: str) -> Loss:
        """Cross-entropy averaged per environment, plus the penalty."""
        features = self.net.features(batch.inputs)
        scores = self.net.head(features)
        penalty = self.penalty(features, batch)
        return Loss(average(*self.risks(scores, batch)) + self.settings.weight * penalty, scores)

    def penalty(self, features: Tensor, batch: Batch) -> Tensor:
        """The distance between the environments."""
        return self.distance(features, self.members(batch))


class Mixed(Aligned):
    """Compares two mixtures of all environments instead of the environments.

    Every environment's rows are cut at a random place of its own; what comes before the cuts is one mixture, the rest
    the other. The penalty is 0 where a mixture has fewer than 2 rows.
    """

    least_rows = 2

    def penalty(self, features: Tensor, batch: Batch) -> Tensor:
        """The distance between the mixtures."""
        first = self.first(batch)
        sides = torch.stack([first, ~first])
        enough = (sides.sum(1) > 1).all()
        return self.distance(features, sides) * enough

    def first(self, batch: Batch) -> Tensor:
        """Which rows are in the first mixture: of n rows of an environment the first 0 to n − 1, equally likely."""
        member = self.members(batch)
        count = member.sum(1)
        cuts = (torch.rand(len(count), device=count.device) * count).floor()
        return (member & (ranks(member) < cuts[:, None])).any(0)
