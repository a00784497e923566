"""SpurGen for PyTorch: a map-style dataset, batches from memory or disk, and batches drawn inside the training loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from spurgen.errors import SpurgenError, missing_extra
from spurgen.load import batches, fly
from spurgen.load.groups import Groups
from spurgen.load.rows import Batch, Rows, open_rows

try:
    import torch
    from torch.utils.data import Dataset as TorchDataset
    from torch.utils.data import default_collate, get_worker_info
except ImportError as error:
    raise missing_extra("reading data into torch", "train") from error

if TYPE_CHECKING:
    import pyarrow as pa

    from spurgen.spec import World
    from spurgen.store.reader import Dataset

__all__ = ["Batch", "Batches", "Example", "OnTheFly", "SpurgenDataset", "collate"]

Transform = Callable[[Any], Any]
Edit = Callable[["pa.Table", "World"], "pa.Table"]


class Example(NamedTuple):
    """One row. `x` is the modality, or a mapping modality -> content where several were asked for."""

    x: Any
    y: int
    group: int
    environment: int
    row_id: int
    latents: dict[str, Any]


class SpurgenDataset(TorchDataset[Any]):
    """A split of a dataset, for `torch.utils.data.DataLoader`.

    `data` is a directory, an opened dataset, or `Rows`. Pictures come as uint8 tensors (channels, height, width), or
    as float32 in [0, 1] with `scale`; captions as text. `target` is what an annotator says of the label unless
    another column is named ("label" is the truth). `transform` is called on x. With `as_tuple` an example is (x, y).
    """

    def __init__(
        self,
        data: str | Path | Dataset | Rows,
        split: str = "train",
        modality: str | Sequence[str] = "image",
        transform: Transform | None = None,
        target: str | None = None,
        group_by: str | Sequence[str] | None = None,
        annotated: bool = False,
        scale: bool = False,
        as_tuple: bool = False,
        cache_dir: str | Path | None = None,
    ):
        if isinstance(data, Rows):
            if (split, modality, target, group_by, annotated, cache_dir) != ("train", "image", None, None, False, None):
                raise SpurgenError(
                    "Rows have their split, modality, target and groups already; say them where Rows are made"
                )
            self.rows = data
        else:
            self.rows = open_rows(data, split, modality, target, group_by, annotated, cache_dir)
        self.transform = transform
        self.scale = scale
        self.as_tuple = as_tuple

    @property
    def spec(self) -> World:
        """The world that the rows belong to."""
        return self.rows.spec

    @property
    def classes(self) -> tuple[str, ...]:
        """What the target counts in."""
        return self.rows.classes

    @property
    def latents(self) -> pa.Table:
        """The table of latents, in the order of the examples."""
        return self.rows.table

    @property
    def groups(self) -> Groups:
        """The group of every example, with names and sizes."""
        return self.rows.groups

    @property
    def y(self) -> torch.Tensor:
        """The target of every example, int64."""
        return torch.from_numpy(self.rows.y)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Any:
        return self._examples(self.rows, [index])[0]

    def __getitems__(self, indices: Sequence[int]) -> list[Any]:
        """Several examples at once; a DataLoader asks for whole batches this way."""
        return self._examples(self.rows, indices)

    def counterfactual(self, index: int, channel: str, value: str | None = None) -> Any:
        """The same example with one channel set to `value`, or to another attribute, and drawn again."""
        return self._examples(self.rows.counterfactual([index], channel, value), [0])[0]

    def with_table(self, table: pa.Table) -> SpurgenDataset:
        """The same kind of dataset over another table of the world, drawn as it is asked for."""
        rows = self.rows.with_table(table)
        return SpurgenDataset(rows, transform=self.transform, scale=self.scale, as_tuple=self.as_tuple)

    def intervene(self, edit: Edit) -> SpurgenDataset:
        """The dataset after `edit(table, spec)`, for example an intervention; drawn as it is asked for."""
        return self.with_table(edit(self.latents, self.spec))

    def _examples(self, rows: Rows, indices: Sequence[int]) -> list[Any]:
        at = rows.positions(indices)
        content = rows.content(at, 1 if get_worker_info() is not None else None)  # DataLoader's workers share the cores
        return [self._example(rows, int(row), _pick(content, i)) for i, row in enumerate(at)]

    def _example(self, rows: Rows, row: int, content: Any) -> Any:
        x = _formed(content, lambda picture: _picture(picture, self.scale))
        if self.transform is not None:
            x = self.transform(x)
        y = int(rows.y[row])
        if self.as_tuple:
            return x, y
        group, environment = int(rows.groups.codes[row]), int(rows.environment[row])
        return Example(x, y, group, environment, int(rows.row_id[row]), rows.latents(row))


def collate(examples: Sequence[Any]) -> Any:
    """Examples as one batch: tensors stacked, latents and texts as lists by name. For DataLoader's `collate_fn`."""
    return default_collate(list(examples))


