"""A picture and its caption together: a tower for each, side by side, and one projection of both.

`inputs` has to be one tensor, so that methods can mix it like any other. Here it is a row of numbers: the picture's
height × width × channels, then the caption's tokens × (width + 1).
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from spurgen.learning import Model, Net, Shape
from spurgen.models._pictures import centred
from spurgen.models._text import TextTower
from spurgen.models.small_cnn import PictureTower


class Paired(Net):
    """Reads {"image": pictures, "caption": token numbers}; Shape.row is (channels, height, width, tokens)."""

    def __init__(self, shape: Shape, width: int = 256):
        super().__init__()
        channels, height, across, tokens = shape.row
        self.picture_shape = (height, across, channels)
        self.picture = PictureTower(channels)
        self.caption = TextTower(shape.words, tokens)
        self.caption_shape = (tokens, self.caption.width + 1)
        self.projection = nn.Sequential(nn.Linear(self.picture.width + self.caption.width, width), nn.GELU())
        self.width = width
        self.head = nn.Linear(width, shape.classes)

    def inputs(self, raw: Mapping[str, Tensor]) -> Tensor:
        """Both as one row of numbers."""
        # Pictures lie channels last: in that order flattening copies nothing.
        picture = centred(raw["image"]).permute(0, 2, 3, 1).flatten(1)
        return torch.cat([picture, self.caption.inputs(raw["caption"]).flatten(1)], 1)

    def features(self, inputs: Tensor) -> Tensor:
        """The projection of what the towers say."""
        tokens, width = self.caption_shape
        flat, words = inputs[:, : -tokens * width], inputs[:, -tokens * width :]
        picture = flat.unflatten(1, self.picture_shape).permute(0, 3, 1, 2)
        picture = picture.contiguous(memory_format=torch.channels_last)
        said = [self.picture(picture), self.caption(words.unflatten(1, self.caption_shape))]
        projected: Tensor = self.projection(torch.cat(said, 1))
        return projected


MODEL = Model(
    name="paired",
    about="a picture and its caption: the small CNN and the text transformer, joined by a projection",
    modality="image+caption",
    build=Paired,
    learning_rate=1e-3,
)
