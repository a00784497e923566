"""Compiled kernels behind `png.py`: one filter, runs, one dynamic Huffman block, checksums.

Written for pictures: the only match distance is one pixel, which turns flat stretches into runs and needs no hash
table, so compression is two passes over the bytes. Only integer arithmetic, hence the same bytes everywhere.
Numba's cache follows changes of this file alone, therefore every compiled function lives here.
Positions are uint64 throughout: a signed index would be tested for being negative at every access.
"""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

u8, u16, u32, u64 = np.uint8, np.uint16, np.uint32, np.uint64
ZERO, ONE, THREE, FOUR, SEVEN, EIGHT = u64(0), u64(1), u64(3), u64(4), u64(7), u64(8)
MATCH_MAX = u64(258)
SIZE = u64(63)  # the bits of a packed code that hold its length
SLACK = 16  # bytes that may be read or written past the end, because memory is touched eight bytes at a time
LITERALS, DISTANCES, LENGTHS = 286, 30, 19  # sizes of the three alphabets of deflate
END_OF_BLOCK = 256
LITERAL_BITS = 12  # longest literal code: four of them and seven bits left over fit a 64-bit word


def compiled(function: Any) -> Any:
    """Numba without the GIL, cached on disk where a directory can be written."""
    try:
        return nb.njit(nogil=True, cache=True)(function)
    except RuntimeError:  # numba found nowhere to put a cache
        return nb.njit(nogil=True)(function)


