"""MMD-AAE: an auto-encoder's codes are to be the same in every environment, and to follow a Laplace prior."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits as log_loss
from torch.nn.functional import mse_loss

from spurgen.learning import Batch, Loss, Method, Needs, Task
from spurgen.methods import _distances
from spurgen.methods._environments import Environments, average
from spurgen.methods._networks import held, mlp
from spurgen.settings import Power, setting


@dataclass(frozen=True)
class Settings:
    """Settings of MMD-AAE."""

    weight: float = setting(1.0, "weight of the MMD between environments' codes (λ1)", Power(-1, 1), least=0)
    reconstruction: float = setting(1.0, "weight of the reconstruction (λ0)", Power(-1, 1), least=0)
    prior: float = setting(0.1, "weight of looking like the prior to the discriminator (λ2)", Power(-2, 0), least=0)
    width: int = setting(256, "width inside encoder, decoder and discriminator", least=1)


class MmdAae(Environments):
    """Encoder, decoder and discriminator over the network's features; its head classifies the codes.

    A code is as long as the features, so the head fits. Steps alternate: "critic" teaches the discriminator codes from
    prior, "learn" everything else. Reconstruction is of the features as they are (no gradient reaches them as the
    target: they would be drawn towards what is easy to reconstruct, a constant). The codes are drawn to the prior by
    −log D(code), which has the same fixed point as the paper's log(1 − D(code)) and a gradient early on. The
    cross-entropy is averaged per environment; the MMD is that of the method `mmd`.
    """

    def __init__(self, task: Task, settings: Settings):
        super().__init__(task, settings)
        features = self.net.width
        self.encoder = mlp(features, features, settings.width, 2).to(task.device)
        self.decoder = mlp(features, features, settings.width, 2).to(task.device)
        self.discriminator = mlp(features, 1, settings.width, 2).to(task.device)

    def phase(self, stage: int, step: int, steps: int) -> str:
        """The discriminator's turn, then the others'."""
        return "critic" if step % 2 == 0 else "learn"

    def forward(self, inputs: Tensor) -> Tensor:
        """The head's scores of the codes."""
        scores: Tensor = self.net.head(self.encoder(self.net.features(inputs)))
        return scores

    def loss(self, batch: Batch, phase: str) -> Loss:
        """The discriminator's loss in its turn, else all that the paper minimises."""
        if phase == "critic":
            with torch.no_grad():
                code = self.encoder(self.net.features(batch.inputs))
                scores = self.net.head(code)
            real, made = self.discriminator(laplace(code)), self.discriminator(code)
            return Loss(log_loss(real, torch.ones_like(real)) + log_loss(made, torch.zeros_like(made)), scores)
        features = self.net.features(batch.inputs)
        code = self.encoder(features)
        scores = self.net.head(code)
        judged = held(self.discriminator, code)
        total = (
            average(*self.risks(scores, batch))
            + self.settings.weight * _distances.mmd(code, self.members(batch))
            + self.settings.reconstruction * mse_loss(self.decoder(code), features.detach())
            + self.settings.prior * log_loss(judged, torch.ones_like(judged))
        )
        return Loss(total, scores)


def laplace(like: Tensor) -> Tensor:
    """Numbers from a Laplace distribution of mean 0 and variance 1: differences of exponential ones, over √2."""
    difference = torch.empty_like(like).exponential_() - torch.empty_like(like).exponential_()
    return difference / 2**0.5


METHOD = Method(
    name="mmd_aae",
    about="aligns codes of an auto-encoder between environments and with a prior",
    paper="Li et al. 2018, Domain Generalization with Adversarial Feature Learning, CVPR (no arXiv version)",
    learner=MmdAae,
    settings=Settings,
    needs=Needs(environments=True),
)
