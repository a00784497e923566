"""A small vision transformer, with patches that suit the size of the pictures."""

from __future__ import annotations

from spurgen.learning import Model, Net, Shape
from spurgen.models._vit import VisionTransformer, patch_size


def build(shape: Shape) -> Net:
    """ViT-S with random weights: at 224 pixels its patches are 16 wide, at 64 they are 8 wide."""
    _, height, width = shape.row
    return VisionTransformer(shape, patch_size(height, width), width=384, depth=12, heads=6)


MODEL = Model(
    name="vit_small",
    about="a vision transformer of 12 blocks, 384 wide, from random weights; 8-pixel patches at 64 px, 16 at 224 px",
    modality="image",
    build=build,
    paper="Dosovitskiy et al. 2021, An Image is Worth 16x16 Words; the size is that of Touvron et al. 2021, DeiT",
    learning_rate=5e-4,
)
