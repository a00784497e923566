"""Batches of labelled rows, gathered at once and shuffled without state, so that any batch can be asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spurgen import seeds
from spurgen.errors import SpurgenError
from spurgen.load.rows import Batch, Rows
from spurgen.load.stream import Place, Stream

_BLOCK = 1 << 14  # positions worked out at a time: the hash costs as much for a handful


class Order:
    """Which rows stand where in each pass over `size` rows; each row once per pass, shuffled or as they lie."""

    def __init__(self, size: int, shuffle: bool, seed: int):
        self.size = size
        self.shuffle = shuffle
        self.seed = seed
        self._latest: tuple[tuple[int, int], NDArray[np.int64]] | None = None  # only spares work

    def at(self, epoch: int, start: int, stop: int) -> NDArray[np.int64]:
        """The rows at `start` to `stop` of a pass; fewer where the pass ends."""
        stop = min(stop, self.size)
        parts = []
        for block in range(start // _BLOCK, -(-stop // _BLOCK)):
            first = block * _BLOCK
            parts.append(self._block(epoch, block)[max(start - first, 0) : stop - first])
        return np.concatenate(parts) if parts else np.zeros(0, np.int64)

    def _block(self, epoch: int, block: int) -> NDArray[np.int64]:
        latest = self._latest
        if latest is not None and latest[0] == (epoch, block):
            return latest[1]
        found = np.arange(block * _BLOCK, min((block + 1) * _BLOCK, self.size), dtype=np.int64)
        if self.shuffle:
            found = seeds.permute(self.seed, f"load/shuffle/{epoch}", 0, found, self.size)
        self._latest = ((epoch, block), found)
        return found


def per_epoch(size: int, batch_size: int, drop_last: bool) -> int:
    """Batches in one pass; data that makes not a single one is an error rather than an empty loop."""
    if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size < 1:
        raise SpurgenError(f"batch_size is {batch_size!r}; it must be a whole number, 1 or more")
    if size == 0:
        raise SpurgenError("there are no rows to make batches of")
    if drop_last and size < batch_size:
        raise SpurgenError(
            f"{size} rows make no batch of {batch_size} when the last, smaller one is dropped; "
            "take a smaller batch_size, or drop_last=False"
        )
    return size // batch_size if drop_last else -(-size // batch_size)


class Batches(Stream):
    """Pass after pass over labelled rows. With `drop_last` the smaller batch at the end of each pass is left out."""

    def __init__(
        self,
        rows: Rows,
        batch_size: int,
        shuffle: bool = False,
        seed: int = 0,
        drop_last: bool = False,
        prefetch: bool = False,
    ):
        super().__init__(prefetch)
        self.rows = rows
        self.batch_size = batch_size
        self.order = Order(len(rows), shuffle, seed)
        self.drop_last = drop_last
        self._count = per_epoch(len(rows), batch_size, drop_last)

    def __len__(self) -> int:
        """Batches in one pass."""
        return self._count

    def make(self, place: Place) -> tuple[Any, Place]:
        """The batch at a place, and the next place."""
        return self.finish(self.rows.take(self.at(place))), following(place, self._count)

    def at(self, place: Place) -> NDArray[np.int64]:
        """The positions of the rows of a batch."""
        start = place.batch * self.batch_size
        return self.order.at(place.epoch, start, start + self.batch_size)

    def finish(self, batch: Batch) -> Any:
        """What becomes of a batch before it is given; for children."""
        return batch

    def identity(self) -> dict[str, Any]:
        """What two streams must share for a place in one to mean the same in the other."""
        return {
            "rows": len(self.rows),
            "batch_size": self.batch_size,
            "drop_last": self.drop_last,
            "shuffle": self.order.shuffle,
            "seed": self.order.seed,
            "spec": self.rows.spec.digest(),
        }


def following(place: Place, count: int) -> Place:
    """The place after this one, when a pass has `count` batches."""
    if place.batch + 1 < count:
        return replace(place, batch=place.batch + 1, step=place.step + 1)
    return replace(place, epoch=place.epoch + 1, batch=0, step=place.step + 1)
