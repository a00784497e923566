"""The vision transformer ViT-B/16: 12 blocks, 768 wide, patches of 16 × 16 whatever the size."""

from __future__ import annotations

from spurgen.learning import Model, Net, Shape
from spurgen.models._vit import VisionTransformer


def build(shape: Shape) -> Net:
    """ViT-B/16 with random weights, and positions for the given size."""
    return VisionTransformer(shape, patch=16, width=768, depth=12, heads=12)


MODEL = Model(
    name="vit_base_16",
    about="the vision transformer ViT-B/16 from random weights; meant for 224 px",
    modality="image",
    build=build,
    paper="Dosovitskiy et al. 2021, An Image is Worth 16x16 Words",
    learning_rate=3e-4,
)
