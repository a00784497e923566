"""Passes over labelled rows in batches, shuffled without state: any batch can be asked for, and gone back to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spurgen import seeds
from spurgen.errors import SpurgenError
from spurgen.load.rows import Batch, Rows

_BLOCK = 1 << 14  # positions worked out at a time: the hash costs as much for a handful


@dataclass(frozen=True)
class Place:
    """Which batch comes next; everything about it follows from this and the stream's own settings."""

    epoch: int = 0
    batch: int = 0
    step: int = 0  # batches given so far, over all epochs
    row: int = 0  # endless streams only: the first row that was not looked at yet


class Stream:
    """Batches one after another. Going through it (`for batch in stream`) takes what is left of the current epoch.

    `state_dict()` between two batches, put into an equal stream with `load_state_dict`, goes on with the next batch.
    """

    def __init__(self, prefetch: bool):
        self.place = Place()
        self.prefetch = prefetch

    def make(self, place: Place) -> tuple[Any, Place]:
        """The batch at a place, and the next place. Depends on nothing else."""
        raise NotImplementedError

    def finish(self, batch: Batch) -> Any:
        """What becomes of a batch before it is given; for children."""
        return batch

    def identity(self) -> dict[str, Any]:
        """What two streams must share for a place in one to mean the same in the other."""
        raise NotImplementedError

    def has(self, place: Place) -> bool:
        """Whether the stream comes by this place."""
        raise NotImplementedError

    @property
    def epoch(self) -> int:
        """The pass that comes next, or that is under way."""
        return self.place.epoch

    def set_epoch(self, epoch: int) -> None:
        """Go to the start of a pass."""
        self.place = replace(self.place, epoch=seeds.whole("epoch", epoch), batch=0)

    def __iter__(self) -> Iterator[Any]:
        follow = self._ahead() if self.prefetch else self._one_by_one()
        for batch, after in follow:
            self.place = after  # before the batch is given: what is saved now goes on with the next one
            yield batch

    def _one_by_one(self) -> Iterator[tuple[Any, Place]]:
        place = self.place
        epoch = place.epoch
        while place.epoch == epoch:
            batch, place = self.make(place)
            yield batch, place

    def _ahead(self) -> Iterator[tuple[Any, Place]]:
        """The same, with the next batch made in a thread while the caller works on this one."""
        epoch = self.place.epoch
        with ThreadPoolExecutor(1, "spurgen-batches") as pool:
            waiting: Future[tuple[Any, Place]] | None = pool.submit(self.make, self.place)
            while waiting is not None:
                batch, after = waiting.result()
                waiting = pool.submit(self.make, after) if after.epoch == epoch else None
                yield batch, after

    def state_dict(self) -> dict[str, Any]:
        """Where the stream is, as plain numbers and names."""
        return {"place": asdict(self.place), "stream": self.identity()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go to where another stream was; it must have been made in the same way."""
        mine = self.identity()
        try:
            theirs = dict(state["stream"])
            place = Place(**{k: seeds.whole(k, v) for k, v in dict(state["place"]).items()})
        except (KeyError, TypeError, ValueError, SpurgenError):
            raise SpurgenError(
                "this is not the state of a stream of batches; give what state_dict() returned"
            ) from None
        for name in {**mine, **theirs}:
            if mine.get(name) != theirs.get(name):
                raise SpurgenError(
                    f"this state belongs to another stream ({name} was {theirs.get(name)!r} and is "
                    f"{mine.get(name)!r}); make the stream as it was made then"
                )
        if not self.has(place):
            raise SpurgenError(f"the stream never comes by {place}; give what state_dict() returned, unchanged")
        self.place = place


class Order:
    """Which rows stand where in each pass over `size` rows; each row once per pass, shuffled or as they lie."""

    def __init__(self, size: int, shuffle: bool, seed: int):
        self.size = size
        self.shuffle = shuffle
        self.seed = seeds.whole("seed", seed)
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
    if size == 0:
        raise SpurgenError("there are no rows to make batches of")
    if drop_last and size < batch_size:
        raise SpurgenError(
            f"{size} rows make no batch of {batch_size} when the last, smaller one is dropped; "
            "take a smaller batch_size, or drop_last=False"
        )
    return size // batch_size if drop_last else -(-size // batch_size)


def following(place: Place, count: int) -> Place:
    """The place after this one, when a pass has `count` batches."""
    if place.batch + 1 < count:
        return replace(place, batch=place.batch + 1, step=place.step + 1)
    return replace(place, epoch=place.epoch + 1, batch=0, step=place.step + 1)


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
        self.batch_size = seeds.whole("batch_size", batch_size, 1)
        self.order = Order(len(rows), shuffle, seed)
        self.drop_last = drop_last
        self._count = per_epoch(len(rows), self.batch_size, drop_last)

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

    def has(self, place: Place) -> bool:
        """Whether a pass has so many batches."""
        return place.batch < self._count

    def identity(self) -> dict[str, Any]:
        """What two streams must share for a place in one to mean the same in the other."""
        return {
            "rows": self.rows.digest,
            "batch_size": self.batch_size,
            "drop_last": self.drop_last,
            "shuffle": self.order.shuffle,
            "seed": self.order.seed,
            "spec": self.rows.spec.digest(),
        }
