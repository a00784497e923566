"""The compiled driver behind `png.py`: one filter, runs, one dynamic Huffman block.

Written for pictures: the only match distance is one pixel, which turns flat stretches into runs and needs no hash
table, so compression is two passes over the bytes. Only integer arithmetic, hence the same bytes everywhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba as nb
import numpy as np

from spurgen.render.image._bits import (
    EIGHT,
    FOUR,
    ONE,
    SEVEN,
    SLACK,
    THREE,
    ZERO,
    adler32,
    compiled,
    crc32,
    equal_low_bytes,
    load64,
    put,
    put_byte,
    put_bytes,
    put_number,
    store64,
    u32,
    u64,
)
from spurgen.render.image._huffman import HEADER_BITS, LITERALS, SIZE, assign_codes, code_lengths, put_header

MATCH_MAX = u64(258)
END_OF_BLOCK = 256
LITERAL_BITS = 12  # longest literal code: four of them and seven bits left over fit a 64-bit word
FILES = ("_bits.py", "_huffman.py", "_deflate.py")


def capacity(size: int, around: int) -> int:
    """Bytes of memory that a PNG of `size` filtered bytes and its header may need while it is written."""
    return size + 5 * (size // 65535 + 1) + around + 10 + SLACK


def length_table() -> np.ndarray:
    """For each match length: its symbol, the number of extra bits and their value."""
    table = np.zeros((259, 3), np.int64)
    base, symbol = 3, 257
    for extra in (0,) * 8 + (1,) * 4 + (2,) * 4 + (3,) * 4 + (4,) * 4 + (5,) * 4:
        for k in range(1 << extra):
            table[min(base + k, 258)] = symbol, extra, k
        base, symbol = base + (1 << extra), symbol + 1
    table[258] = 285, 0, 0
    return table


LENGTH = length_table()


@compiled
def filter_rows(picture, pixel, out):
    """Differences to the row above (to the pixel before, in the first row), each row led by the filter's number."""
    height, width = picture.shape
    out[0] = 1
    first = picture[0]
    row = out[1 : 1 + width]
    for x in range(min(pixel, width)):
        row[x] = first[x]
    for x in range(pixel, width):
        row[x] = first[x] - first[x - pixel]
    for y in range(1, height):
        start = y * (width + 1)
        out[start] = 2
        row = out[start + 1 : start + 1 + width]
        here, above = picture[y], picture[y - 1]
        for x in range(width):
            row[x] = here[x] - above[x]


@compiled
def next_match(left):
    """The length of the next match of a run with `left` bytes to go, leaving none shorter than a match may be."""
    if left > MATCH_MAX and left < MATCH_MAX + THREE:
        return left - THREE
    return min(left, MATCH_MAX)


@compiled
def find_runs(data, size, pixel, segments, counters, frequency):
    """Cut data[:size] into (literals, repeats) pairs and count the symbols that say them.

    A repeat copies the bytes one pixel before it. Literals come in fours, save for the first and the last few.
    """
    counters[:] = u32(0)
    frequency[:] = 0
    back, end = u64(pixel), u64(size)
    at, literal_start, count = back, ZERO, 0
    for k in range(pixel):
        counters[u64(data[k])] += u32(1)
    while at + EIGHT <= end:
        if load64(data, at) != load64(data, at - back):
            for k in range(4):
                counters[u64(256 * k) + u64(data[at + u64(k)])] += u32(1)
            at += FOUR
            continue
        stop = at + EIGHT
        while stop < end:
            difference = load64(data, stop) ^ load64(data, stop - back)
            if difference != ZERO:
                stop += equal_low_bytes(difference)
                break
            stop += EIGHT
        stop = min(stop, end)
        segments[count, 0] = at - literal_start
        segments[count, 1] = left = stop - at
        count += 1
        while left > ZERO:
            length = next_match(left)
            frequency[LENGTH[length, 0]] += 1
            left -= length
        literal_start = at = stop
    while at < end:
        counters[u64(data[at])] += u32(1)
        at += ONE
    segments[count, 0] = end - literal_start
    segments[count, 1] = ZERO
    for symbol in range(256):
        for lane in range(4):
            frequency[symbol] += counters[256 * lane + symbol]
    frequency[END_OF_BLOCK] = 1
    return count + 1


