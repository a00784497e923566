"""Label smoothing: every class is given a little of what the label says, so that no score grows without end."""

from __future__ import annotations

from dataclasses import dataclass

from torch.nn.functional import cross_entropy

from spurgen.learning import Batch, Learner, Loss, Method
from spurgen.settings import Even, setting


@dataclass(frozen=True)
class Settings:
    """Settings of label smoothing."""

    share: float = setting(0.1, "what all classes together get of each label", Even(0.0, 0.3), least=0, most=0.99)


class Smoothing(Learner):
    """Cross-entropy against (1 − share) · label + share / K · every class."""

    def loss(self, batch: Batch, phase: str) -> Loss:
        """The mean over the batch."""
        scores = self.net(batch.inputs)
        return Loss(cross_entropy(scores, batch.y, label_smoothing=self.settings.share), scores)


METHOD = Method(
    name="smoothing",
    about="plain training on labels that are a little unsure",
    paper="Szegedy et al. 2016, Rethinking the Inception Architecture for Computer Vision, arXiv:1512.00567",
    learner=Smoothing,
    settings=Settings,
)
