"""What methods of two stages share: starting a network afresh, looking at all rows, training the head alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from spurgen.learning import Batch, Data, Learner, Loss, Net, Split, Stage
from spurgen.settings import setting


@dataclass(frozen=True)
class FirstStage:
    """The setting that says how long the first of two stages is."""

    first_stage: float = setting(0.5, "share of the steps that the first stage takes", least=0.01, most=0.99)


@torch.no_grad()
def restart(module: nn.Module, fresh: nn.Module) -> None:
    """Parameters and running statistics as in a new module; the objects stay, so that optimisers keep hold of them."""
    for now, new in zip(_tensors(module), _tensors(fresh), strict=True):
        now.copy_(new)


def _tensors(module: nn.Module) -> list[Tensor]:
    return [*module.parameters(), *module.buffers()]


@torch.no_grad()
def over_rows(net: Net, split: Split, of: Callable[[Tensor], Tensor]) -> Tensor:
    """What `of` makes of the inputs of all rows, with the network as it is for predictions."""
    modes = [(module, module.training) for module in net.modules()]
    net.eval()
    found = torch.cat([of(net.inputs(raw)) for _, raw in split.batches()])
    for module, mode in modes:
        module.training = mode
    return found


def beside(module: nn.Module, kept: nn.Module) -> Iterator[nn.Module]:
    """The largest parts of a module that do not hold `kept`."""
    for part in module.children():
        if part is kept:
            continue
        if any(inner is kept for inner in part.modules()):
            yield from beside(part, kept)
        else:
            yield part


class Retrained(Learner):
    """Plain training of everything, then a new head on features that stay as they are."""

    def stages(self) -> list[Stage]:
        """Everything, then the head."""
        share = self.settings.first_stage
        return [Stage("features", share), Stage("head", 1 - share)]

    def begin(self, stage: int, data: Data) -> None:
        """A new head for the second stage."""
        if stage == 1:
            restart(self.net.head, self.task.build().head)

    def trained(self, stage: int) -> list[nn.Parameter]:
        """Only the head in the second stage."""
        return list((self.net.head if stage == 1 else self).parameters())

    def frozen(self, stage: int) -> list[nn.Module]:
        """All but the head in the second stage."""
        return list(beside(self.net, self.net.head)) if stage == 1 else []

    def phase(self, stage: int, step: int, steps: int) -> str:
        """The name of the stage."""
        return "head" if stage == 1 else "features"

    def loss(self, batch: Batch, phase: str) -> Loss:
        """The mean cross-entropy; weighted in the second stage where a child says so."""
        if phase == "features":
            scores = self.net(batch.inputs)
            return Loss(cross_entropy(scores, batch.y), scores)
        with torch.no_grad():
            features = self.net.features(batch.inputs)
        scores = self.net.head(features)
        return Loss((self.weight(batch) * cross_entropy(scores, batch.y, reduction="none")).mean(), scores)

    def weight(self, batch: Batch) -> Tensor | float:
        """What rows weigh in the second stage."""
        return 1.0