@compiled
def put_symbols(out, at, held, filled, data, segments, found, codes):
    """The body of the block, four literals at a time."""
    position = ZERO
    for k in range(found):
        stop = position + segments[k, 0]
        while position + FOUR <= stop:
            c0, c1 = codes[u64(data[position])], codes[u64(data[position + ONE])]
            c2, c3 = codes[u64(data[position + u64(2)])], codes[u64(data[position + THREE])]
            front = (c0 >> EIGHT) | ((c1 >> EIGHT) << (c0 & SIZE))
            rear = (c2 >> EIGHT) | ((c3 >> EIGHT) << (c2 & SIZE))
            c1 += c0
            held |= (front | (rear << (c1 & SIZE))) << filled
            filled += (c1 + c2 + c3) & SIZE
            store64(out, at, held)
            whole = filled >> THREE
            at += whole
            held >>= whole << THREE
            filled &= SEVEN
            position += FOUR
        while position < stop:
            code = codes[u64(data[position])]
            at, held, filled = put(out, at, held, filled, code >> EIGHT, code & SIZE)
            position += ONE
        left = segments[k, 1]
        position += left
        while left > ZERO:
            length = next_match(left)
            code = codes[LENGTH[length, 0]]
            size, extra = code & SIZE, u64(LENGTH[length, 1])
            value = (code >> EIGHT) | (u64(LENGTH[length, 2]) << size)
            at, held, filled = put(out, at, held, filled, value, size + extra + ONE)  # the distance is a zero bit
            left -= length
    code = codes[END_OF_BLOCK]
    at, held, filled = put(out, at, held, filled, code >> EIGHT, code & SIZE)
    return at + (ONE if filled else ZERO)


@compiled
def body_bits(frequency, lengths):
    """How many bits `put_symbols` will write."""
    total = 0
    for symbol in range(LITERALS):
        total += frequency[symbol] * lengths[symbol]
    for length in range(3, 259):
        symbol, extra = LENGTH[length, 0], LENGTH[length, 1]
        if LENGTH[length, 2] == 0:
            total += frequency[symbol] * (extra + 1)
    return total


@compiled
def put_stored(out, at, data, size):
    """Blocks without compression, for noise."""
    start = 0
    while start < size:
        stop = min(start + 65535, size)
        count = stop - start
        at = put_byte(out, at, 1 if stop == size else 0)
        for value in (count, ~count):
            at = put_byte(out, put_byte(out, at, value), value >> 8)
        at = put_bytes(out, at, data, start, stop)
        start = stop
    return at


# Numba's cache watches the file of the function it stores; what the function closes over is part of the key. So
# only the driver is cached, and it closes over a digest of every file that it is made of.


def source_digest() -> str:
    """Changes with any file of the coder and with the compiler."""
    digest = hashlib.blake2b(nb.__version__.encode(), digest_size=16)
    for name in FILES:
        digest.update((Path(__file__).parent / name).read_bytes())
    return digest.hexdigest()


def driver(digest: str) -> Callable[..., None]:
    """The function that is compiled and cached."""

    def write_pictures(pictures, pixel, head, tail, scratch, segments, out, sizes):
        """Write pictures[n, height, bytes per row] as PNG files, one behind the other; `sizes` gets their lengths."""
        _ = digest
        n, height, width = pictures.shape
        size = height * (width + 1)
        counters = np.zeros(256 * 4, u32)
        frequency, lengths = np.zeros(LITERALS, np.int64), np.zeros(LITERALS, np.int64)
        codes = np.zeros(LITERALS, u64)
        stored = size + 5 * ((size + 65534) // 65535)
        start = ZERO
        for i in range(n):
            filter_rows(pictures[i], pixel, scratch)
            found = find_runs(scratch, size, pixel, segments, counters, frequency)
            code_lengths(frequency, LITERAL_BITS, lengths)
            data = put_bytes(out, start, head, 0, len(head))  # where the zlib stream starts
            at = put_byte(out, put_byte(out, data, 0x78), 0x01)
            if body_bits(frequency, lengths) + HEADER_BITS < 8 * stored:
                assign_codes(lengths, codes)
                at, held, filled = put_header(out, at, lengths, 2 if pixel == 3 else 0)
                at = put_symbols(out, at, held, filled, scratch, segments, found, codes)
            else:
                at = put_stored(out, at, scratch, size)
            at = put_number(out, at, adler32(scratch, size))
            put_number(out, data - EIGHT, at - data)
            at = put_number(out, at, crc32(out, data - FOUR, at))
            at = put_bytes(out, at, tail, 0, len(tail))
            sizes[i] = at - start
            start = at

    return write_pictures


@cache
def kernel() -> Any:
    """The compiled driver, from the cache on disk where there is a directory that can be written."""
    function = driver(source_digest())
    try:
        return nb.njit(nogil=True, cache=True)(function)
    except (RuntimeError, OSError):  # no place for a cache
        return nb.njit(nogil=True)(function)
