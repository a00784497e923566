"""Draws, encodes and hashes row groups in threads, and hands them out in order.

Each thread takes one row group through all steps while it is warm in the processor's caches; the caller writes what
is handed out, so the processor and the disk are busy at the same time. Only a few row groups are in memory, however
many rows there are.
"""

from __future__ import annotations

import inspect
import os
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from spurgen.errors import SpurgenError
from spurgen.spec.known import MODALITIES
from spurgen.store import digests
from spurgen.store.features import stored

if TYPE_CHECKING:
    import pyarrow as pa

    from spurgen.parts import Modality

LATENTS = "latents"
_LATENT_ROWS = 4096  # rows whose latents are worked out at a time: a few cost nearly as much
_AHEAD = 6  # row groups that may wait to be written, so that a slow disk stops no thread at once
_SAMPLE = 16


@dataclass(frozen=True)
class Piece:
    """One row group, ready to be written: the columns as stored, a number per row and column group, seconds used."""

    table: pa.Table
    rows: dict[str, list[int]]
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def sums(self) -> dict[str, int]:
        """The digest of the whole piece for each column group."""
        return {group: digests.add(numbers) for group, numbers in self.rows.items()}


class Artist:
    """Turns rows of a plan into pieces; holds what drawing needs and no rows."""

    def __init__(self, spec: Any, plan: Any, workers: int | None = None):
        self.spec = spec
        self.plan = plan
        self.workers = thread_count(workers)
        self.modalities: dict[str, Modality] = {name: MODALITIES.get(name) for name in spec.modalities}

    def features(self) -> dict[str, Any]:
        """The Hugging Face features of every stored column, in order."""
        out = dict(self.plan.features)
        for modality in self.modalities.values():
            out |= modality.columns
        return out

    def versions(self) -> dict[str, int]:
        """The drawing version of each modality."""
        return {name: modality.version for name, modality in self.modalities.items()}

    def sample(self) -> pa.Table:
        """The first few rows as they are stored, to judge by how large rows are; the same on every run."""
        ids = np.arange(min(_SAMPLE, self.plan.rows), dtype=np.uint64)
        return self._piece(self.plan.table(ids)).table

    def pieces(self, runs: Iterable[np.ndarray], group_rows: int) -> Generator[Piece, None, None]:
        """Each run of row ids as pieces of `group_rows` rows, in order; a piece never holds rows of two runs."""
        with ThreadPoolExecutor(self.workers, "draw") as pool:
            waiting: deque[Future[Piece]] = deque()
            try:
                for ids in runs:
                    table = self.plan.table(ids)
                    for start in range(0, len(ids), group_rows):
                        waiting.append(pool.submit(self._piece, table.slice(start, group_rows)))
                        if len(waiting) > self.workers + _AHEAD:
                            yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            finally:
                pool.shutdown(wait=True, cancel_futures=True)

    def _piece(self, table: pa.Table) -> Piece:
        """All there is of some rows; seconds are of the processor, since this runs on several threads at once."""
        from spurgen.render import draw

        clock = _Clock()
        ids = table["row_id"].to_numpy()
        out = stored(table)
        rows = {LATENTS: digests.of_latents(table)}
        clock.spend("hash")
        for name, modality in self.modalities.items():
            batch = draw(table, self.spec, name, workers=1)
            clock.spend("draw")
            for column, array in _alone(modality.encode)(batch).items():
                out = out.append_column(column, array)
            clock.spend("encode")
            rows[name] = digests.of_rows(ids, partial(modality.content, batch))
            clock.spend("hash")
        return Piece(out, rows, clock.seconds)


class _Clock:
    """Seconds of the processor that this thread has spent on each step."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._since = time.thread_time()

    def spend(self, step: str) -> None:
        now = time.thread_time()
        self.seconds[step] = self.seconds.get(step, 0.0) + now - self._since
        self._since = now


def runs(plan: Any, split: str, start: int, rows: int, group_rows: int) -> Iterator[np.ndarray]:
    """The row ids of a stretch of a split, cut into runs of whole row groups."""
    step = group_rows * max(1, _LATENT_ROWS // group_rows)
    for first in range(start, start + rows, step):
        yield plan.row_ids(split, first, min(first + step, start + rows))


def _alone(encode: Callable[..., Any]) -> Callable[..., Any]:
    """An encoder that starts no threads of its own: the row groups are encoded side by side already."""
    return partial(encode, workers=1) if "workers" in inspect.signature(encode).parameters else encode


def thread_count(workers: int | None) -> int:
    """How many threads to use: as many as were asked for, or as there are cores."""
    if workers is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not isinstance(workers, int) or isinstance(workers, bool) or workers < 1:
        raise SpurgenError(f"workers is {workers!r}; it must be a whole number, 1 or more")
    return workers
