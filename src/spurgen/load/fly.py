"""Batches drawn as training asks for them and stored nowhere: endless new rows, or passes over a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spurgen import seeds
from spurgen.errors import SpurgenError, UnknownName, unknown
from spurgen.latents.sample import Plan
from spurgen.load import columns
from spurgen.load.batches import Order, Place, Stream, following, per_epoch
from spurgen.load.groups import Groups, group
from spurgen.load.rows import Batch, draw, known_modalities
from spurgen.spec import World, load

if TYPE_CHECKING:
    import pyarrow as pa

FIRST, LAST = 2**39, 2**40  # ids of endless rows; no dataset that can be stored has so many rows
_BLOCK = 4096  # rows whose latents are worked out at a time: a handful costs nearly as much
Intervention = Callable[["pa.Table", World, int], "pa.Table"]


class OnTheFly(Stream):
    """Batches drawn inside the training loop; each follows from the spec, the seed and the step alone.

    With `rows` it goes over the split of a plan of that many rows, exactly those that a stored dataset would hold, in
    passes, shuffled afresh each time unless `shuffle` is False. Without, rows never come again and the stream never
    ends: they are drawn independently, whatever the spec's sampling, and none is a row, or has the nuisances of a row,
    of another split or of a stored dataset of the same seed.

    Each of `interventions` is called as `edit(table, spec, step)` on the latents before they are drawn; targets and
    groups are those of the edited table.
    """

    def __init__(
        self,
        spec: World | str | Path,
        batch_size: int,
        seed: int = 0,
        split: str = "train",
        rows: int | None = None,
        modality: str | Sequence[str] = "image",
        interventions: Intervention | Iterable[Intervention] | None = None,
        target: str | None = None,
        group_by: str | Sequence[str] | None = None,
        annotated: bool = False,
        shuffle: bool | None = None,
        drop_last: bool | None = None,
        prefetch: bool = True,
        device: str = "cpu",
        workers: int | None = None,
    ):
        super().__init__(prefetch)
        self.spec = load(spec)
        if split not in self.spec.splits:
            raise UnknownName(unknown("split", split, self.spec.splits, self.spec.id))
        known_modalities(self.spec.modalities, modality, self.spec.id)
        self.batch_size = seeds.whole("batch_size", batch_size, 1)
        self.split = split
        self.modality = modality if isinstance(modality, str) else tuple(modality)
        self.interventions = _several(interventions)
        self.target = target
        self.group_by = group_by
        self.annotated = annotated
        self._latest: dict[Any, pa.Table] = {}  # the latest block; only spares work
        self.how = {"device": device, "workers": workers}
        self.endless = rows is None
        if self.endless:
            if shuffle is not None or drop_last is not None:
                raise SpurgenError(
                    "a stream without end has no passes to shuffle and no last batch to drop; leave out shuffle and "
                    "drop_last, or say how many rows a pass is over (rows=…)"
                )
            # Nuisances follow from seed and row id alone, so ids that are stored nowhere give rows that nothing holds.
            self.plan = Plan(World.from_dict(self.spec.dump() | {"sampling": "iid"}), LAST, seed)
            self.place = Place(row=FIRST)
        else:
            self.plan = Plan(self.spec, rows, seed)
            self.order = Order(self.plan.splits[split], shuffle is not False, seed)
            self._count = per_epoch(self.order.size, self.batch_size, bool(drop_last))
        self.seed = self.plan.seed
        sample = self.plan.table([0])  # a target or a group that there is not is found here, not in the first batch
        columns.target(sample, self.spec, target)
        self._groups = self._grouped(sample)

    def set_epoch(self, epoch: int) -> None:
        """Go to the start of a pass."""
        if self.endless:
            raise SpurgenError("a stream without end has no epochs; go to a place in it with load_state_dict")
        super().set_epoch(epoch)

    def __len__(self) -> int:
        """Batches in one pass."""
        if self.endless:
            raise TypeError("a stream without end has no length; count its steps, or give it a number of rows")
        return self._count

    def make(self, place: Place) -> tuple[Any, Place]:
        """The batch at a place, and the next place."""
        table, after = self.table(place)
        for edit in self.interventions:
            table = edit(table, self.spec, place.step)
        return self.finish(self._batch(table)), after

    def table(self, place: Place) -> tuple[pa.Table, Place]:
        """The latents of the batch at a place, before any intervention, and the next place."""
        if self.endless:
            table, row = self._next_rows(place.row)
            return table, replace(place, batch=place.batch + 1, step=place.step + 1, row=row)
        ahead = max(1, _BLOCK // self.batch_size)
        block, within = divmod(place.batch, ahead)
        table = self._block((place.epoch, block), lambda: self._pass(place.epoch, block * ahead, ahead))
        return table.slice(within * self.batch_size, self.batch_size), following(place, self._count)

    def _pass(self, epoch: int, batch: int, count: int) -> pa.Table:
        """The latents of some batches of a pass."""
        at = self.order.at(epoch, batch * self.batch_size, (batch + count) * self.batch_size)
        if self.spec.sampling == "quota":  # a split is one run of ids, and may be too long to write out
            return self.plan.table(self.plan.row_ids(self.split, 0, 1)[0] + at.astype(np.uint64))
        return self.plan.table(self.plan.row_ids(self.split)[at])

    def _next_rows(self, row: int) -> tuple[pa.Table, int]:
        """The next rows of the split, and the id after the last of them; the others belong to other splits."""
        import pyarrow as pa

        parts: list[pa.Table] = []
        missing = self.batch_size
        while missing:
            if row >= LAST:
                raise SpurgenError(f"all rows of seed {self.seed} have been drawn; go on with another seed")
            block = row // _BLOCK
            table = self._block(block, lambda block=block: self._mine(block))  # type: ignore[misc]
            ids = table["row_id"].to_numpy()
            first = int(np.searchsorted(ids, row))
            taken = table.slice(first, missing)
            parts.append(taken)
            missing -= taken.num_rows
            row = (block + 1) * _BLOCK if missing else int(ids[first + taken.num_rows - 1]) + 1
        return pa.concat_tables(parts).combine_chunks(), row

    def _mine(self, block: int) -> pa.Table:
        """The rows of the split within a block of ids."""
        table = self.plan.table(np.arange(block * _BLOCK, (block + 1) * _BLOCK, dtype=np.uint64))
        wanted = list(self.spec.splits).index(self.split)
        return table.filter(columns.read(table, self.spec, "split").values == wanted).combine_chunks()

    def _block(self, key: Any, make: Callable[[], pa.Table]) -> pa.Table:
        table = self._latest.get(key)
        if table is None:
            table = make()
            self._latest = {key: table}
        return table

    def _batch(self, table: pa.Table) -> Batch:
        names = [self.modality] if isinstance(self.modality, str) else list(self.modality)
        x = {name: draw(table, self.spec, name, **self.how) for name in names}
        return Batch(
            x=x[self.modality] if isinstance(self.modality, str) else x,
            y=columns.target(table, self.spec, self.target).values,
            group=self._grouped(table).codes,
            environment=columns.read(table, self.spec, "environment").values,
            row_id=table["row_id"].to_numpy().astype(np.int64),
            make_table=lambda: table,
        )

    def _grouped(self, table: pa.Table) -> Groups:
        return group(table, self.spec, self.group_by, self.annotated)

    @property
    def group_names(self) -> tuple[str, ...]:
        """The names that `group` counts in."""
        return self._groups.names

    def has(self, place: Place) -> bool:
        """Whether a pass has so many batches, or an endless stream such a row."""
        return FIRST <= place.row <= LAST if self.endless else place.batch < self._count

    def identity(self) -> dict[str, Any]:
        """What two streams must share for a place in one to mean the same in the other."""
        size = {} if self.endless else {"rows": self.plan.rows, "batches": self._count, "shuffle": self.order.shuffle}
        return size | {
            "batch_size": self.batch_size,
            "split": self.split,
            "seed": self.seed,
            "spec": self.spec.digest(),
        }


def _several(given: Intervention | Iterable[Intervention] | None) -> tuple[Intervention, ...]:
    if given is None:
        return ()
    return (given,) if callable(given) else tuple(given)
