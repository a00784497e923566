"""DFR: plain training, then the head is fitted anew on validation rows in which all groups are equally many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from spurgen import seeds
from spurgen.errors import SpurgenError
from spurgen.learning import Data, Method, Needs, Split, Stage, Task
from spurgen.methods._logistic import fit, with_ones
from spurgen.methods._two_stage import over_rows
from spurgen.methods.erm import Erm
from spurgen.settings import setting

STRENGTHS = (1.0, 0.7, 0.3, 0.1, 0.07, 0.03, 0.01)  # C: weight of the summed losses against the l1 norm
FITS = 20

Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Settings:
    """Settings of DFR. None is searched over: validation rows cannot choose between heads that were fitted on them."""

    reg: float = setting(
        0.0,
        "weight of the l1 norm of the head against the mean loss; 0: chosen on halves of the validation rows",
        least=0,
        most=100,
    )


class Dfr(Erm):
    """A head from l1 logistic regressions on standardised features of validation rows.

    The strength of the l1 norm is the one with the best worst-group accuracy on one half of each group after a fit on
    the other half. The head is the average of fits on samples of all validation rows that hold as many rows of each
    group as the smallest has. It must be an `nn.Linear`; the standardisation is worked into its weights.
    """

    def __init__(self, task: Task, settings: Settings):
        super().__init__(task, settings)
        self._head()

    def stages(self) -> list[Stage]:
        """Descent, then a computation."""
        return [Stage("train", 1.0), Stage("refit", 0.0)]

    def begin(self, stage: int, data: Data) -> None:
        """Fit the head, in the second stage."""
        if data.val is None or not len(data.val):
            raise SpurgenError("DFR fits its head on validation rows, and there are none; give the data a split 'val'")
        if stage == 1:
            self._refit(data.val)

    def _refit(self, val: Split) -> None:
        x = over_rows(self.net, val, self.net.features).double()
        if not bool(x.isfinite().all()):
            raise SpurgenError("DFR cannot fit a head: features of validation rows are not finite; train more gently")
        mean, spread = x.mean(0), x.std(0, correction=0)
        spread = torch.where(spread > 0, spread, 1.0)
        coefficients = self._average(with_ones((x - mean) / spread), val.y, val.group.cpu().numpy())
        weights, intercepts = coefficients[:-1] / spread[:, None], coefficients[-1]
        head = self._head()
        with torch.no_grad():
            head.weight.copy_(weights.T)
            head.bias.copy_(intercepts - mean @ weights)

    def _average(self, x: Tensor, y: Tensor, group: Codes) -> Tensor:
        """The mean of fits on balanced samples; where groups are equally large anyway, all samples are the same."""
        strength = 0.0 if self.settings.reg else self._strength(x, y, group)
        found = x.new_zeros(x.shape[1], len(self.task.classes))
        sizes = np.bincount(group)
        alike = len(set(sizes[sizes > 0].tolist())) == 1
        fits = []
        for turn in range(1 if alike else FITS):
            chosen = self._balanced(group, f"methods/dfr/fit/{turn}")
            found = self._fit(x, y, chosen, strength, found)
            fits.append(found)
        return torch.stack(fits).mean(0)

    def _strength(self, x: Tensor, y: Tensor, group: Codes) -> float:
        """The C of the best worst group; the largest of those that are equally good."""
        first = self._ranks(group, "methods/dfr/halves") % 2 == 0  # half of each group, and the odd one
        rows = np.flatnonzero(first)
        chosen = rows[self._balanced(group[first], "methods/dfr/half")]
        held = np.flatnonzero(~first)
        found = x.new_zeros(x.shape[1], len(self.task.classes))
        worst = {}
        for strength in reversed(STRENGTHS):  # each fit starts from the stronger one before it
            found = self._fit(x, y, chosen, strength, found)
            at = torch.from_numpy(held).to(x.device)
            right = ((x[at] @ found).argmax(1) == y[at]).cpu().numpy()
            worst[strength] = min((right[group[held] == g].mean() for g in np.unique(group[held])), default=0.0)
        return max(STRENGTHS, key=lambda c: worst[c])

    def _fit(self, x: Tensor, y: Tensor, chosen: Codes, strength: float, start: Tensor) -> Tensor:
        at = torch.from_numpy(chosen).to(x.device)
        return fit(x[at], y[at], start, self.settings.reg or 1 / (strength * len(chosen)))

    def _balanced(self, group: Codes, stream: str) -> Codes:
        """As many rows of each group as the smallest that has any, at random."""
        sizes = np.bincount(group)
        return np.flatnonzero(self._ranks(group, stream) < sizes[sizes > 0].min())

    def _ranks(self, group: Codes, stream: str) -> Codes:
        """The place of each row in its group when every group is shuffled."""
        order = np.lexsort((seeds.bits(self.task.seed, stream, np.arange(len(group))), group))
        ranks = np.empty(len(group), np.int64)
        ranks[order] = np.arange(len(group)) - np.searchsorted(group[order], group[order])
        return ranks

    def _head(self) -> nn.Linear:
        head = self.net.head
        if not isinstance(head, nn.Linear) or head.bias is None:
            raise SpurgenError(
                f"DFR writes a linear head with a bias, and this model's is {type(head).__name__}; take another model"
            )
        return head


METHOD = Method(
    name="dfr",
    about="plain training, then a new linear head fitted on group-balanced validation rows",
    paper="Kirichenko et al. 2023, Last Layer Re-Training is Sufficient for Robustness to Spurious Correlations, "
    "arXiv:2204.02937",
    learner=Dfr,
    settings=Settings,
    needs=Needs(validation=True),
)