def capacity(size: int, around: int) -> int:
    """Bytes of memory that a PNG of `size` filtered bytes and its header may need while it is written."""
    return size + 5 * (size // 65535 + 1) + around + 10 + 400 + SLACK  # 400: more than any block header


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


# -------------------------------------------------------------------------------------------------- constant tables


def crc_tables() -> np.ndarray:
    """Eight tables that advance a CRC-32 by eight bytes at once."""
    table = np.zeros((8, 256), u32)
    one = np.arange(256, dtype=u32)
    for _ in range(8):
        one = np.where(one & u32(1), (one >> u32(1)) ^ u32(0xEDB88320), one >> u32(1))
    table[0] = one
    for k in range(1, 8):
        table[k] = one[table[k - 1] & u32(255)] ^ (table[k - 1] >> u32(8))
    return table


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


CRC = crc_tables()
LENGTH = length_table()
LENGTH_ORDER = np.array([16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15])


# -------------------------------------------------------------------------------------------------------- checksums


@compiled
def crc32(data, start, stop):
    """CRC-32 of data[start:stop]."""
    crc = u64(0xFFFFFFFF)
    at = u64(start)
    low = u64(255)
    while at + EIGHT <= u64(stop):
        word = load64(data, at) ^ crc
        crc = u64(
            CRC[7, word & low]
            ^ CRC[6, (word >> u64(8)) & low]
            ^ CRC[5, (word >> u64(16)) & low]
            ^ CRC[4, (word >> u64(24)) & low]
            ^ CRC[3, (word >> u64(32)) & low]
            ^ CRC[2, (word >> u64(40)) & low]
            ^ CRC[1, (word >> u64(48)) & low]
            ^ CRC[0, word >> u64(56)]
        )
        at += EIGHT
    while at < u64(stop):
        crc = u64(CRC[0, (crc ^ u64(data[at])) & low]) ^ (crc >> EIGHT)
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


# --------------------------------------------------------------------------------------------------- filter and runs


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


# ---------------------------------------------------------------------------------------------------- Huffman codes


@compiled
def code_lengths(frequency, limit, lengths):
    """Lengths of a complete prefix code with no word longer than `limit`, nearly the shortest."""
    lengths[:] = 0
    used = np.nonzero(frequency)[0]
    if len(used) < 2:  # a code needs two words to be complete: lend one to a symbol that never occurs
        only = used[0] if len(used) else 0
        lengths[only] = lengths[1 if only == 0 else 0] = 1
        return
    order = np.sort((frequency[used].astype(np.int64) << 10) | used)  # by frequency, then by symbol
    n = len(order)
    weight = order >> 10
    _tree_depths(weight)
    per_length = np.zeros(65, np.int64)
    for i in range(n):
        per_length[min(weight[i], limit)] += 1
    # Clipping long words overfills the code; each turn moves two words so that exactly one excess word goes away.
    excess = -(1 << limit)
    for k in range(1, limit + 1):
        excess += per_length[k] << (limit - k)
    while excess > 0:
        per_length[limit] -= 1
        k = limit - 1
        while per_length[k] == 0:
            k -= 1
        per_length[k] -= 1
        per_length[k + 1] += 2
        excess -= 1
    i = n
    for k in range(1, limit + 1):
        for _ in range(per_length[k]):
            i -= 1
            lengths[order[i] & 1023] = k


@compiled
def _tree_depths(weight):
    """Replace weights in rising order by the depths of their leaves (Moffat and Katajainen, in place)."""
    n = len(weight)
    weight[0] += weight[1]
    root, leaf = 0, 2
    for node in range(1, n - 1):
        for turn in range(2):
            if leaf >= n or (root < node and weight[root] < weight[leaf]):
                taken = weight[root]
                weight[root] = node
                root += 1
            else:
                taken = weight[leaf]
                leaf += 1
            weight[node] = taken if turn == 0 else weight[node] + taken
    weight[n - 2] = 0
    for node in range(n - 3, -1, -1):
        weight[node] = weight[weight[node]] + 1
    available, used, depth = 1, 0, 0
    root, leaf = n - 2, n - 1
    while available > 0:
        while root >= 0 and weight[root] == depth:
            used += 1
            root -= 1
        while available > used:
            weight[leaf] = depth
            leaf -= 1
            available -= 1
        available, used, depth = 2 * used, 0, depth + 1


@compiled
def assign_codes(lengths, codes):
    """Canonical codes, bits reversed as deflate wants them, packed with their length: code << 8 | length."""
    per_length = np.zeros(17, np.int64)
    for symbol in range(len(lengths)):
        per_length[lengths[symbol]] += 1
    per_length[0] = 0
    following = np.zeros(17, np.int64)
    for k in range(1, 17):
        following[k] = (following[k - 1] + per_length[k - 1]) << 1
    for symbol in range(len(lengths)):
        size = lengths[symbol]
        value, reverse = following[size], 0
        following[size] += 1
        for _ in range(size):
            reverse = (reverse << 1) | (value & 1)
            value >>= 1
        codes[symbol] = (u64(reverse) << EIGHT) | u64(size)


# ----------------------------------------------------------------------------------------------------- writing bits


@compiled
def put(out, at, held, filled, value, size):
    """Append `size` bits. State: next byte, bits held back, how many (fewer than eight)."""
    held |= u64(value) << filled
    filled += u64(size)
    store64(out, at, held)
    whole = filled >> THREE
    return at + whole, held >> (whole << THREE), filled & SEVEN


@compiled
def run_lengths(lengths, symbols):
    """Code lengths as symbols of the code-length alphabet: (symbol, extra bits, their value) triples."""
    count = i = 0
    while i < len(lengths):
        value = lengths[i]
        same = 1
        while i + same < len(lengths) and lengths[i + same] == value and same < 138:
            same += 1
        if value == 0 and same >= 11:
            symbols[count] = 18, 7, same - 11
        elif value == 0 and same >= 3:
            symbols[count] = 17, 3, same - 3
        elif value != 0 and same >= 4:
            same = min(same, 7)
            symbols[count] = value, 0, 0
            count += 1
            symbols[count] = 16, 2, same - 4
        else:
            same = 1
            symbols[count] = value, 0, 0
        count += 1
        i += same
    return count


@compiled
def put_header(out, at, lengths, distance_symbol):
    """Start the one dynamic block: how its codes are made."""
    literals = LITERALS
    while literals > 257 and lengths[literals - 1] == 0:
        literals -= 1
    both = np.zeros(literals + distance_symbol + 1, np.int64)
    both[:literals] = lengths[:literals]
    both[-1] = 1  # the only distance has a code of one bit
    symbols = np.zeros((len(both), 3), np.int64)
    count = run_lengths(both, symbols)
    frequency = np.zeros(LENGTHS, np.int64)
    for k in range(count):
        frequency[symbols[k, 0]] += 1
    meta, codes = np.zeros(LENGTHS, np.int64), np.zeros(LENGTHS, u64)
    code_lengths(frequency, 7, meta)
    assign_codes(meta, codes)
    sent = LENGTHS
    while sent > 4 and meta[LENGTH_ORDER[sent - 1]] == 0:
        sent -= 1
    held, filled = ZERO, ZERO
    start = 1 | (2 << 1) | ((literals - 257) << 3) | (distance_symbol << 8) | ((sent - 4) << 13)
    at, held, filled = put(out, at, held, filled, start, 17)
    for k in range(sent):
        at, held, filled = put(out, at, held, filled, meta[LENGTH_ORDER[k]], 3)
    for k in range(count):
        symbol, extra, value = symbols[k]
        code, size = codes[symbol] >> EIGHT, codes[symbol] & SIZE
        at, held, filled = put(out, at, held, filled, code | (u64(value) << size), size + u64(extra))
    return at, held, filled


@compiled
def put_symbols(out, at, held, filled, data, segments, codes):
    """The body of the block, four literals at a time."""
    low = u64(255)
    position = ZERO
    for k in range(len(segments)):
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
        count = min(65535, size - start)
        out[at] = 1 if start + count == size else 0
        for shift in range(2):
            part = u8((count >> (8 * shift)) & 255)
            out[at + u64(1 + shift)] = part
            out[at + u64(3 + shift)] = ~part
        out[at + u64(5) : at + u64(5 + count)] = data[start : start + count]
        at += u64(5 + count)
        start += count
    return at


# ----------------------------------------------------------------------------------------------------- whole pictures


@compiled
def put_big_endian(out, at, value):
    """Four bytes, highest first."""
    for k in range(4):
        out[at + u64(k)] = u8((u64(value) >> u64(24 - 8 * k)) & u64(255))


@compiled
def write_pictures(pictures, pixel, head, tail, scratch, segments, out, sizes):
    """Write each of pictures[n, height, bytes per row] as a PNG behind the one before it; `sizes` gets their lengths."""
    n, height, width = pictures.shape
    size = height * (width + 1)
    counters = np.zeros(256 * 4, u32)
    frequency, lengths = np.zeros(LITERALS, np.int64), np.zeros(LITERALS, np.int64)
    codes = np.zeros(LITERALS, u64)
    stored = size + 5 * ((size + 65534) // 65535)
    start = ZERO
    for i in range(n):
        filter_rows(pictures[i], pixel, scratch)
        found = segments[: find_runs(scratch, size, pixel, segments, counters, frequency)]
        code_lengths(frequency, LITERAL_BITS, lengths)
        out[start : start + u64(len(head))] = head
        data = start + u64(len(head))  # where the zlib stream starts
        out[data], out[data + ONE] = 0x78, 0x01
        at = data + u64(2)
        if body_bits(frequency, lengths) // 8 < stored:
            assign_codes(lengths, codes)
            at, held, filled = put_header(out, at, lengths, 2 if pixel == 3 else 0)
            at = put_symbols(out, at, held, filled, scratch, found, codes)
        if at == data + u64(2) or at > data + u64(2 + stored):
            at = put_stored(out, data + u64(2), scratch, size)
        put_big_endian(out, at, adler32(scratch, size))
        at += FOUR
        put_big_endian(out, data - EIGHT, at - data)
        put_big_endian(out, at, crc32(out, data - FOUR, at))
        at += FOUR
        out[at : at + u64(len(tail))] = tail
        at += u64(len(tail))
        sizes[i] = at - start
        start = at
