"""Compiled building blocks of the PNG coder: words at any address, bits, bytes, checksums.

Positions are uint64 throughout: a signed index would be tested for being negative at every access.
"""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

u32, u64 = np.uint32, np.uint64
ZERO, ONE, THREE, FOUR, SEVEN, EIGHT = u64(0), u64(1), u64(3), u64(4), u64(7), u64(8)
SLACK = 16  # bytes that may be read or written past the end, because memory is touched eight bytes at a time

compiled = nb.njit(nogil=True)  # not cached one by one: the driver in `_deflate.py` is, with all it calls

# ------------------------------------------------------------------------------------- eight bytes at any address


def _address(context: Any, builder: Any, kind: Any, array: Any, offset: Any) -> Any:
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [offset]), ir.IntType(64).as_pointer())


@intrinsic  # type: ignore[untyped-decorator]
def load64(typingctx, array, offset):
    """The eight bytes from `offset` on, first byte lowest: every machine numba supports is little-endian."""

    def generate(context, builder, signature, arguments):
        return builder.load(_address(context, builder, signature.args[0], *arguments), align=1)

    return types.uint64(array, types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def store64(typingctx, array, offset, value):
    """Write eight bytes from `offset` on."""

    def generate(context, builder, signature, arguments):
        pointer = _address(context, builder, signature.args[0], *arguments[:2])
        builder.store(arguments[2], pointer, align=1)
        return context.get_dummy_value()

    return types.void(array, types.uint64, types.uint64), generate


def _zero_bytes(count: str) -> Any:
    def bind(typingctx: Any, difference: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            zeros = getattr(builder, count)(arguments[0], ir.Constant(ir.IntType(1), 0))
            return builder.lshr(zeros, ir.Constant(ir.IntType(64), 3))

        return types.uint64(types.uint64), generate

    return bind


equal_low_bytes = intrinsic(_zero_bytes("cttz"))  # how many low bytes of a difference are zero: 8 when it is 0
equal_high_bytes = intrinsic(_zero_bytes("ctlz"))  # the same from the other end


# ------------------------------------------------------------------------------------------------------ writing


@compiled
def put(out, at, held, filled, value, size):
    """Append `size` bits. State: next byte, bits held back, how many (fewer than eight)."""
    held |= u64(value) << filled
    filled += u64(size)
    store64(out, at, held)
    whole = filled >> THREE
    return at + whole, held >> (whole << THREE), filled & SEVEN


@compiled
def put_byte(out, at, value):
    """Append one byte."""
    out[at] = value & 255
    return at + ONE


@compiled
def put_bytes(out, at, data, start, stop):
    """Append data[start:stop]."""
    for k in range(start, stop):
        out[at] = data[k]
        at += ONE
    return at


@compiled
def put_number(out, at, value):
    """Append four bytes, highest first."""
    for shift in (24, 16, 8, 0):
        out[at] = (value >> u64(shift)) & u64(255)
        at += ONE
    return at


# ---------------------------------------------------------------------------------------------------- checksums


def crc_tables() -> np.ndarray:
    """Sixteen tables that advance a CRC-32 by sixteen bytes at once."""
    table = np.zeros((16, 256), u32)
    one = np.arange(256, dtype=u32)
    for _ in range(8):
        one = np.where(one & u32(1), (one >> u32(1)) ^ u32(0xEDB88320), one >> u32(1))
    table[0] = one
    for k in range(1, 16):
        table[k] = one[table[k - 1] & u32(255)] ^ (table[k - 1] >> u32(8))
    return table


CRC = crc_tables()


@compiled
def crc_of_word(word, behind):
    """What eight bytes with `behind` more bytes after them add to a CRC-32."""
    low = u64(255)
    return u64(
        CRC[behind + 7, word & low]
        ^ CRC[behind + 6, (word >> u64(8)) & low]
        ^ CRC[behind + 5, (word >> u64(16)) & low]
        ^ CRC[behind + 4, (word >> u64(24)) & low]
        ^ CRC[behind + 3, (word >> u64(32)) & low]
        ^ CRC[behind + 2, (word >> u64(40)) & low]
        ^ CRC[behind + 1, (word >> u64(48)) & low]
        ^ CRC[behind, word >> u64(56)]
    )


@compiled
def crc32(data, start, stop):
    """CRC-32 of data[start:stop]."""
    crc = u64(0xFFFFFFFF)
    at = u64(start)
    while at + u64(16) <= u64(stop):
        crc = crc_of_word(load64(data, at) ^ crc, 8) ^ crc_of_word(load64(data, at + EIGHT), 0)
        at += u64(16)
    while at < u64(stop):
        crc = u64(CRC[0, (crc ^ u64(data[at])) & u64(255)]) ^ (crc >> EIGHT)
        at += ONE
    return crc ^ u64(0xFFFFFFFF)


@compiled
def adler32(data, size):
    """Adler-32 of data[:size]."""
    a, b = u64(1), u64(0)
    start = 0
    while start < size:
        count = min(4096, size - start)  # the weighted sum of a block stays below 2**32
        block = data[start : start + count]
        plain, weighted = u32(0), u32(0)
        for i in range(count):
            plain += u32(block[i])
            weighted += u32(block[i]) * u32(count - i)
        b = (b + a * u64(count) + u64(weighted)) % u64(65521)
        a = (a + u64(plain)) % u64(65521)
        start += count
    return (b << u64(16)) | a
