"""Distances between sets of feature vectors, averaged over pairs of sets: CORAL's and the maximum mean discrepancy.

Both are squared distances between means, of something: with w_a the weights of set a's rows (summing to 1 there, 0
elsewhere) and K a table of inner products between rows, |mean_a − mean_b|² = w_a·K·w_a + w_b·K·w_b − 2 w_a·K·w_b. So
a table of rows × rows does for any number of sets and of features, and sizes never depend on who is in which set.
Computed in float64: differences of nearly equal numbers, which mixed precision would lose.
"""

from __future__ import annotations

import torch
from torch import Tensor

GAMMAS = (1e-3, 1e-2, 1e-1, 1.0, 10.0, 1e2, 1e3)


def coral(features: Tensor, member: Tensor) -> Tensor:
    """mean((Δμ)²) + mean((Δcov)²), each averaged over pairs of sets; `member` is (sets, rows), each row in one.

    A set of one row has a mean and no covariance: it takes part in the first average and not in the second.
    """
    rows, count = features.double(), member.sum(1)
    share = member / count.double().clamp(min=1)[:, None]
    means = _apart(rows @ rows.T, share) / rows.shape[1]
    centred = rows - member.double().T @ (share @ rows)
    # The inner product of x·xᵀ and z·zᵀ, entry by entry, is (x·z)²: a covariance is a mean of such x·xᵀ.
    spread = member / (count - 1).double().clamp(min=1)[:, None]
    covariances = _apart((centred @ centred.T).square(), spread) / rows.shape[1] ** 2
    return (_over_pairs(means, count > 0) + _over_pairs(covariances, count > 1)).float()


def mmd(features: Tensor, member: Tensor) -> Tensor:
    """Squared maximum mean discrepancy, averaged over pairs of sets; `member` is (sets, rows).

    The kernel is a sum of exp(−γ·|x − z|²) over GAMMAS. Pairs of a row with itself count (the biased estimate), so it
    is never negative.
    """
    rows, count = features.double(), member.sum(1)
    rows = rows - rows.mean(0).detach()
    product = rows @ rows.T
    squares = product.diagonal()
    distance = (squares[:, None] + squares - 2 * product).clamp(min=0)
    kernel = torch.zeros_like(distance)
    for gamma in GAMMAS:
        kernel = kernel + torch.exp(-gamma * distance)
    share = member / count.double().clamp(min=1)[:, None]
    return _over_pairs(_apart(kernel, share), count > 0).float()


def _apart(products: Tensor, weights: Tensor) -> Tensor:
    """(sets, sets): the squared distance between the weighted sums of each two sets."""
    table = weights @ products @ weights.T
    own = table.diagonal()
    return own[:, None] + own - 2 * table


def _over_pairs(distances: Tensor, present: Tensor) -> Tensor:
    """The mean over pairs of different sets that are both present; 0 without any."""
    both = (present[:, None] & present).double().triu(1)
    return (distances * both).sum() / both.sum().clamp(min=1)
