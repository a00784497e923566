"""A bag of words: the mean of the words' vectors, in whatever order they come."""

from __future__ import annotations

from torch import Tensor, nn

from spurgen.learning import Model, Net, Shape
from spurgen.models._text import PADDING, embedding, parted, weighted_mean, with_presence


class BagOfWords(Net):
    """Which words a caption has is all that this can learn: a yardstick for shortcuts that are words."""

    def __init__(self, shape: Shape, width: int = 128):
        super().__init__()
        self.width = width
        self.table = embedding(shape.words, width)
        self.head = nn.Linear(width, shape.classes)

    def inputs(self, raw: Tensor) -> Tensor:
        """Embeddings, and which tokens are there."""
        return with_presence(self.table(raw), raw != PADDING)

    def features(self, inputs: Tensor) -> Tensor:
        """The mean over the words that are there."""
        return weighted_mean(*parted(inputs))


MODEL = Model(
    name="bag_of_words",
    about="the mean of the words' vectors, which knows no order",
    modality="caption",
    build=BagOfWords,
    paper="Joulin et al. 2017, Bag of Tricks for Efficient Text Classification",
    learning_rate=1e-2,
)
