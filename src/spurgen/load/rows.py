"""Labelled rows: latents, targets, groups and content of a split, stored or drawn on demand, for any framework."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spurgen.errors import SpurgenError, UnknownName, unknown
from spurgen.latents import intervene
from spurgen.load import cache, columns
from spurgen.load.groups import Groups, group

if TYPE_CHECKING:
    import pyarrow as pa

    from spurgen.spec import World
    from spurgen.store.reader import Dataset

Positions = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows together. `x` is the modality, or a mapping modality -> content where several were asked for."""

    x: Any
    y: Any  # int64: the target, as positions in the names of the classes
    group: Any  # int64: positions in the names of the groups
    environment: Any  # int64: positions in the spec's environments
    row_id: Any  # int64: who they are, for ever
    make_table: Callable[[], pa.Table] = field(repr=False)

    @cached_property
    def table(self) -> pa.Table:
        """Their latents; gathered when asked for, because that takes longer than gathering small pictures."""
        return self.make_table()

    def __len__(self) -> int:
        return len(self.y)


class Stored:
    """A split of a finished dataset; arrays are read from a decoded copy, the rest is held in memory.

    Copies of this object in other processes open the files for themselves.
    """

    def __init__(self, dataset: Dataset, split: str, cache_dir: str | Path | None = None):
        self._dataset: Dataset | None = dataset
        self.directory = dataset.directory.resolve()
        self.split = split
        self.cache_dir = cache_dir
        self._content: dict[str, Any] = {}

    def whole(self, modality: str) -> Any:
        """The whole split: an array mapped from disk, or an Arrow column for what does not decode to one."""
        if modality not in self._content:
            self._content[modality] = self._everything(modality)
        return self._content[modality]

    def take(self, modality: str, positions: Positions) -> Any:
        """The rows at these positions, in the order given: an array, or a list of texts and the like."""
        content = self.whole(modality)
        return content.take(positions, 0) if isinstance(content, np.ndarray) else content.take(positions).to_pylist()

    def _everything(self, modality: str) -> Any:
        if self._dataset is None:
            from spurgen.store import reader

            self._dataset = reader.open(self.directory)
        found = cache.decoded(self._dataset, self.split, modality, self.cache_dir)
        if found is not None:
            return found
        column = _first_column(modality)
        return self._dataset.table(self.split, [column])[column].combine_chunks()

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_dataset": None, "_content": {}}


class OfWorld:
    """What belongs to a world and can be sent to other processes, whatever functions its parts hold: as text."""

    _toml = ""

    @cached_property
    def spec(self) -> World:
        """The world; read from its text where this object has travelled."""
        from spurgen.spec import World

        return World.from_toml(self._toml)

    def __getstate__(self) -> dict[str, Any]:
        kept = {name: value for name, value in self.__dict__.items() if name not in ("spec", "_columns")}
        return kept | {"_toml": self._toml or self.spec.to_toml()}


