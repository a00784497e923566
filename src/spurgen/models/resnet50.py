"""ResNet-50 with random weights and the stem that it has on ImageNet."""

from __future__ import annotations

from spurgen.learning import Model, Net, Shape
from spurgen.models._resnet import Bottleneck, ResNet


def build(shape: Shape) -> Net:
    """ResNet-50 for pictures of any size from 32 pixels on."""
    return ResNet(shape, Bottleneck, (3, 4, 6, 3))


MODEL = Model(
    name="resnet50",
    about="the residual network of 50 layers with ImageNet's stem, from random weights",
    modality="image",
    build=build,
    paper="He et al. 2016, Deep Residual Learning for Image Recognition",
    learning_rate=1e-3,
)
