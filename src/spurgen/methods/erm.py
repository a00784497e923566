"""Empirical risk minimisation: the mean cross-entropy, and nothing done about shortcuts."""

from __future__ import annotations

from torch.nn.functional import cross_entropy

from spurgen.learning import Batch, Learner, Loss, Method


class Erm(Learner):
    """Plain training."""

    def loss(self, batch: Batch, phase: str) -> Loss:
        """The mean cross-entropy."""
        scores = self.net(batch.inputs)
        return Loss(cross_entropy(scores, batch.y), scores)


METHOD = Method(
    name="erm",
    about="the mean loss, with nothing done about shortcuts: what every remedy is compared with",
    paper="Vapnik 1998, Statistical Learning Theory",
    learner=Erm,
)
