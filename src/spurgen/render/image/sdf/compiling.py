"""What compiled drivers need: a place on disk, under a digest of all that they are made of, and rows of matrices."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core import cgutils, types
from numba.extending import intrinsic

from spurgen.render.image.sdf.arithmetic import EXACT
from spurgen.render.image.sdf.lanes import TILE_H, TILE_W

# numba's cache watches the file of the function it stores; what the function closes over is part of the key. So only
# drivers are stored, and they close over the digest.


def source_digest() -> str:
    """Changes with any file of this engine and with the compiler, and with it numba's cache key."""
    digest = hashlib.blake2b(f"{numba.__version__} {llvmlite.__version__} {TILE_W}x{TILE_H}".encode(), digest_size=16)
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def compiled(signature: str, function: Callable[..., None]) -> Any:
    """The function compiled now, from the cache on disk where there is one that can be written."""
    try:
        return numba.njit(signature, nogil=True, cache=True, **EXACT)(function)
    except (RuntimeError, OSError):  # no place for a cache
        return numba.njit(signature, nogil=True, **EXACT)(function)


@intrinsic
def row(typing, matrix, i):  # type: ignore[no-untyped-def]
    """Where a row of a matrix begins, as a pointer: numba counts those who hold an array, which costs time."""

    def generate(context, builder, sig, values):  # type: ignore[no-untyped-def]
        array = context.make_array(sig.args[0])(context, builder, values[0])
        stride = cgutils.unpack_tuple(builder, array.strides)[0]
        return cgutils.pointer_add(builder, array.data, builder.mul(values[1], stride))

    return types.CPointer(matrix.dtype)(matrix, types.intp), generate
