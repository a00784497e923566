"""Contrastive augmentation: the same row drawn with other attributes is to look the same, and unlike other rows."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, normalize

from spurgen.errors import SpurgenError
from spurgen.learning import Batch, Learner, Loss, Method, Needs, Task
from spurgen.methods._networks import mlp
from spurgen.settings import Power, setting


@dataclass(frozen=True)
class Settings:
    """Settings of contrastive augmentation."""

    weight: float = setting(1.0, "weight of the contrastive loss", Power(-1, 1), least=0)
    temperature: float = setting(0.5, "what cosines are divided by", Power(-1.5, 0), least=1e-3)
    width: int = setting(128, "width of both layers of the projection that rows are compared in", least=1)


class Contrastive(Learner):
    """Cross-entropy on rows and on their twins + weight · contrastive loss between the two views.

    A row's positive is its twin: same label, same nuisances, attributes drawn anew. Its negatives are all other rows'
    twins, those of its own class too (the loss uses no label). The same is asked of each twin among the rows, and the
    two are averaged. Views go through the network as one batch, so that normalisation treats them alike.
    """

    def __init__(self, task: Task, settings: Settings):
        super().__init__(task, settings)
        self.projection = mlp(self.net.width, settings.width, settings.width, 2).to(task.device)

    def wants_twins(self, stage: int) -> bool:
        """Always."""
        return True

    def loss(self, batch: Batch, phase: str) -> Loss:
        """The mean cross-entropy over both views, plus the contrastive loss."""
        if batch.twin is None:
            raise SpurgenError(
                "this method compares rows with the same rows drawn with other attributes, but the batch has none of "
                "those; train on data that SpurGen generates"
            )
        features = self.net.features(torch.cat([batch.inputs, batch.twin]))
        scores = self.net.head(features)
        views = cross_entropy(scores, torch.cat([batch.y, batch.y]))
        apart = info_nce(self.projection(features), self.settings.temperature)
        return Loss(views + self.settings.weight * apart, scores[: len(batch)])


def info_nce(vectors: Tensor, temperature: float) -> Tensor:
    """Mean over rows of −log of the share that the partner has of exp(cosine / temperature), over both directions.

    The first half of the vectors are rows, the second half their partners in the same order.
    """
    # float64 keeps mixed precision, which rounds products to three digits, away from what is divided by a temperature
    rows, twins = normalize(vectors.double(), dim=1).chunk(2)
    cosines = rows @ twins.T / temperature
    own = torch.arange(len(rows), device=rows.device)
    return ((cross_entropy(cosines, own) + cross_entropy(cosines.T, own)) / 2).float()


METHOD = Method(
    name="contrastive",
    about="pulls together the same row drawn with other attributes, by a contrastive loss",
    paper="Chen et al. 2020, A Simple Framework for Contrastive Learning of Visual Representations, arXiv:2002.05709, "
    "with channels redrawn where they augment",
    learner=Contrastive,
    settings=Settings,
    needs=Needs(generator=True),
)
