"""Huffman codes as deflate wants them: built from frequencies, limited in length, sent in the block's header."""

from __future__ import annotations

import numpy as np

from spurgen.render.image._bits import EIGHT, THREE, ZERO, compiled, put, u64

LITERALS, LENGTHS = 286, 19  # sizes of the alphabet of literals and match lengths, and of the one of code lengths
LENGTH_ORDER = np.array([16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15])
HEADER_BITS = 3000  # more than any block header
SIZE = u64(63)  # the bits of a packed code that hold its length


@compiled
def sort(values, n):
    """Shell's sort of values[:n] in place: as quick as numpy's for so few, and far quicker to compile."""
    for gap in (301, 132, 57, 23, 10, 4, 1):
        for i in range(gap, n):
            value, at = values[i], i
            while at >= gap and values[at - gap] > value:
                values[at] = values[at - gap]
                at -= gap
            values[at] = value


@compiled
def code_lengths(frequency, limit, lengths):
    """Lengths of a complete prefix code with no word longer than `limit`, nearly the shortest."""
    order = np.empty(len(frequency), np.int64)
    n = 0
    for symbol in range(len(frequency)):
        lengths[symbol] = 0
        if frequency[symbol] > 0:
            order[n] = (frequency[symbol] << 10) | symbol
            n += 1
    if n < 2:  # a code needs two words to be complete: lend one to a symbol that never occurs
        only = order[0] & 1023 if n else 0
        lengths[only] = lengths[1 if only == 0 else 0] = 1
        return
    sort(order, n)  # by frequency, then by symbol
    weight = np.empty(n, np.int64)
    for i in range(n):
        weight[i] = order[i] >> 10
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


@compiled
def run_lengths(lengths, count, symbols):
    """lengths[:count] in the code-length alphabet: symbol | extra bits << 8 | their value << 16."""
    found = i = 0
    while i < count:
        value = lengths[i]
        same = 1
        while i + same < count and lengths[i + same] == value and same < 138:
            same += 1
        i += same
        if value == 0 and same >= 11:
            symbols[found] = 18 | (7 << 8) | ((same - 11) << 16)
        elif value == 0 and same >= 3:
            symbols[found] = 17 | (3 << 8) | ((same - 3) << 16)
        elif value != 0 and same >= 4:
            i -= max(same - 7, 0)
            symbols[found] = value
            found += 1
            symbols[found] = 16 | (2 << 8) | ((min(same, 7) - 4) << 16)
        else:
            i -= same - 1
            symbols[found] = value
        found += 1
    return found


@compiled
def put_header(out, at, lengths, distance_symbol):
    """Start the one dynamic block: how its codes are made."""
    literals = LITERALS
    while literals > 257 and lengths[literals - 1] == 0:
        literals -= 1
    both = np.zeros(LITERALS + 3, np.int64)
    for k in range(literals):
        both[k] = lengths[k]
    both[literals + distance_symbol] = 1  # the only distance has a code of one bit
    symbols = np.zeros(LITERALS + 3, np.int64)
    count = run_lengths(both, literals + distance_symbol + 1, symbols)
    frequency = np.zeros(LENGTHS, np.int64)
    for k in range(count):
        frequency[symbols[k] & 255] += 1
    meta, codes = np.zeros(LENGTHS, np.int64), np.zeros(LENGTHS, u64)
    code_lengths(frequency, 7, meta)
    assign_codes(meta, codes)
    sent = LENGTHS
    while sent > 4 and meta[LENGTH_ORDER[sent - 1]] == 0:
        sent -= 1
    held, filled = ZERO, ZERO
    start = 1 | (2 << 1) | ((literals - 257) << 3) | (distance_symbol << 8) | ((sent - 4) << 13)
    at, held, filled = put(out, at, held, filled, u64(start), u64(17))
    for k in range(sent):
        at, held, filled = put(out, at, held, filled, u64(meta[LENGTH_ORDER[k]]), THREE)
    for k in range(count):
        code, extra = codes[symbols[k] & 255], u64((symbols[k] >> 8) & 255)
        size = code & SIZE
        value = (code >> EIGHT) | (u64(symbols[k] >> 16) << size)
        at, held, filled = put(out, at, held, filled, value, size + extra)
    return at, held, filled
