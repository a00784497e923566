"""What is trained on: a dataset's splits or a stream, its classes, groups and environments with their sizes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from spurgen.errors import SpurgenError
from spurgen.learning import Model
from spurgen.load import columns
from spurgen.load.fly import OnTheFly
from spurgen.load.groups import Groups, group
from spurgen.load.rows import Rows, open_rows
from spurgen.spec.world import size_px
from spurgen.train.encode import Encoder
from spurgen.train.options import Options
from spurgen.train.source import Source, Stored, Streamed

if TYPE_CHECKING:
    from spurgen.spec import World as Spec
    from spurgen.store.reader import Dataset

_LOOK = 20_000  # rows of a stream that are looked at to know how large its groups are
_TEXTS = 2_000  # and texts, to know its words


@dataclass(eq=False)
class World:
    """Training rows (or a stream) and validation rows."""

    name: str
    digest: str
    train: Rows | None
    stream: OnTheFly | None
    val: Rows | None
    classes: tuple[str, ...]
    y: NDArray[np.int64]
    groups: Groups
    environment: NDArray[np.int64]
    size_px: int
    group_by: tuple[str, ...]
    splits: tuple[str, str]
    spec: Any

    @property
    def endless(self) -> bool:
        """Whether rows never come again."""
        return self.stream is not None

    @property
    def group_sizes(self) -> NDArray[np.int64]:
        """Training rows of each group."""
        return self.groups.counts

    @property
    def environments(self) -> list[int]:
        """Positions, in the spec, of the environments that training rows are of."""
        return [int(i) for i in np.unique(self.environment)]

    def about(self) -> dict[str, Any]:
        """What of the data determines a run."""
        return {
            "data": self.name,
            "data_digest": self.digest,
            "stream": self.endless,
            "splits": list(self.splits),
            "group_by": list(self.group_by),
            "size_px": self.size_px,
        }

    def task_about(self) -> dict[str, Any]:
        """What a learner is built for, as plain data: names with the sizes they have among the training rows."""
        names = list(self.spec.environments)
        sizes = np.bincount(self.environment, minlength=len(names))
        return {
            "classes": dict(zip(self.classes, np.bincount(self.y, minlength=len(self.classes)).tolist(), strict=True)),
            "groups": self.groups.sizes,
            "environments": {names[i]: int(sizes[i]) for i in self.environments},
            "channels": {c: len(self.spec.values(c)) for c in self.spec.channels},
            "rows": 0 if self.endless else len(self.y),
        }

    def steps(self, options: Options) -> int:
        """Steps of descent that the options make of these rows."""
        if options.steps:
            return options.steps
        if self.stream is not None:
            raise SpurgenError("a stream has no epochs; say how many steps to take (--steps)")
        return max(1, math.floor(options.epochs * (len(self.y) // options.batch_size)))

    def texts(self) -> list[str] | None:
        """Captions of training rows, as many as are needed to know the words; None where none are read."""
        if self.train is not None:
            modalities = [self.train.modality] if isinstance(self.train.modality, str) else self.train.modality
            return list(self.train.whole("caption")) if "caption" in modalities else None
        assert self.stream is not None
        if "caption" not in self.stream.modality:
            return None
        from spurgen.load.rows import draw

        table, place = self.stream.table(self.stream.place)
        while table.num_rows < _TEXTS:
            import pyarrow as pa

            more, place = self.stream.table(place)
            table = pa.concat_tables([table, more])
        return list(draw(table, self.spec, "caption"))

    def source(self, encoder: Encoder, device: torch.device) -> Source:
        """The rows, ready to be trained on."""
        if self.stream is not None:
            return Streamed(self.stream, self.val, encoder, device, self.environments)
        assert self.train is not None
        return Stored(self.train, self.val, encoder, device, self.environments)


def open_world(
    data: str | Path | Dataset | Spec,
    model: Model,
    options: Options,
    seed: int,
    stream: bool,
    splits: tuple[str, str],
    group_by: str | Sequence[str] | None,
) -> World:
    """Open what is to be trained on, and refuse what cannot be."""
    modality = tuple(model.modality.split("+"))
    asked: Any = modality[0] if len(modality) == 1 else modality
    found = (
        _of_stream(data, asked, options, seed, splits, group_by)
        if stream
        else _of_dataset(data, asked, splits, group_by)
    )
    if len(np.unique(found.y)) < 2:
        raise SpurgenError(
            f"all training rows of {found.name} are of one class ({found.classes[int(found.y[0])]}), so there is "
            "nothing to learn; take data with several"
        )
    if not stream and len(found.y) < options.batch_size:
        raise SpurgenError(
            f"the split {splits[0]!r} of {found.name} has {len(found.y)} rows, fewer than a batch of "
            f"{options.batch_size}; take a smaller batch_size"
        )
    return found


def _of_dataset(data: Any, modality: Any, splits: tuple[str, str], group_by: Any) -> World:
    from spurgen.store import reader

    dataset = reader.open(data) if isinstance(data, str | Path) else data
    if not isinstance(dataset, reader.Dataset):
        raise SpurgenError(f"data is {type(data).__name__}; give a dataset or the directory of one")
    if len(set(splits)) != 2 or isinstance(splits, str):
        raise SpurgenError(f"splits are {splits!r}; give two, one to train and another to validate on")
    for split in splits:
        if split in dataset.splits:
            dataset.check(split)  # a run says which data it saw
    train = open_rows(dataset, splits[0], modality, group_by=group_by, annotated=True)
    val = (
        open_rows(dataset, splits[1], modality, group_by=group_by, annotated=True)
        if splits[1] in dataset.splits
        else None
    )
    return World(
        name=train.spec.id,
        digest=dataset.digest,
        train=train,
        stream=None,
        val=val,
        classes=tuple(train.classes),
        y=train.y,
        groups=train.groups,
        environment=train.environment,
        size_px=size_px(train.spec),
        group_by=train.groups.keys,
        splits=splits,
        spec=train.spec,
    )


def _of_stream(data: Any, modality: Any, options: Options, seed: int, splits: tuple[str, str], group_by: Any) -> World:
    from spurgen.latents.sample import Plan

    stream = OnTheFly(data, options.batch_size, seed, splits[0], modality=modality, group_by=group_by, annotated=True)
    spec = stream.spec
    plan = Plan(spec, None, seed)
    look = plan.table(plan.row_ids(splits[0], 0, _LOOK))
    found = columns.target(look, spec)
    val = None
    if splits[1] in spec.splits:
        val = Rows(spec, plan.table(plan.row_ids(splits[1])), None, modality, group_by=group_by, annotated=True)
    groups = group(look, spec, group_by, True)
    return World(
        name=spec.id,
        digest=f"{spec.digest()}/{seed}",
        train=None,
        stream=stream,
        val=val,
        classes=tuple(found.names or ()),
        y=found.values,
        groups=groups,
        environment=columns.read(look, spec, "environment").values,
        size_px=size_px(spec),
        group_by=groups.keys,
        splits=splits,
        spec=spec,
    )
