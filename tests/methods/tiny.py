"""A task of three classes, four groups and two environments with a linear network, whose losses can be done by hand."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from spurgen.learning import METHODS, Batch, Data, Learner, Net, Split, Task
from spurgen.settings import fill


class Line(Net):
    """Scores are the inputs times a matrix; features are the inputs."""

    def __init__(self, width: int = 3, classes: int = 3, weight: Tensor | None = None):
        super().__init__()
        self.width = width
        self.head = nn.Linear(width, classes)
        with torch.no_grad():
            self.head.weight.copy_(torch.eye(classes, width) if weight is None else weight)
            self.head.bias.zero_()

    def inputs(self, raw: Tensor) -> Tensor:
        return raw.float()

    def features(self, inputs: Tensor) -> Tensor:
        return inputs


def task(**changes: Any) -> Task:
    """A task; whatever is named replaces what it would have."""
    known: dict[str, Any] = {
        "classes": ("mug", "heart", "star"),
        "class_sizes": torch.tensor([60, 30, 10]),
        "groups": ("a,c", "a,d", "b,c", "b,d"),
        "group_sizes": torch.tensor([70, 20, 10, 0]),
        "environments": ("strong", "weak"),
        "environment_sizes": torch.tensor([60, 40]),
        "channels": {"background": 3, "hue": 2},
        "rows": 100,
        "batch_size": 8,
        "seed": 0,
        "build": Line,
    }
    return Task(**(known | changes))


def learner(name: str, settings: dict[str, Any] | None = None, **changes: Any) -> Learner:
    """A method's learner for the task above."""
    torch.manual_seed(0)
    method = METHODS.get(name)
    return method.learner(task(**changes), fill(method.settings, settings or {}, name))


def batch(inputs: Any, y: Any, **more: Any) -> Batch:
    """A batch; group, environment and position are zeros and a count unless given."""
    y = torch.as_tensor(y)
    n = len(y)
    known: dict[str, Any] = {
        "inputs": torch.as_tensor(inputs, dtype=torch.float32),
        "y": y,
        "group": torch.zeros(n, dtype=torch.long),
        "environment": torch.zeros(n, dtype=torch.long),
        "attributes": torch.zeros(n, 2, dtype=torch.long),
        "position": torch.arange(n),
    }
    return Batch(**(known | {k: torch.as_tensor(v) if isinstance(v, list) else v for k, v in more.items()}))


def split(n: int = 100, seed: int = 0) -> Split:
    """Rows whose first three numbers give the class away, noisily."""
    generator = torch.Generator().manual_seed(seed)
    y = torch.arange(n) % 3
    x = torch.nn.functional.one_hot(y, 3).float() + 0.3 * torch.randn(n, 3, generator=generator)
    group = torch.randint(0, 3, (n,), generator=generator)
    attributes = torch.stack([group % 3, group % 2], 1)
    return Split(y, group, torch.arange(n) % 2, attributes, lambda at: x[at])


def data(n: int = 100) -> Data:
    """Training and validation rows."""
    return Data(split(n), split(n // 2, 1))
