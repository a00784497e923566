"""Pictures to PNG bytes and back: lossless, standard, fast, and the same bytes on every machine."""

from __future__ import annotations

import io
import os
import struct
import zlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from spurgen.errors import DataError

Pictures = NDArray[np.uint8]
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHUNK_BYTES = 4 << 20  # raw pictures handed to a thread at a time: enough to hide the call, few enough for caches


def encode(pictures: Pictures, workers: int | None = None) -> list[bytes]:
    """One PNG for each picture of [n, height, width, 3] (colour) or [n, height, width] (grey)."""
    pictures = _checked(pictures)
    per_call = max(1, _CHUNK_BYTES // max(1, pictures[:1].nbytes))
    parts = [pictures[i : i + per_call] for i in range(0, len(pictures), per_call)]
    return [blob for blobs in _in_threads(_encode_part, parts, workers) for blob in blobs]


def decode(blobs: Sequence[bytes], workers: int | None = None) -> Pictures:
    """The pictures in PNG (or other image) files that all have the same size and kind, as one array."""
    blobs = blobs.to_pylist() if hasattr(blobs, "to_pylist") else blobs  # a column of a table
    if len(blobs) == 0:
        raise DataError("there are no pictures to decode")
    first = _decode_one(blobs[0])
    out = np.empty((len(blobs), *first.shape), np.uint8)
    out[0] = first

    def fill(span: range) -> None:
        for i in span:
            picture = _decode_one(blobs[i])
            if picture.shape != first.shape:
                raise DataError(f"picture {i} is {picture.shape}, the first is {first.shape}; all must be the same")
            out[i] = picture

    _in_threads(
        fill,
        [range(i, min(i + 32, len(blobs))) for i in range(1, len(blobs), 32)],
        workers,
    )
    return out


def _checked(pictures: Pictures) -> Pictures:
    pictures = np.ascontiguousarray(pictures)
    colour = pictures.ndim == 4 and pictures.shape[3] == 3
    if pictures.dtype != np.uint8 or not (colour or pictures.ndim == 3) or 0 in pictures.shape[1:]:
        raise DataError(
            "pictures must be uint8 [n, height, width, 3] or [n, height, width] with at least one pixel, "
            f"not {pictures.dtype} {list(pictures.shape)}"
        )
    return pictures


def _in_threads(function, parts, workers):  # type: ignore[no-untyped-def]
    workers = min(workers or os.cpu_count() or 1, len(parts))
    if workers <= 1:
        return [function(part) for part in parts]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(function, parts))


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _encode_part(pictures: Pictures) -> list[bytes]:
    from spurgen.render.image import _bits, _deflate  # numba is slow to import

    n, height, width = pictures.shape[:3]
    pixel = 3 if pictures.ndim == 4 else 1
    size = height * (width * pixel + 1)  # bytes of a picture, each row led by its filter
    header = _chunk(
        b"IHDR",
        struct.pack(">IIBBBBB", width, height, 8, 2 if pixel == 3 else 0, 0, 0, 0),
    )
    head = np.frombuffer(_SIGNATURE + header + b"\0\0\0\0IDAT", np.uint8)
    tail = np.frombuffer(_chunk(b"IEND", b""), np.uint8)
    scratch = np.zeros(size + _bits.SLACK, np.uint8)
    segments = np.empty((size // 8 + 2, 2), np.uint64)
    out = np.empty(n * _deflate.capacity(size, len(head) + len(tail)), np.uint8)
    sizes = np.empty(n, np.int64)
    _deflate.kernel()(
        pictures.reshape(n, height, width * pixel),
        pixel,
        head,
        tail,
        scratch,
        segments,
        out,
        sizes,
    )
    ends = np.cumsum(sizes).tolist()
    return [out[start:end].tobytes() for start, end in zip([0, *ends[:-1]], ends, strict=True)]


def _decode_one(blob: bytes) -> Pictures:
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(blob)) as picture:
            return np.asarray(picture if picture.mode == "L" else picture.convert("RGB"))
    except (UnidentifiedImageError, OSError, SyntaxError) as problem:
        raise DataError(f"these bytes are not a picture that can be read: {problem}") from problem
