"""Residual networks: a stem, four stages of blocks that add to what they are given, and an average over places.

The stem is ImageNet's (7 × 7, stride 2, then a max-pool) at every size. CIFAR's stem (3 × 3, stride 1, no max-pool),
which some prefer for small pictures, leaves 16 times as many places to every stage and costs accordingly.
"""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn.functional import relu

from spurgen.learning import Net, Shape
from spurgen.models._pictures import centred


class Residual(nn.Module):
    """What comes in, and what a branch of convolutions makes of it, are added."""

    grows = 1  # the block's width over that of its first convolution

    def __init__(self, layers: tuple[nn.Module, ...], before: int, width: int, stride: int):
        super().__init__()
        self.branch = nn.Sequential(*layers)
        self.shortcut = nn.Sequential(*(convolution(before, width, 1, stride) if before != width or stride > 1 else ()))

    def forward(self, x: Tensor) -> Tensor:
        """The sum, without what is below zero."""
        return relu(self.branch(x) + self.shortcut(x), inplace=True)


class Basic(Residual):
    """Two 3 × 3 convolutions."""

    def __init__(self, before: int, width: int, stride: int):
        layers = (*convolution(before, width, 3, stride), nn.ReLU(inplace=True), *convolution(width, width, 3))
        super().__init__(layers, before, width, stride)


class Bottleneck(Residual):
    """A 3 × 3 convolution between two 1 × 1 ones; the stride is on the 3 × 3 one, as in torchvision."""

    grows = 4

    def __init__(self, before: int, width: int, stride: int):
        layers = (
            *convolution(before, width, 1),
            nn.ReLU(inplace=True),
            *convolution(width, width, 3, stride),
            nn.ReLU(inplace=True),
            *convolution(width, 4 * width, 1),
        )
        super().__init__(layers, before, 4 * width, stride)


class ResNet(Net):
    """Stages 64, 128, 256 and 512 wide, each but the first with half the places of the one before."""

    def __init__(self, shape: Shape, block: type[Basic] | type[Bottleneck], depths: tuple[int, int, int, int]):
        super().__init__()
        self.stem = nn.Sequential(
            *convolution(shape.row[0], 64, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, padding=1)
        )
        before = 64
        stages: list[nn.Module] = []
        for i, depth in enumerate(depths):
            width = 64 * 2**i
            for j in range(depth):
                stages.append(block(before, width, stride=2 if i and not j else 1))
                before = width * block.grows
        self.stages = nn.Sequential(*stages)
        self.width = before
        self.head = nn.Linear(before, shape.classes)
        self._initialise()

    def inputs(self, raw: Tensor) -> Tensor:
        """Levels as numbers from −1 to 1."""
        return centred(raw)

    def features(self, inputs: Tensor) -> Tensor:
        """The mean over places of the last stage."""
        places: Tensor = self.stages(self.stem(inputs))
        return places.mean((2, 3))

    def _initialise(self) -> None:
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(module, Residual):
                # Every block begins by passing on what it is given (Goyal et al. 2017).
                nn.init.zeros_(module.branch[-1].get_parameter("weight"))


def convolution(before: int, width: int, size: int, stride: int = 1) -> tuple[nn.Conv2d, nn.BatchNorm2d]:
    """A convolution that keeps the places but for its stride, and its normalisation."""
    return nn.Conv2d(before, width, size, stride, padding=size // 2, bias=False), nn.BatchNorm2d(width)
