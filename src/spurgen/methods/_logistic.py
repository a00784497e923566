"""Logistic regression of several classes with an l1 norm, by accelerated proximal gradient descent."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, one_hot

_SLACK = 1e-12  # losses closer than this are equal but for rounding


def with_ones(x: Tensor) -> Tensor:
    """Features and a column of ones, whose coefficients are the intercepts."""
    return torch.cat([x, torch.ones_like(x[:, :1])], 1)


def fit(x: Tensor, y: Tensor, start: Tensor, reg: float, tol: float = 1e-2, most: int = 2000) -> Tensor:
    """Coefficients that minimise the mean cross-entropy of `x @ coefficients` plus reg · sum of their sizes.

    The last row of coefficients belongs to the column of ones and is not drawn to 0. It ends once no slope is further
    from where it should be than tol · reg, or after `most` steps. Steps find their own size; momentum is given up
    whenever it points uphill.
    """
    penalty = torch.full_like(start[:, :1], reg)
    penalty[-1] = 0
    target = one_hot(y, start.shape[1]).to(x.dtype)
    now, scores = start, x @ start
    ahead, scores_ahead = now, scores  # where momentum has carried us; scores follow without another product
    bound, t = 1.0, 1.0
    for _ in range(most):
        value = cross_entropy(scores_ahead, y)
        slope = x.T @ (scores_ahead.softmax(1) - target) / len(x)
        while True:
            moved = ahead - slope / bound
            new = moved.sign() * (moved.abs() - penalty / bound).clamp(min=0)
            gap, scores_new = new - ahead, x @ new
            expected = value + (slope * gap).sum() + bound / 2 * gap.square().sum()
            if bool(cross_entropy(scores_new, y) <= expected + _SLACK):
                break
            bound *= 2
        if float(gap.abs().max()) * bound <= tol * reg:
            return new
        t = 1.0 if float((gap * (new - now)).sum()) < 0 else t
        following = (1 + math.sqrt(1 + 4 * t * t)) / 2
        push = (t - 1) / following
        ahead, scores_ahead = new + push * (new - now), scores_new + push * (scores_new - scores)
        now, scores, t, bound = new, scores_new, following, bound * 0.9
    return now
