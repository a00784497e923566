"""Digests of content that do not depend on order, shards or workers.

Each row gives SHA-256(row_id, content), which processors have instructions for; a digest is the sum of those modulo
2**256. Sums of shards add up to the sum of the dataset, so one shard can be checked, or redrawn, without the others.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

ALGORITHM = "sum of SHA-256"  # as the manifest calls it
_SIZE = 32
_MODULUS = 1 << (8 * _SIZE)


def add(digests: Iterable[int]) -> int:
    """The digest of several rows, or of several sets of rows, together."""
    return sum(digests) % _MODULUS


def to_hex(digest: int) -> str:
    """As it stands in the manifest."""
    return digest.to_bytes(_SIZE, "big").hex()


def from_hex(text: str) -> int:
    """The reverse of `to_hex`."""
    return int.from_bytes(bytes.fromhex(text), "big")


def of_rows(row_ids: np.ndarray, content: Callable[[int], bytes | memoryview]) -> list[int]:
    """One number per row: SHA-256 of the row's id and of `content(position)`."""
    ids = np.ascontiguousarray(row_ids, "<u8").tobytes()
    out = []
    for i in range(len(row_ids)):
        state = hashlib.sha256(ids[8 * i : 8 * i + 8])
        state.update(content(i))
        out.append(int.from_bytes(state.digest(), "big"))
    return out


def of_latents(table: pa.Table) -> list[int]:
    """One number per row of a table of latents, however its columns are coded or chunked."""
    records = _records(table)
    width = records.shape[1]
    view = memoryview(records.reshape(-1).data)
    return of_rows(table["row_id"].to_numpy(), lambda i: view[i * width : (i + 1) * width])


def of_dataset(totals: Mapping[str, str]) -> str:
    """One digest for the whole: over the digests of all column groups, by name."""
    return hashlib.sha256(json.dumps(totals, sort_keys=True).encode()).hexdigest()


def _records(table: pa.Table) -> np.ndarray:
    """Fixed-width canonical bytes: a digest of the columns' names, then 16 bytes per name and 8 per number."""
    header = _name(json.dumps(table.column_names))
    parts = [np.broadcast_to(np.frombuffer(header, np.uint8), (table.num_rows, 16))]
    parts += [_cells(table[name]) for name in table.column_names]
    return np.ascontiguousarray(np.concatenate(parts, axis=1))


def _cells(column: pa.ChunkedArray) -> np.ndarray:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = pc.dictionary_encode(column)
    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # what a column without rows combines to in some versions
        array = array.chunk(0) if array.num_chunks else pa.array([], column.type)
    if pa.types.is_dictionary(array.type):
        names = [_name(text) for text in array.dictionary.to_pylist()] + [bytes(16)]  # the last one: an empty cell
        known = np.frombuffer(b"".join(names), np.uint8).reshape(len(names), 16)
        codes: np.ndarray = pc.fill_null(array.indices, len(names) - 1).to_numpy()
        cells: np.ndarray = known[codes]
        return cells
    numbers: np.ndarray = array.to_numpy(zero_copy_only=False)
    wide = numbers.astype("<f8" if numbers.dtype.kind == "f" else "<i8" if numbers.dtype.kind == "i" else "<u8")
    return wide.view(np.uint8).reshape(len(wide), 8)


def _name(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()[:16]
