"""Draws rows chunk by chunk, encodes and hashes them in threads, and hands them out in order.

One thread draws (drawing is parallel in itself), others encode and hash row groups, and the caller writes: so the
processor and the disk are busy at the same time and only a few chunks are in memory, however many rows there are.
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

from spurgen.store import digests
from spurgen.store.features import stored

if TYPE_CHECKING:
    import pyarrow as pa

    from spurgen.parts import Modality

LATENTS = "latents"
_CHUNK_GROUPS = 4  # row groups drawn in one go
_AHEAD = 2  # chunks that may be drawn while earlier ones are encoded and written


@dataclass(frozen=True)
class Piece:
    """One row group, ready to be written: the columns as stored, a number per row and column group, seconds used.

    Drawing is measured by the clock, encoding and hashing by the processor, since those run side by side.
    """

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
        self.workers = workers or available_cores()
        self.modalities: dict[str, Modality] = {name: _modality(name) for name in spec.modalities}

    def features(self) -> dict[str, Any]:
        """The Hugging Face features of every stored column, in order."""
        out = dict(self.plan.features)
        for modality in self.modalities.values():
            out |= modality.columns
        return out

    def versions(self) -> dict[str, int]:
        """The drawing version of each modality."""
        return {name: modality.version for name, modality in self.modalities.items()}

    def bytes_per_row(self) -> float:
        """How large a row is on disk, judged by drawing the first few; the same on every run."""
        split = next(s for s, rows in self.plan.splits.items() if rows)
        ids = self.plan.row_ids(split, 0, min(16, self.plan.splits[split]))
        (piece,) = self.pieces([ids], len(ids))
        return float(piece.table.nbytes) / len(ids)

    def pieces(self, runs: Iterable[np.ndarray], group_rows: int) -> Generator[Piece, None, None]:
        """Each run of row ids (not more than a chunk each) as pieces of `group_rows` rows, in order."""
        with ThreadPoolExecutor(1, "draw") as drawer, ThreadPoolExecutor(self.workers, "encode") as encoders:
            waiting: deque[Future[list[Future[Piece]]]] = deque()
            try:
                for ids in runs:
                    waiting.append(drawer.submit(self._draw, ids, group_rows, encoders))
                    if len(waiting) > _AHEAD:
                        yield from _results(waiting.popleft())
                while waiting:
                    yield from _results(waiting.popleft())
            finally:
                drawer.shutdown(wait=True, cancel_futures=True)
                encoders.shutdown(wait=True, cancel_futures=True)

    def _draw(self, ids: np.ndarray, group_rows: int, encoders: ThreadPoolExecutor) -> list[Future[Piece]]:
        from spurgen.render import draw

        started = time.perf_counter()
        table = self.plan.table(ids)
        batches = {name: draw(table, self.spec, name, workers=self.workers) for name in self.modalities}
        spent = time.perf_counter() - started
        out = []
        for start in range(0, len(ids), group_rows):
            stop = min(start + group_rows, len(ids))
            part = {name: batch[start:stop] for name, batch in batches.items()}
            share = spent * (stop - start) / len(ids)
            out.append(encoders.submit(self._finish, table.slice(start, stop - start), part, share))
        return out

    def _finish(self, table: pa.Table, batches: dict[str, Any], drawing: float) -> Piece:
        clock = time.thread_time()
        ids = table["row_id"].to_numpy()
        out = stored(table)
        encoding = 0.0
        rows = {LATENTS: digests.of_latents(table)}
        for name, batch in batches.items():
            modality = self.modalities[name]
            before = time.thread_time()
            for column, array in _alone(modality.encode)(batch).items():
                out = out.append_column(column, array)
            encoding += time.thread_time() - before
            rows[name] = digests.of_rows(ids, partial(modality.content, batch))
        hashing = time.thread_time() - clock - encoding
        return Piece(out, rows, {"draw": drawing, "encode": encoding, "hash": hashing})


def runs(plan: Any, split: str, start: int, rows: int, group_rows: int) -> Iterator[np.ndarray]:
    """The row ids of a stretch of a split, cut into chunks of whole row groups."""
    step = group_rows * _CHUNK_GROUPS
    for first in range(start, start + rows, step):
        yield plan.row_ids(split, first, min(first + step, start + rows))


def _alone(encode: Callable[..., Any]) -> Callable[..., Any]:
    """An encoder that starts no threads of its own: the row groups are encoded side by side already."""
    return partial(encode, workers=1) if "workers" in inspect.signature(encode).parameters else encode


def available_cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _results(chunk: Future[list[Future[Piece]]]) -> Iterator[Piece]:
    for piece in chunk.result():
        yield piece.result()


def _modality(name: str) -> Modality:
    from spurgen.render import MODALITIES

    return MODALITIES.get(name)
