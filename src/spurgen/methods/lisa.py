"""LISA: rows are mixed with rows that share their label and not their context, or their context and not their label."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from spurgen import seeds
from spurgen.errors import SpurgenError
from spurgen.learning import Batch, Data, Learner, Loss, Method, Needs, Positions, Task
from spurgen.methods._contexts import contexts
from spurgen.methods._mixing import along, beta, patches
from spurgen.methods._partners import Partners
from spurgen.settings import Even, Power, setting

_SLOTS = 1 << 32  # numbers for the rows of one step


@dataclass(frozen=True)
class Settings:
    """Settings of LISA."""

    alpha: float = setting(
        2.0, "shares come from Beta(alpha, alpha): small ones hardly mix, large ones mix half and half", Power(-1, 1),
        least=0.001,
    )  # fmt: skip
    p_sel: float = setting(
        0.5, "how often rows are mixed within a label, not within a group", Even(0, 1), least=0, most=1
    )
    mixing: str = setting("mixup", "blend whole rows, or set a patch of one picture into another",
                          choices=("mixup", "cutmix"))  # fmt: skip


class Lisa(Learner):
    """One of two rules for each step: with probability `p_sel` the same label and another context, or the reverse.

    A *context* is what the name of a row's group says besides the label; partners come from all training rows, each
    of those that fit as likely. A row that has none by the rule of the step takes the other rule, and is left as it is
    where there is none by either.
    """

    y: Tensor
    context: Tensor

    def __init__(self, task: Task, settings: Settings):
        super().__init__(task, settings)
        for name in ("y", "context"):
            self.register_buffer(name, torch.zeros(task.rows, dtype=torch.long, device=task.device))
        self._among: Partners | None = None

    def begin(self, stage: int, data: Data) -> None:
        """Remember labels and contexts of all training rows, and see that there is something to mix."""
        self.y.copy_(data.train.y)
        self.context.copy_(torch.tensor(contexts(self.task.groups), device=self.context.device)[data.train.group])
        self._among = None
        alone = int((~self._partners.any).sum())
        if alone == len(self.y):
            raise SpurgenError(
                "LISA finds no row to mix any training row with: it needs rows of one label in several groups or of "
                "several labels in one group; group by other columns, for example by a channel"
            )
        if alone:
            warnings.warn(
                f"LISA leaves {alone} of {len(self.y)} training rows unmixed: no other row shares their label alone, "
                "or their group alone",
                stacklevel=2,
            )

    @property
    def _partners(self) -> Partners:
        """Made of the buffers when first asked for, so that it is there after a restart too."""
        if self._among is None:
            self._among = Partners(self.y.cpu().numpy(), self.context.cpu().numpy())
        return self._among

    def partners(self, positions: Positions, step: int) -> Positions:
        """A partner for each row, by the rule of the step."""
        seed = self.task.seed
        within_label = seeds.uniform(seed, "methods/lisa/rule", [step])[0] < self.settings.p_sel
        slots = np.uint64(step * _SLOTS) + np.arange(len(positions), dtype=np.uint64)
        return self._partners.draw(positions, bool(within_label), seeds.bits(seed, "methods/lisa/partner", slots))

    def loss(self, batch: Batch, phase: str) -> Loss:
        """The two cross-entropies in the shares in which rows are mixed, one share for each row."""
        other = batch.partner
        if other is None:
            raise SpurgenError("LISA was given a batch without partners; train it on a stored dataset")
        shares = beta(self.settings.alpha, len(batch), batch.inputs)
        inputs, shares = self._mixed(batch.inputs, other.inputs, shares)
        scores = self.net(inputs)
        first = cross_entropy(scores, batch.y, reduction="none")
        second = cross_entropy(scores, other.y, reduction="none")
        return Loss((shares * first + (1 - shares) * second).mean(), None)

    def _mixed(self, mine: Tensor, theirs: Tensor, shares: Tensor) -> tuple[Tensor, Tensor]:
        """Mixed inputs, and the share that is left of `mine`."""
        if self.settings.mixing == "mixup":
            part = along(shares, mine)
            return part * mine + (1 - part) * theirs, shares
        if mine.ndim != 4:
            raise SpurgenError("mixing of lisa is 'cutmix', which is for pictures only; set mixing=mixup")
        inside, shares = patches(shares, mine.shape[2], mine.shape[3])
        return torch.where(inside[:, None], theirs, mine), shares


METHOD = Method(
    name="lisa",
    about="mixes rows of one label across groups, and rows of one group across labels",
    paper="Yao et al. 2022, Improving Out-of-Distribution Robustness via Selective Augmentation, arXiv:2201.00299",
    learner=Lisa,
    settings=Settings,
    needs=Needs(groups=True, rows=True),
)
