"""A small transformer for captions: 4 blocks, 128 wide, 4 heads, trained from random weights."""

from __future__ import annotations

from torch import Tensor, nn

from spurgen.learning import Model, Net, Shape
from spurgen.models._text import TextTower


class TextTransformer(Net):
    """A text tower and a linear head."""

    def __init__(self, shape: Shape):
        super().__init__()
        (tokens,) = shape.row
        self.tower = TextTower(shape.words, tokens)
        self.width = self.tower.width
        self.head = nn.Linear(self.width, shape.classes)

    def inputs(self, raw: Tensor) -> Tensor:
        """Embeddings, and which tokens are there."""
        made: Tensor = self.tower.inputs(raw)
        return made

    def features(self, inputs: Tensor) -> Tensor:
        """The mean over tokens of the last states."""
        mean: Tensor = self.tower(inputs)
        return mean


MODEL = Model(
    name="text_transformer",
    about="a transformer of 4 blocks, 128 wide, that reads the words in order",
    modality="caption",
    build=TextTransformer,
    paper="Vaswani et al. 2017, Attention Is All You Need; pre-norm as in Xiong et al. 2020",
    learning_rate=1e-3,
)
