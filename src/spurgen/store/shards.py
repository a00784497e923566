"""Writes one shard: row groups in, a file with a hash out, under its name only when it is whole."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spurgen.store import atomic, digests
from spurgen.store.drawing import Piece
from spurgen.store.layout import BUILD, Shard
from spurgen.store.manifest import ShardRecord

if TYPE_CHECKING:
    import pyarrow as pa

_BLOCK = 4 << 20  # bytes hashed and written in one go: every smaller call would wait for the drawing threads


class _Sink:
    """A file that hashes what passes through it; pyarrow writes to it as to any file object."""

    def __init__(self, path: Path):
        self._file = open(path, "wb", buffering=0)  # noqa: SIM115  closed by `close`
        self._hash = hashlib.sha256()
        self._failed: OSError | None = None
        self._waiting = bytearray()
        self.size = 0
        self.closed = False

    def write(self, content: Any) -> int:
        length = memoryview(content).nbytes
        self._waiting += content
        self.size += length
        if len(self._waiting) >= _BLOCK:
            self._empty()
        return length

    def _empty(self) -> None:
        waiting, self._waiting = self._waiting, bytearray()
        if self._failed is None:
            try:
                self._write(memoryview(waiting))
            except OSError as error:  # kept: pyarrow may wrap it, and writes again while it closes
                self._failed = error

    def _write(self, view: memoryview) -> None:
        self._hash.update(view)
        while view:  # a raw file may take less than it is given
            view = view[self._file.write(view) :]

    def raise_failure(self) -> None:
        if self._failed is not None:
            raise self._failed

    def finish(self) -> str:
        self._empty()
        self.raise_failure()
        os.fsync(self._file.fileno())
        self.close()
        return self._hash.hexdigest()

    def tell(self) -> int:
        return self.size

    def flush(self) -> None:
        pass

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self._file.close()

    readable = seekable = lambda self: False
    writable = lambda self: True  # noqa: E731


def write(
    directory: Path,
    shard: Shard,
    pieces: Iterable[Piece],
    metadata: dict[bytes, bytes],
    names: Sequence[str],
    accept: Callable[[ShardRecord], None],
    spend: Callable[[str, float], None],
) -> ShardRecord:
    """Write the pieces as one shard; `names` are the columns that hold one of a few names.

    `accept` raises where the record is not what it should be, before the file takes the place of another.
    """
    target = directory / shard.name
    temporary = directory / BUILD / (Path(shard.name).name + ".tmp")
    with atomic.explained(target):
        sink = _Sink(temporary)
        try:
            sums = _write_pieces(sink, pieces, metadata, names, spend)
            before = time.thread_time()
            record = _record(shard, sink.finish(), sink.size, sums)
            accept(record)
            atomic.replace(temporary, target)
            spend("write", time.thread_time() - before)
        except BaseException:
            sink.close()
            temporary.unlink(missing_ok=True)
            raise
    return record


def _record(shard: Shard, sha256: str, size: int, sums: dict[str, int]) -> ShardRecord:
    return ShardRecord(
        file=shard.name,
        split=shard.split,
        start=shard.start,
        rows=shard.rows,
        bytes=size,
        sha256=sha256,
        digests={group: digests.to_hex(number) for group, number in sums.items()},
    )


def _write_pieces(
    sink: _Sink,
    pieces: Iterable[Piece],
    metadata: dict[bytes, bytes],
    names: Sequence[str],
    spend: Callable[[str, float], None],
) -> dict[str, int]:
    writer = None
    sums: dict[str, int] = {}
    for piece in pieces:
        before = time.thread_time()
        writer = writer or _writer(sink, piece.table.schema.with_metadata(metadata), names)
        writer.write_table(piece.table, row_group_size=max(1, piece.table.num_rows))
        sink.raise_failure()
        spend("write", time.thread_time() - before)
        for group, number in piece.sums.items():
            sums[group] = digests.add([sums.get(group, 0), number])
    if writer is not None:
        writer.close()
    return sums


def _writer(sink: _Sink, schema: pa.Schema, names: Sequence[str]) -> Any:
    import pyarrow.parquet as pq

    # Plain and uncompressed: one row can be read without unpacking its neighbours. Statistics serve no purpose
    # for pixels; those of row_id let DuckDB find a row without reading the rest.
    return pq.ParquetWriter(
        sink, schema, compression="none", use_dictionary=list(names), write_statistics=["row_id"], version="2.6"
    )


def sha256_of(path: Path) -> str:
    """The hash of a file's bytes, without holding the file in memory."""
    state = hashlib.sha256()
    with open(path, "rb", buffering=0) as file:
        while block := file.read(_BLOCK):
            state.update(block)
    return state.hexdigest()


def is_whole(directory: Path, record: ShardRecord) -> bool:
    """Whether a shard's file is byte for byte what the record says."""
    path = directory / record.file
    try:
        return path.stat().st_size == record.bytes and sha256_of(path) == record.sha256
    except OSError:
        return False
