"""Mixing rows: random shares, and patches of pictures, all drawn on the device."""

from __future__ import annotations

import torch
from torch import Tensor


def beta(alpha: float, count: int, like: Tensor) -> Tensor:
    """Numbers from Beta(alpha, alpha), from torch's own random numbers; no waiting for the device.

    Two Gammas make one. With 64 bits, because a Gamma of a small alpha is too often 0 with 32.
    """
    alphas = torch.full((2, count), alpha, dtype=torch.float64, device=like.device)
    first, second = torch._standard_gamma(alphas)
    return (first / (first + second)).to(torch.float32)


def along(shares: Tensor, like: Tensor) -> Tensor:
    """One number per row, shaped and typed so that it can be multiplied with the rows."""
    return shares.reshape(-1, *[1] * (like.ndim - 1)).to(like.dtype)


def patches(shares: Tensor, height: int, width: int) -> tuple[Tensor, Tensor]:
    """For each row a rectangle somewhere in the picture, and the share of the picture outside it.

    The rectangle has the picture's proportions and covers 1 - share of it; what would lie beyond the edges is cut
    off, and the shares that come back say what is left. (rows, height, width) is True inside.
    """
    side = (1 - shares).sqrt()

    def span(size: int) -> tuple[Tensor, Tensor]:
        half = (size * side / 2).floor()
        middle = (torch.rand_like(shares) * size).floor()
        places = torch.arange(size, device=shares.device)
        inside = (places >= (middle - half)[:, None]) & (places < (middle + half)[:, None])
        return inside, inside.sum(1)

    rows, tall = span(height)
    columns, wide = span(width)
    inside = rows[:, :, None] & columns[:, None, :]
    return inside, 1 - (tall * wide).to(shares.dtype) / (height * width)
