"""Vision transformers: a picture is cut into square patches, and patches attend to each other."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from spurgen.errors import SpecError
from spurgen.learning import Net, Shape
from spurgen.models._attention import Block, positions, small_weights
from spurgen.models._pictures import centred


class VisionTransformer(Net):
    """A learned class token and learned positions for the given size; the class token's last state is the features."""

    def __init__(self, shape: Shape, patch: int, width: int, depth: int, heads: int):
        super().__init__()
        channels, height, across = shape.row
        if height % patch or across % patch:
            size = f"{across} × {height}"
            raise SpecError("image.size_px", f"pictures of {size} cannot be cut into patches of {patch} × {patch}")
        self.width = width
        self.patches = nn.Conv2d(channels, width, patch, patch)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.positions = positions(1 + (height // patch) * (across // patch), width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(depth))
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.head = nn.Linear(width, shape.classes)
        self.apply(small_weights)

    def inputs(self, raw: Tensor) -> Tensor:
        """Levels as numbers from −1 to 1."""
        return centred(raw)

    def features(self, inputs: Tensor) -> Tensor:
        """The class token's last state."""
        patches = self.patches(inputs).flatten(2).transpose(1, 2)
        token = self.token.expand(len(patches), -1, -1).to(patches.dtype)
        states = torch.cat([token, patches], 1) + self.positions
        for block in self.blocks:
            states = block(states)
        last: Tensor = self.norm(states[:, 0])
        return last


def patch_size(height: int, width: int) -> int:
    """The patch for pictures of a size: the largest of 16, 8 and 4 that divides it into at least 8 × 8 patches.

    That is 16 at 224, as usual, and 8 at 64: fewer patches would leave little for attention to do.
    """
    fit = [p for p in (16, 8, 4) if height % p == 0 and width % p == 0 and min(height, width) >= 8 * p]
    if not fit:
        raise SpecError(
            "image.size_px",
            f"pictures of {width} × {height} do not suit a vision transformer: its patches need a multiple of 4, "
            "from 32 on",
        )
    return fit[0]