# ------------------------------------------------------------------------------------------------------ batches


class _ForTorch:
    """Turns batches of arrays into batches of tensors on one device."""

    device: torch.device
    scale: bool
    channels_last: bool
    transform: Transform | None

    def finish(self, batch: Batch) -> Batch:
        """Pictures as (rows, channels, height, width), numbers as int64; then the transform."""
        x = _formed(batch.x, self._pictures)
        if self.transform is not None:
            x = self.transform(x)
        y, group, environment, row_id = (
            torch.from_numpy(np.ascontiguousarray(n)).to(self.device)
            for n in (batch.y, batch.group, batch.environment, batch.row_id)
        )
        return Batch(x, y, group, environment, row_id, batch.make_table)

    def _pictures(self, drawn: Any) -> torch.Tensor:
        if isinstance(drawn, np.ndarray) and self.device.type == "cpu":
            return _on_cpu(drawn, self.scale, self.channels_last)
        x = (drawn if isinstance(drawn, torch.Tensor) else torch.from_numpy(drawn)).to(self.device)
        if x.ndim == 4:
            x = x.permute(0, 3, 1, 2)
            x = x if self.channels_last else x.contiguous()
        return x.float().div_(255) if self.scale and x.dtype == torch.uint8 else x


class Batches(_ForTorch, batches.Batches):
    """Pass after pass over a dataset, a whole batch gathered at once: faster than a DataLoader and its workers.

    Deterministic in the seed and resumable (`state_dict`). `transform` is called on the x of a whole batch.
    """

    def __init__(
        self,
        dataset: SpurgenDataset | Rows,
        batch_size: int,
        shuffle: bool = False,
        seed: int = 0,
        drop_last: bool = False,
        device: str | torch.device = "cpu",
        scale: bool | None = None,
        channels_last: bool = False,
        transform: Transform | None = None,
        prefetch: bool = False,
    ):
        rows = dataset if isinstance(dataset, Rows) else dataset.rows
        if isinstance(dataset, SpurgenDataset):
            if dataset.transform is not None or dataset.as_tuple:
                raise SpurgenError(
                    "the dataset has a transform of single examples, or gives tuples, which whole batches cannot use; "
                    "give Batches a transform of batches, and the dataset none and no as_tuple"
                )
            scale = dataset.scale if scale is None else scale
        super().__init__(rows, batch_size, shuffle, seed, drop_last, prefetch)
        self.device = torch.device(device)
        self.scale = bool(scale)
        self.channels_last = channels_last
        self.transform = transform


class OnTheFly(_ForTorch, fly.OnTheFly):
    """Batches drawn inside the training loop, on the CPU's threads or on the GPU, and stored nowhere.

    Everything else is as in `spurgen.load.fly.OnTheFly`: with `rows` passes over a plan, without them endless.
    """

    def __init__(
        self,
        spec: World | str | Path,
        batch_size: int,
        seed: int = 0,
        split: str = "train",
        device: str | torch.device = "cpu",
        rows: int | None = None,
        scale: bool = False,
        channels_last: bool = False,
        transform: Transform | None = None,
        **options: Any,
    ):
        self.device = torch.device(device)
        self.scale = scale
        self.channels_last = channels_last
        self.transform = transform
        super().__init__(spec, batch_size, seed, split, rows, device=str(self.device), **options)


# --------------------------------------------------------------------------------------------------------- forms


def _formed(content: Any, form: Transform) -> Any:
    """Arrays by `form`, texts as they are, a mapping of modalities each on its own."""
    if isinstance(content, Mapping):
        return {name: _formed(part, form) for name, part in content.items()}
    return form(content) if isinstance(content, np.ndarray | torch.Tensor) else content


def _pick(content: Any, i: int) -> Any:
    return {name: part[i] for name, part in content.items()} if isinstance(content, Mapping) else content[i]


def _picture(array: Any, scale: bool) -> torch.Tensor:
    """One example as a tensor: (channels, height, width) for pictures."""
    return _on_cpu(array[None], scale, False)[0]


def _on_cpu(drawn: Any, scale: bool, channels_last: bool) -> torch.Tensor:
    """Pictures (rows, height, width, channels) as (rows, channels, height, width), in [0, 1] with `scale`.

    NumPy does the work: torch's threads wait for each other where training needs the same cores.
    """
    moved = drawn.ndim == 4
    x = drawn.transpose(0, 3, 1, 2) if moved and not channels_last else drawn
    if scale and x.dtype == np.uint8:
        x = np.divide(x, np.float32(255), dtype=np.float32, order="C")
    out = torch.from_numpy(np.ascontiguousarray(x))
    return out.permute(0, 3, 1, 2) if moved and channels_last else out
