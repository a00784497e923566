"""A dataset as users of WILDS know it: (x, y, metadata), subsets by name, and groups that are keyed by names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spurgen import seeds
from spurgen.errors import SpurgenError, UnknownName, missing_extra, unknown
from spurgen.load import columns
from spurgen.load.groups import ALIGNED, EVERYTHING
from spurgen.load.rows import OfWorld, Stored, known_modalities, positions

try:
    import torch
except ImportError as error:
    raise missing_extra("the WILDS view", "train") from error

if TYPE_CHECKING:
    from spurgen.store.reader import Dataset

Transform = Callable[[Any], Any]
Tensor = torch.Tensor


class WildsDataset(OfWorld):
    """All splits of a dataset behind the attributes and methods of `wilds.WILDSDataset`.

    Metadata are whole numbers: channels, environment, the true label and, last, y, which differs from the label where
    annotators err; `metadata_map` names them all. A transform is handed a PIL picture, as in WILDS; without one, x is
    a uint8 tensor (channels, height, width). `eval` groups by `groupby_fields`: metadata fields, or
    `<channel>:aligned`; by the pattern of aligned channels unless given.
    """

    is_classification = True
    is_detection = False
    y_size = 1
    collate = None
    split_scheme = "official"

    def __init__(
        self,
        data: str | Path | Dataset,
        modality: str = "image",
        target: str | None = None,
        groupby_fields: Sequence[str] | None = None,
        cache_dir: str | Path | None = None,
    ):
        from spurgen.store import reader

        dataset = reader.open(data) if isinstance(data, str | Path) else data
        self.spec = dataset.spec
        known_modalities(dataset.modalities, modality, dataset.directory)
        self.modality = modality
        self.dataset_name = self.spec.id.split("/")[0]
        self.version = self.spec.id.rpartition("/v")[2]
        self.data_dir = str(dataset.directory)
        splits = dataset.splits
        self.split_dict = {name: i for i, name in enumerate(splits)}
        self.split_names = {name: name.replace("_", " ").capitalize() for name in splits}
        self.split_array = np.repeat(np.arange(len(splits)), list(splits.values()))
        self._sources = [Stored(dataset, name, cache_dir) for name in splits]
        self._first = np.cumsum([0, *splits.values()])

        table = dataset.table()
        if table["split"].to_pylist() != [name for name, rows in splits.items() for _ in range(rows)]:
            raise SpurgenError(f"the shards of {dataset.directory} are not in the order of its splits; verify it")
        y = columns.target(table, self.spec, target)
        self.n_classes = len(y.names or ())
        self.y_array = torch.from_numpy(y.values)
        noted = [name for name in table.column_names if name.endswith("_annotated")]
        fields = [*self.spec.channels, *noted, "environment", "label"]
        found = {name: columns.read(table, self.spec, name) for name in fields} | {"y": y}
        self.metadata_fields = list(found)
        self.metadata_map = {name: list(column.names or ()) for name, column in found.items()}
        self.metadata_array = torch.from_numpy(np.stack([column.values for column in found.values()], 1))
        default = [channel + ALIGNED for channel in self.spec.channels]
        self._eval_grouper = CombinatorialGrouper(self, default if groupby_fields is None else groupby_fields)

    def __len__(self) -> int:
        return len(self.y_array)

    def __getitem__(self, index: int) -> tuple[Any, Tensor, Tensor]:
        return self.get_input(index), self.y_array[index], self.metadata_array[index]

    @property
    def original_resolution(self) -> tuple[int, int] | None:
        """Height and width of pictures."""
        shape = self._array(0).shape
        return (shape[0], shape[1]) if len(shape) == 3 else None

    def get_input(self, index: int) -> Any:
        """What a model sees of a row: a uint8 tensor (channels, height, width) for pictures, text for captions."""
        content = self._array(index)
        if not isinstance(content, np.ndarray):
            return content
        return torch.from_numpy(np.ascontiguousarray(content.transpose(2, 0, 1) if content.ndim == 3 else content))

    def get_subset(self, split: str, frac: float = 1.0, transform: Transform | None = None) -> WildsSubset:
        """The rows of one split, or a fraction of them: always the same ones, whatever has been drawn before."""
        if split not in self.split_dict:
            raise UnknownName(unknown("split", split, self.split_dict))
        if not 0 < frac <= 1:
            raise SpurgenError(f"frac is {frac!r}; it is the share of the split to keep, above 0 and at most 1")
        first, last = self._first[self.split_dict[split]], self._first[self.split_dict[split] + 1]
        size = int(last - first)
        kept = np.sort(seeds.permute(0, "load/wilds/frac", 0, np.arange(max(1, round(size * frac))), size))
        return WildsSubset(self, first + kept, transform)

    def eval(
        self, y_pred: Tensor, y_true: Tensor, metadata: Tensor, prediction_fn: Transform | None = None
    ) -> tuple[dict[str, float], str]:
        """Average and worst-group accuracy, and that of each group with its size; groups without rows count as nan."""
        if prediction_fn is not None:
            y_pred = prediction_fn(y_pred)
        if y_pred.ndim != 1 or y_pred.is_floating_point():
            raise SpurgenError(
                "y_pred holds scores, not classes; take the largest first "
                "(prediction_fn=lambda scores: scores.argmax(1))"
            )
        if not len(y_pred) == len(y_true) == len(metadata) or not len(y_true):
            raise SpurgenError(
                f"there are {len(y_pred)} predictions, {len(y_true)} targets and {len(metadata)} rows of metadata; "
                "there must be one of each for every row, and at least one row"
            )
        return _accuracies(self._eval_grouper, (y_pred == y_true).double().cpu(), metadata.cpu())

    def picture(self, index: int) -> Any:
        """The picture of a row for PIL; what is no picture comes as it is."""
        from PIL import Image

        content = self._array(index)
        is_picture = isinstance(content, np.ndarray) and content.dtype == np.uint8 and content.ndim == 3
        return Image.fromarray(content) if is_picture else content

    def _array(self, index: int) -> Any:
        row = range(len(self))[index]
        split = int(self.split_array[row])
        return self._sources[split].take(self.modality, np.array([row - self._first[split]]))[0]


class WildsSubset:
    """Some rows of a WildsDataset or of a subset, with a transform; everything else is asked of the dataset."""

    dataset: WildsDataset
    indices: NDArray[np.int64]
    transform: Transform | None

    def __init__(self, dataset: WildsDataset | WildsSubset, indices: Any, transform: Transform | None = None):
        at = positions(indices, len(dataset))
        if isinstance(dataset, WildsSubset):
            at, transform, dataset = dataset.indices[at], transform or dataset.transform, dataset.dataset
        self.dataset = dataset
        self.indices = at
        self.transform = transform

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, index: int) -> tuple[Any, Tensor, Tensor]:
        row = int(self.indices[index])
        return self.get_input(index), self.dataset.y_array[row], self.dataset.metadata_array[row]

    def get_input(self, index: int) -> Any:
        """What a model sees of a row of the subset."""
        row = int(self.indices[index])
        return self.dataset.get_input(row) if self.transform is None else self.transform(self.dataset.picture(row))

    def picture(self, index: int) -> Any:
        """The picture of a row of the subset, as in `WildsDataset.picture`."""
        return self.dataset.picture(int(self.indices[index]))

    @property
    def y_array(self) -> Tensor:
        """The targets of these rows."""
        return self.dataset.y_array[self.indices]

    @property
    def metadata_array(self) -> Tensor:
        """The metadata of these rows."""
        return self.dataset.metadata_array[self.indices]

    @property
    def split_array(self) -> Any:
        """The split of each of these rows."""
        return self.dataset.split_array[self.indices]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "dataset":  # absent while a copy is being unpickled
            raise AttributeError(name)
        return getattr(self.dataset, name)


class CombinatorialGrouper:
    """Groups by metadata fields, in any order of the fields: numbers and names always belong together.

    A field may also be `<channel>:aligned`. The first field varies slowest, as in `spurgen.load.group`.
    """

    def __init__(self, dataset: WildsDataset | WildsSubset, groupby_fields: Sequence[str] | None):
        self.groupby_fields = None if groupby_fields is None else list(groupby_fields)
        self._position = {name: i for i, name in enumerate(dataset.metadata_fields)}
        self._words: list[list[str]] = []
        self._aligned: dict[str, Tensor] = {}
        for field in self.groupby_fields or ():
            channel = field.removesuffix(ALIGNED)
            if channel != field and channel in dataset.spec.channels:
                self._aligned[field] = torch.tensor(dataset.spec.aligned(channel))
                self._words.append(["aligned", "not"])
            elif field in self._position:
                self._words.append(dataset.metadata_map[field])
            else:
                raise UnknownName(unknown("metadata field", field, dataset.metadata_fields))
        self.cardinality = [len(words) for words in self._words]

    @property
    def n_groups(self) -> int:
        """Groups there can be, with or without rows."""
        return int(np.prod(self.cardinality, dtype=np.int64))

    def metadata_to_group(self, metadata: Tensor, return_counts: bool = False) -> Any:
        """The group of each row of metadata, and with `return_counts` the size of every group."""
        group = torch.zeros(len(metadata), dtype=torch.long, device=metadata.device)
        for field, size in zip(self.groupby_fields or (), self.cardinality, strict=True):
            group = group * size + self._codes(field, metadata)
        return (group, torch.bincount(group, minlength=self.n_groups)) if return_counts else group

    def group_str(self, group: int) -> str:
        """The name of a group, such as "background = dots, y = mug"."""
        return ", ".join(f"{field} = {word}" for field, word in self._named(int(group))) or EVERYTHING

    def group_field_str(self, group: int) -> str:
        """The name of a group as a key of results, such as "background:dots_y:mug"."""
        return "_".join(f"{field}:{word}" for field, word in self._named(int(group))) or EVERYTHING

    def _codes(self, field: str, metadata: Tensor) -> Tensor:
        if field not in self._aligned:
            return metadata[:, self._position[field]].long()
        attribute = metadata[:, self._position[field.removesuffix(ALIGNED)]].long()
        label = metadata[:, self._position["label"]].long()
        return (attribute != self._aligned[field].to(metadata.device)[label]).long()

    def _named(self, group: int) -> list[tuple[str, str]]:
        if not 0 <= group < self.n_groups:
            raise SpurgenError(f"there is no group {group}; groups run from 0 to {self.n_groups - 1}")
        out = []
        for field, words in reversed(list(zip(self.groupby_fields or (), self._words, strict=True))):
            group, at = divmod(group, len(words))
            out.append((field.removesuffix(ALIGNED), words[at]))
        return out[::-1]


def _accuracies(grouper: CombinatorialGrouper, right: Tensor, metadata: Tensor) -> tuple[dict[str, float], str]:
    group, counts = grouper.metadata_to_group(metadata, return_counts=True)
    hits = torch.bincount(group, weights=right, minlength=grouper.n_groups)
    results = {"acc_avg": float(right.mean())}
    lines = [f"Average acc: {results['acc_avg']:.3f}"]
    accuracies = {}
    for g in range(grouper.n_groups):
        name, n = grouper.group_field_str(g), int(counts[g])
        results[f"acc_{name}"] = float(hits[g]) / n if n else float("nan")
        results[f"count_{name}"] = float(n)
        if n:
            accuracies[g] = results[f"acc_{name}"]
            lines.append(f"  {grouper.group_str(g)}  [n = {n:6d}]:\tacc = {accuracies[g]:5.3f}")
    worst = min(accuracies, key=accuracies.__getitem__)
    results["acc_wg"] = accuracies[worst]
    lines.append(f"Worst-group acc: {accuracies[worst]:.3f} ({grouper.group_str(worst)})")
    return results, "\n".join(lines) + "\n"
