"""What methods and models declare, and what a method is handed: a task, stages, batches.

A *method* turns a batch into a loss and says how rows are to be sampled; the trainer (`spurgen.train`) owns everything
else. A *model* turns what a row shows into features and scores. Neither knows the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spurgen.errors import missing_extra
from spurgen.registry import Registry
from spurgen.settings import NoSettings

try:
    import torch
    from torch import Tensor, nn
except ImportError as error:
    raise missing_extra("training", "train") from error

Positions = NDArray[np.int64]

# ------------------------------------------------------------------------------------------------------- models


class Net(nn.Module):
    """A model: `inputs` makes numbers of what is stored, `features` a vector per row of those, `head` scores.

    The split matters to methods: mixup mixes inputs, alignment penalties compare features, two-stage methods train the
    head anew. `width` is the number of features.
    """

    width: int
    head: nn.Module

    def inputs(self, raw: Any) -> Tensor:
        """What is stored (uint8 pictures, token numbers) as floating-point numbers."""
        raise NotImplementedError

    def features(self, inputs: Tensor) -> Tensor:
        """One vector per row."""
        raise NotImplementedError

    def forward(self, inputs: Tensor) -> Tensor:
        """Scores, one per class."""
        scores: Tensor = self.head(self.features(inputs))
        return scores


class Shape(NamedTuple):
    """What a model is built for: how many classes, and the shape and meaning of one stored row."""

    classes: int
    row: tuple[int, ...]  # (channels, height, width) of a picture, (tokens,) of a text
    words: int = 0  # size of the vocabulary of a text


@dataclass(frozen=True)
class Model:
    """An architecture: which modality it reads and how it is built. `learning_rate` is where a search may start.

    `texts` gives an encoder of texts that belongs to the model; without it words are counted in training captions.
    `digest` is of the files that a model is made from, where its name does not say all. `pretrained` says what the
    weights have seen that a model is built with, such as "imagenet"; without it they are random.
    """

    name: str
    about: str
    modality: str
    build: Callable[[Shape], Net]
    paper: str = ""
    learning_rate: float = 1e-3
    texts: Callable[[], Any] | None = None
    digest: str = ""
    pretrained: str = ""


MODELS: Registry[Model] = Registry("model", "spurgen.models", "MODEL")

# ------------------------------------------------------------------------------------------------------ methods


@dataclass(frozen=True)
class Needs:
    """What data must have for a method to work. `rows`: a fixed list of rows, not an endless stream."""

    environments: bool = False
    groups: bool = False
    validation: bool = False
    generator: bool = False
    rows: bool = False

    def __str__(self) -> str:
        words = {
            "environments": "environments",
            "groups": "groups",
            "validation": "groups of validation rows",
            "generator": "a generator",
        }
        return ", ".join(word for name, word in words.items() if getattr(self, name)) or "labels"


@dataclass(frozen=True)
class Method:
    """A way of training: what it is, what it needs, its settings, and the class that does it."""

    name: str
    about: str
    paper: str
    learner: type[Learner]
    settings: type[Any] = NoSettings
    needs: Needs = field(default_factory=Needs)


METHODS: Registry[Method] = Registry("method", "spurgen.methods", "METHOD")


@dataclass(frozen=True)
class Task:
    """What a method may know before it sees a row."""

    classes: tuple[str, ...]
    class_sizes: Tensor  # training rows of each class, int64
    groups: tuple[str, ...]
    group_sizes: Tensor
    environments: tuple[str, ...]  # those that have training rows
    environment_sizes: Tensor
    channels: Mapping[str, int]  # name -> how many attributes
    rows: int  # training rows; 0 for an endless stream
    batch_size: int
    seed: int
    build: Callable[[], Net]

    @property
    def device(self) -> torch.device:
        """Where the numbers above lie, and where networks are to lie."""
        return self.class_sizes.device


@dataclass(frozen=True, eq=False)
class Batch:
    """Some training rows. `inputs` are what `Net.inputs` made of them."""

    inputs: Tensor
    y: Tensor
    group: Tensor
    environment: Tensor  # positions in Task.environments
    attributes: Tensor  # (rows, channels): positions of the attributes that the rows show
    position: Tensor  # among the training rows
    partner: Batch | None = None  # other rows, one for each, that the method asked for
    twin: Tensor | None = None  # inputs of the same rows drawn again with other attributes

    def __len__(self) -> int:
        return len(self.y)


class Loss(NamedTuple):
    """What a method makes of a batch: the number to go down, and scores where they are those of the batch's rows."""

    total: Tensor
    scores: Tensor | None = None


