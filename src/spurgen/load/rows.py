"""Labelled rows: latents, targets, groups and content of a split, stored or drawn on demand, for any framework."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spurgen import seeds
from spurgen.errors import SpurgenError, UnknownName, unknown
from spurgen.load import columns
from spurgen.load.groups import Groups, group
from spurgen.load.sources import Drawn, Portable, Source, Stored

if TYPE_CHECKING:
    import pyarrow as pa

    from spurgen.spec import World
    from spurgen.store.reader import Dataset

Edit = Callable[["pa.Table", "World"], "pa.Table"]


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


class Rows:
    """The rows of a table with their content. See `open_rows` for a split of a dataset."""

    def __init__(
        self,
        spec: World,
        table: pa.Table,
        source: Source | None = None,
        modality: str | Sequence[str] = "image",
        target: str | None = None,
        group_by: str | Sequence[str] | None = None,
        annotated: bool = False,
    ):
        self._spec = Portable(spec)
        self.table = table.combine_chunks()
        self.source = source or Drawn(spec, self.table)
        self.modality = modality if isinstance(modality, str) else tuple(modality)
        for name in self.modalities:
            if name not in spec.modalities:
                raise UnknownName(unknown("modality", name, spec.modalities) + f" in {spec.id}")
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

    @property
    def spec(self) -> World:
        """The world that the rows belong to."""
        return self._spec.spec

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_columns"}

    @property
    def modalities(self) -> tuple[str, ...]:
        """The modalities that `x` holds."""
        return (self.modality,) if isinstance(self.modality, str) else self.modality

    @cached_property
    def _columns(self) -> dict[str, columns.Column]:
        return {name: columns.read(self.table, self.spec, name) for name in self.table.column_names}

    def latents(self, row: int) -> dict[str, str | int | float]:
        """Everything the table says of one row, by column."""
        return {name: column.item(row) for name, column in self._columns.items()}

    def content(self, positions: Any, **how: Any) -> Any:
        """The modality of some rows, or a mapping modality -> content; `how` goes to the renderer, if any draws."""
        at = self.positions(positions)
        if isinstance(self.modality, str):
            return self.source.take(self.modality, at, **how)
        return {name: self.source.take(name, at, **how) for name in self.modality}

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

    def positions(self, wanted: Any) -> NDArray[np.int64]:
        """Positions within the rows; negative ones count from the end."""
        at = np.atleast_1d(np.asarray(wanted, np.int64))
        out = np.where(at < 0, at + len(self), at)
        if at.size and (out.min() < 0 or out.max() >= len(self)):
            bad = int(at[(out < 0) | (out >= len(self))][0])
            raise IndexError(f"there is no position {bad} among {len(self)} rows")
        return out

    # ------------------------------------------------------------------------------------------ what if

    def with_table(self, table: pa.Table) -> Rows:
        """The rows of another table of the same world, drawn on demand."""
        return Rows(self.spec, table, None, self.modality, self.target, self.group_by, self.annotated)

    def intervene(self, edit: Edit) -> Rows:
        """All rows after `edit(table, spec)`, for example an intervention; drawn on demand."""
        return self.with_table(edit(self.table, self.spec))

    def counterfactual(self, positions: Any, channel: str, value: str | None = None) -> Rows:
        """Some rows with one channel set, all else kept; to another attribute, fixed per row, unless one is given."""
        table = self.table.take(self.positions(positions))
        return self.with_table(changed(table, self.spec, channel, value))


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
        raise UnknownName(unknown("split", split, dataset.splits) + f" in {dataset.directory}")
    source = Stored(dataset, split, cache_dir)
    return Rows(dataset.spec, dataset.table(split), source, modality, target, group_by, annotated)


def changed(table: pa.Table, spec: World, channel: str, value: str | None = None) -> pa.Table:
    """The table with one channel set to `value`, or in each row to another attribute than it has."""
    import pyarrow as pa

    if channel not in spec.channels:
        raise UnknownName(unknown("channel", channel, spec.channels) + f" in {spec.id}")
    values = spec.values(channel)
    if value is not None:
        if value not in values:
            raise UnknownName(unknown(f"value of channel {channel!r},", value, values))
        codes = np.full(table.num_rows, values.index(value))
    elif len(values) < 2:
        raise SpurgenError(f"channel {channel!r} has only the value {values[0]!r}, so there is no other to show")
    else:
        now = columns.read(table, spec, channel).values
        step = 1 + seeds.integers(0, f"load/counterfactual/{channel}", table["row_id"].to_numpy(), len(values) - 1)
        codes = (now + step) % len(values)
    cells = pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), pa.array(values, pa.string()))
    return table.set_column(table.column_names.index(channel), channel, cells)
