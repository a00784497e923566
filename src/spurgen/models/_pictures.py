"""Stored pictures as numbers that networks read: floating point, channels last, around zero."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import interpolate


def centred(raw: Tensor) -> Tensor:
    """Levels 0 to 255 as numbers from −1 to 1."""
    return floating(raw) / 127.5 - 1


def floating(raw: Tensor) -> Tensor:
    """Levels as float32, whatever autocast says: what is stored is exact, and convolutions cast it themselves."""
    return raw.to(torch.float32, memory_format=torch.channels_last)


def resized(pictures: Tensor, height: int, width: int, mode: str = "bilinear") -> Tensor:
    """Pictures of another size; as they are where the size is right already."""
    if pictures.shape[-2:] == (height, width):
        return pictures
    # Without antialias a smaller picture would be made of a few pixels of the larger one.
    return interpolate(pictures, (height, width), mode=mode, align_corners=False, antialias=True)