class Sampling(NamedTuple):
    """How rows come to be in a batch.

    "shuffled": pass after pass. "by_environment": as many of each environment in every batch, each in passes of its
    own. "balanced": a group (or class) at random, then one of its rows, with replacement. `rows` are positions that
    take part, some of them several times if need be; all rows once unless given.
    """

    kind: Literal["shuffled", "by_environment", "balanced"] = "shuffled"
    over: Literal["group", "class"] = "group"
    rows: Positions | None = None


class Stage(NamedTuple):
    """A part of training, with its share of the steps; 0 for one that is a computation and no descent."""

    name: str
    share: float


@dataclass(frozen=True, eq=False)
class Split:
    """Rows on the device. `raw` gives what is stored of some of them; nothing here is shuffled.

    What is stored lies on the device too if it is `resident`.
    """

    y: Tensor
    group: Tensor
    environment: Tensor
    attributes: Tensor
    raw: Callable[[Tensor], Any]
    resident: bool = True

    def __len__(self) -> int:
        return len(self.y)

    def batches(self, size: int = 256) -> Iterator[tuple[Tensor, Any]]:
        """(positions, raw) of all rows in order."""
        for positions in torch.arange(len(self), device=self.y.device).split(size):
            yield positions, self.raw(positions)


class Data(NamedTuple):
    """What a stage may look at when it begins."""

    train: Split
    val: Split | None


class Learner(nn.Module):
    """One trial of a method: its networks, whatever it remembers (as buffers, so that it is saved), and its loss.

    Children override `loss`, and whatever else differs from plain training.
    """

    def __init__(self, task: Task, settings: Any):
        super().__init__()
        self.task = task
        self.settings = settings
        self.net = task.build()

    def stages(self) -> list[Stage]:
        """The parts of training, in order."""
        return [Stage("train", 1.0)]

    def begin(self, stage: int, data: Data) -> None:
        """Prepare a stage. What is found here and needed later must be kept in buffers or parameters."""

    def sampling(self, stage: int) -> Sampling:
        """How rows are sampled in a stage."""
        return Sampling()

    def partners(self, positions: Positions, step: int) -> Positions | None:
        """For each training row of the coming batch another one that is wanted beside it."""
        return None

    def wants_twins(self, stage: int) -> bool:
        """Whether batches are to hold the same rows drawn again with other attributes."""
        return False

    def phase(self, stage: int, step: int, steps: int) -> str:
        """A name for what the loss is made of at this step of `steps`; steps of one phase run the same operations."""
        return "train"

    def restarts(self, stage: int, step: int, steps: int) -> bool:
        """Whether the optimiser is to forget its averages before this step."""
        return False

    def trained(self, stage: int) -> list[nn.Parameter]:
        """What a stage changes."""
        return list(self.parameters())

    def frozen(self, stage: int) -> list[nn.Module]:
        """Modules that are to stay as they are in a stage, running statistics included."""
        return []

    def loss(self, batch: Batch, phase: str) -> Loss:
        """What is to go down."""
        raise NotImplementedError

    def forward(self, inputs: Tensor) -> Tensor:
        """Scores for rows that are to be predicted."""
        scores: Tensor = self.net(inputs)
        return scores
