"""Sums and means over groups of rows, with no loop over groups and no waiting for the device."""

from __future__ import annotations

import torch
from torch import Tensor


def means(values: Tensor, codes: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """(mean of the values of each group, whether it has rows); 0 where it has none."""
    zeros = torch.zeros(count, dtype=values.dtype, device=values.device)
    sizes = zeros.index_add(0, codes, torch.ones_like(values))
    sums = zeros.index_add(0, codes, values)
    return sums / sizes.clamp(min=1), sizes > 0
