"""Batches drawn as training asks for them and stored nowhere: endless new rows, or passes over a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spurgen.errors import SpurgenError, UnknownName, unknown
from spurgen.latents.sample import Plan
from spurgen.load import columns
from spurgen.load.batches import following, per_epoch, positions
from spurgen.load.groups import groups
from spurgen.load.rows import Batch
from spurgen.load.sources import draw
from spurgen.load.stream import Place, Stream
from spurgen.spec import World, load

if TYPE_CHECKING:
    import pyarrow as pa

ENDLESS = 2**40
Intervention = Callable[["pa.Table", World, int], "pa.Table"]


class OnTheFly(Stream):
    """Batches drawn inside the training loop; each follows from the spec, the seed and the step alone.

    With `rows` it goes over the split of a plan of that many rows, exactly those that a stored dataset would hold, in
    passes, shuffled afresh each time. Without, rows never come again and the stream never ends: they are drawn
    independently, whatever the spec's sampling, and are never rows of another split of the same seed.

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
        shuffle: bool = True,
        drop_last: bool = False,
        prefetch: bool = True,
        **how: Any,
    ):
        super().__init__(prefetch)
        self.spec = load(spec)
        if split not in self.spec.splits:
            raise UnknownName(unknown("split", split, self.spec.splits) + f" in {self.spec.id}")
        self.batch_size = batch_size
        self.seed = seed
        self.split = split
        self.modality = modality if isinstance(modality, str) else tuple(modality)
        self.interventions = _several(interventions)
        self.target = target
        self.group_by = group_by
        self.annotated = annotated
        self.shuffle = shuffle
        self.how = how
        self.endless = rows is None
        if self.endless:
            per_epoch(batch_size, batch_size, drop_last)  # refuses a batch size that is none
            first = self.spec.rows if self.spec.sampling == "quota" else 0
            self.plan = Plan(World.from_dict(self.spec.dump() | {"sampling": "iid"}), ENDLESS, seed)
            # Nuisances follow from seed and row id alone: beyond the stored ids none repeats a stored test row.
            self.place = Place(row=first)
        else:
            self.plan = Plan(self.spec, rows, seed)
            self._size = self.plan.splits[split]
            self._count = per_epoch(self._size, batch_size, drop_last)

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
        start = place.batch * self.batch_size
        at = positions(self._size, place.epoch, start, start + self.batch_size, self.shuffle, self.seed)
        return self.plan.table(self._ids(at)), following(place, self._count)

    def _ids(self, at: NDArray[np.int64]) -> NDArray[np.uint64]:
        if self.spec.sampling == "quota":  # a split is one run of ids, and may be too long to write out
            return self.plan.row_ids(self.split, 0, 1)[0] + at.astype(np.uint64)
        return self.plan.row_ids(self.split)[at]

    def _next_rows(self, row: int) -> tuple[pa.Table, int]:
        """The next rows of the split, and the id after the last of them; the others belong to other splits."""
        import pyarrow as pa

        share = self.spec.splits[self.split].share
        wanted = list(self.spec.splits).index(self.split)
        parts: list[pa.Table] = []
        missing = self.batch_size
        while missing:
            stop = min(row + int(missing / share * 1.1) + 32, ENDLESS)
            if row >= stop:
                raise SpurgenError(f"all 2**40 rows of seed {self.seed} have been drawn; go on with another seed")
            candidates = self.plan.table(np.arange(row, stop, dtype=np.uint64))
            mine = np.flatnonzero(columns.read(candidates, self.spec, "split").values == wanted)[:missing]
            if mine.size:
                parts.append(candidates.take(mine))
            missing -= mine.size
            row = stop if missing else row + int(mine[-1]) + 1
        return pa.concat_tables(parts).combine_chunks(), row

    def _batch(self, table: pa.Table) -> Batch:
        names = [self.modality] if isinstance(self.modality, str) else list(self.modality)
        x = {name: draw(table, self.spec, name, **self.how) for name in names}
        return Batch(
            x=x[self.modality] if isinstance(self.modality, str) else x,
            y=columns.target(table, self.spec, self.target).values,
            group=groups(table, self.spec, self.group_by, self.annotated).codes,
            environment=columns.read(table, self.spec, "environment").values,
            row_id=table["row_id"].to_numpy().astype(np.int64),
            make_table=lambda: table,
        )

    def finish(self, batch: Batch) -> Any:
        """What becomes of a batch before it is given; for children."""
        return batch

    @property
    def group_names(self) -> tuple[str, ...]:
        """The names that `group` counts in."""
        return groups(self.plan.table([0]), self.spec, self.group_by, self.annotated).names

    def identity(self) -> dict[str, Any]:
        """What two streams must share for a place in one to mean the same in the other."""
        size = {} if self.endless else {"rows": self.plan.rows, "batches": self._count, "shuffle": self.shuffle}
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
