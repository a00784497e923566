"""A small built world, and a network that learns it in seconds."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from spurgen.learning import MODELS, Model, Net, Shape
from spurgen.spec import World
from spurgen.store.writer import build
from tests.worlds import small

torch.set_num_threads(1)  # networks this small only make threads wait for one another


class Mean(Net):
    """The mean colours of the quarters of a picture, through one hidden layer with a norm."""

    def __init__(self, shape: Shape):
        super().__init__()
        self.width = 16
        self.hidden = nn.Sequential(nn.Linear(48, 16), nn.BatchNorm1d(16), nn.ReLU())
        self.head = nn.Linear(16, shape.classes)

    def inputs(self, raw: Tensor) -> Tensor:
        return raw.float() / 127.5 - 1

    def features(self, inputs: Tensor) -> Tensor:
        return self.hidden(torch.nn.functional.adaptive_avg_pool2d(inputs, 4).flatten(1))


TINY = Model(name="tiny", about="for tests", modality="image", build=Mean, learning_rate=1e-2)


@pytest.fixture(autouse=True, scope="session")
def _tiny_model():
    """Known before the fixtures of a session that train it."""
    MODELS.add("tiny", TINY)


def world(**changes) -> World:
    """600 rows, three classes, two environments in training, validation rows without shortcuts."""
    return World.from_dict(
        small(
            rows=600,
            modalities=["image", "caption"],
            splits={
                "train": {"share": 0.6, "environments": {"strong": 1.0, "weak": 1.0}},
                "val": {"share": 0.2, "environments": ["even"]},
                "test": {"share": 0.2, "environments": ["even"]},
            },
            **changes,
        )
    )


@pytest.fixture(scope="session")
def built(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("train") / "data"
    build(world(), out)
    return out