class Rows(OfWorld):
    """The rows of a table with their content, drawn on demand unless `stored` holds it.

    See `open_rows` for a split of a dataset.
    """

    def __init__(
        self,
        spec: World,
        table: pa.Table,
        stored: Stored | None = None,
        modality: str | Sequence[str] = "image",
        target: str | None = None,
        group_by: str | Sequence[str] | None = None,
        annotated: bool = False,
    ):
        self.spec = spec
        self.table = table.combine_chunks()
        self.stored = stored
        self.modality = modality if isinstance(modality, str) else tuple(modality)
        known_modalities(spec.modalities, self.modality, spec.id)
        self.target = target
        self.group_by = group_by
        self.annotated = annotated
        found = columns.target(self.table, spec, target)
        self.y: NDArray[np.int64] = found.values
        self.classes = found.names or ()
        self.groups: Groups = group(self.table, spec, group_by, annotated)
        self.environment: NDArray[np.int64] = columns.read(self.table, spec, "environment").values
        self.row_id = self.table["row_id"].to_numpy().astype(np.int64)

    def __len__(self) -> int:
        return self.table.num_rows

    @cached_property
    def digest(self) -> str:
        """One digest of the latents of all rows, in their order: equal digests, equal rows."""
        out = hashlib.blake2b(digest_size=16)
        for name in sorted(self.table.column_names):
            column = columns.read(self.table, self.spec, name)
            out.update(repr((name, column.names, column.values.dtype.str, len(column.values))).encode())
            out.update(np.ascontiguousarray(column.values).data)
        return out.hexdigest()

    @cached_property
    def _columns(self) -> dict[str, columns.Column]:
        return {name: columns.read(self.table, self.spec, name) for name in self.table.column_names}

    def latents(self, row: int) -> dict[str, str | int | float]:
        """Everything the table says of one row, by column."""
        return {name: column.item(row) for name, column in self._columns.items()}

    def content(self, positions: Any, workers: int | None = None) -> Any:
        """The modality of some rows, or a mapping modality -> content; `workers` bounds the threads that draw."""
        at = self.positions(positions)
        if isinstance(self.modality, str):
            return self._content(self.modality, at, workers)
        return {name: self._content(name, at, workers) for name in self.modality}

    def _content(self, modality: str, at: Positions, workers: int | None) -> Any:
        if self.stored is not None:
            return self.stored.take(modality, at)
        return draw(self.table.take(at), self.spec, modality, workers=workers)

    def whole(self, modality: str) -> Any:
        """A modality of all rows: an array (mapped from disk where it is stored), or a list of texts and the like."""
        if self.stored is None:
            return draw(self.table, self.spec, modality)
        content = self.stored.whole(modality)
        return content if isinstance(content, np.ndarray) else content.to_pylist()

    def take(self, positions: Any) -> Batch:
        """Some rows together, in the order given."""
        at = self.positions(positions)
        return Batch(
            x=self.content(at),
            y=self.y[at],
            group=self.groups.codes[at],
            environment=self.environment[at],
            row_id=self.row_id[at],
            make_table=lambda: self.table.take(at),
        )

    def positions(self, wanted: Any) -> Positions:
        """Positions within the rows, given as such or as a mask; negative ones count from the end."""
        return positions(wanted, len(self))

    # ------------------------------------------------------------------------------------------ what if

    def with_table(self, table: pa.Table) -> Rows:
        """The rows of another table of the same world, drawn on demand."""
        return Rows(self.spec, table, None, self.modality, self.target, self.group_by, self.annotated)

    def counterfactual(self, positions: Any, channel: str, value: str | None = None) -> Rows:
        """Some rows with one channel set, all else kept; to the next attribute in each row, unless one is given."""
        table = self.table.take(self.positions(positions))
        if value is not None:
            return self.with_table(intervene.fix(table, self.spec, channel, value))
        return self.with_table(intervene.another(table, self.spec, channel))


def open_rows(
    data: str | Path | Dataset,
    split: str = "train",
    modality: str | Sequence[str] = "image",
    target: str | None = None,
    group_by: str | Sequence[str] | None = None,
    annotated: bool = False,
    cache_dir: str | Path | None = None,
) -> Rows:
    """A split of a finished dataset, given by its directory or opened."""
    from spurgen.store import reader

    dataset = reader.open(data) if isinstance(data, str | Path) else data
    if split not in dataset.splits:
        raise UnknownName(unknown("split", split, dataset.splits, str(dataset.directory)))
    known_modalities(dataset.modalities, modality, dataset.directory)
    stored = Stored(dataset, split, cache_dir)
    return Rows(dataset.spec, dataset.table(split), stored, modality, target, group_by, annotated)


def positions(wanted: Any, size: int) -> Positions:
    """Positions among `size` rows, given as such (negative ones count from the end) or as a mask of all rows."""
    at = np.atleast_1d(np.asarray(wanted))
    if at.dtype == bool and at.shape == (size,):
        return np.flatnonzero(at)
    if at.ndim != 1 or (at.size and at.dtype.kind not in "iu"):
        raise SpurgenError(f"positions are a list of whole numbers, or a mask with one truth value for all {size} rows")
    lost = (at < -size) | (at >= size)
    if lost.any():
        raise IndexError(f"there is no position {at[lost][0]} among {size} rows")
    at = at.astype(np.int64)
    return np.where(at < 0, at + size, at)


def known_modalities(known: Sequence[str], modality: str | Sequence[str], where: Any) -> None:
    """Refuse a modality that is not there, by the name that was meant."""
    for name in [modality] if isinstance(modality, str) else modality:
        if name not in known:
            raise UnknownName(unknown("modality", name, known, where))


def draw(table: pa.Table, spec: World, modality: str, **how: Any) -> Any:
    """A modality of all rows of a table: an array as it is, anything else as the list that would be stored."""
    from spurgen.render import MODALITIES
    from spurgen.render import draw as render

    batch = render(table, spec, modality, **how)
    if hasattr(batch, "dtype"):
        return batch
    return MODALITIES.get(modality).encode(batch)[_first_column(modality)].to_pylist()


def _first_column(modality: str) -> str:
    """The stored column that is the modality itself; others, such as the spans of a caption, only describe it."""
    from spurgen.render import MODALITIES

    return next(iter(MODALITIES.get(modality).columns))
