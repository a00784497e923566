"""Adversarial debiasing: features from which an adversary cannot tell the channels' attributes."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from spurgen.errors import SpurgenError
from spurgen.learning import Batch, Learner, Loss, Method, Needs, Task
from spurgen.methods._networks import held, mlp
from spurgen.settings import Power, setting


@dataclass(frozen=True)
class Settings:
    """Settings of adversarial debiasing."""

    weight: float = setting(1.0, "weight of the adversary's loss (λ)", Power(-2, 2), least=0)
    adversary_steps: int = setting(
        1, "the adversary's steps before each step of the network", Power(0, 3, base=2, whole=True), least=1
    )
    gradient_penalty: float = setting(
        0.0, "weight of the squared gradient of the adversary's loss by the features", Power(-2, 1), least=0
    )
    width: int = setting(256, "width of the adversary", least=1)
    depth: int = setting(3, "linear layers of the adversary", least=1)


class Adversarial(Learner):
    """An adversary reads channels' attributes from the features; the network minimises cross-entropy − λ · its loss.

    The adversary's loss is the mean over channels of the cross-entropy of the attribute, so λ means the same for any
    number of channels. Steps take turns: `adversary_steps` of the adversary on features that stay as they are, then
    one of the network against an adversary that stays as it is. Each turn is a step of training. The adversary's loss
    has no upper end, so with a large λ the network may give up its labels to raise it: that is the proposal's formula.
    """

    def __init__(self, task: Task, settings: Settings):
        if not task.channels:
            raise SpurgenError(
                "this method predicts the attributes of channels, but the data have no channel; "
                "use data with a channel, or another method"
            )
        super().__init__(task, settings)
        self.sizes = list(task.channels.values())
        # One head per channel: a linear layer with all their outputs is that many linear layers side by side.
        self.adversary = mlp(self.net.width, sum(self.sizes), settings.width, settings.depth).to(task.device)

    def phase(self, stage: int, step: int, steps: int) -> str:
        """The adversary's turn or the network's."""
        turns = self.settings.adversary_steps
        return "adversary" if step % (turns + 1) < turns else "learn"

    def loss(self, batch: Batch, phase: str) -> Loss:
        """The adversary's loss in its turn; else the network's, which no gradient to the adversary is part of."""
        if phase == "adversary":
            with torch.no_grad():
                features = self.net.features(batch.inputs)
                scores = self.net.head(features)
            return Loss(self._adversary_loss(features, batch.attributes), scores)
        features = self.net.features(batch.inputs)
        scores = self.net.head(features)
        fooled = self._by_row(held(self.adversary, features), batch.attributes).mean()
        return Loss(cross_entropy(scores, batch.y) - self.settings.weight * fooled, scores)

    def _adversary_loss(self, features: Tensor, attributes: Tensor) -> Tensor:
        if not self.settings.gradient_penalty:
            return self._by_row(self.adversary(features), attributes).mean()
        features = features.detach().requires_grad_()
        rows = self._by_row(self.adversary(features), attributes)
        # Of the sum, so that a row's gradient is that of its own loss and not a batch-th of it.
        (slopes,) = torch.autograd.grad(rows.sum(), features, create_graph=True)
        return rows.mean() + self.settings.gradient_penalty * slopes.float().square().sum(1).mean()

    def _by_row(self, outputs: Tensor, attributes: Tensor) -> Tensor:
        """The cross-entropy of each row's attributes, averaged over channels."""
        heads = outputs.split(self.sizes, dim=1)
        losses = [cross_entropy(head, attributes[:, at], reduction="none") for at, head in enumerate(heads)]
        return torch.stack(losses).mean(0)


METHOD = Method(
    name="adversarial",
    about="removes from the features what tells the channels' attributes",
    paper="Ganin et al. 2016, Domain-Adversarial Training of Neural Networks, arXiv:1505.07818, "
    "with the channels' attributes as what the adversary predicts",
    learner=Adversarial,
    settings=Settings,
    needs=Needs(groups=True),
)
