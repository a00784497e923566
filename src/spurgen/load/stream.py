"""Endless or repeated passes over batches: a place that can be saved and gone back to, and one batch made ahead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from typing import Any

from spurgen.errors import SpurgenError


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

    def identity(self) -> dict[str, Any]:
        """What two streams must share for a place in one to mean the same in the other."""
        raise NotImplementedError

    @property
    def epoch(self) -> int:
        """The pass that comes next, or that is under way."""
        return self.place.epoch

    def set_epoch(self, epoch: int) -> None:
        """Go to the start of a pass."""
        self.place = replace(self.place, epoch=epoch, batch=0)

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
        try:
            mine, theirs = self.identity(), dict(state["stream"])
            place = Place(**{k: int(v) for k, v in dict(state["place"]).items()})
        except (KeyError, TypeError, ValueError):
            raise SpurgenError(
                "this is not the state of a stream of batches; give what state_dict() returned"
            ) from None
        for name in {**mine, **theirs}:
            if mine.get(name) != theirs.get(name):
                raise SpurgenError(
                    f"this state belongs to another stream ({name} was {theirs.get(name)!r} and is "
                    f"{mine.get(name)!r}); make the stream as it was made then"
                )
        self.place = place
