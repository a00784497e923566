"""The only source of randomness for data: (seed, stream, row_id) -> numbers, with no state and in any order.

A stream is a name ("nuisance/pose_yaw_degrees"). Its key comes from BLAKE2b, the numbers from a counter hash over
row ids. Everything is integer arithmetic and one exact conversion, so the numbers are the same on every machine.
"""

from __future__ import annotations

import hashlib
import operator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spurgen.errors import SpurgenError, brief

U64 = NDArray[np.uint64]
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_ROUNDS = 6


def whole(name: str, value: Any, least: int = 0, most: int = 2**64 - 1) -> int:
    """A whole number of any integer type; anything else is an error, not a rounded number."""
    try:
        number = operator.index(value)
    except TypeError:
        raise SpurgenError(f"{name} is {brief(value)}; it must be a whole number") from None
    if isinstance(value, bool | np.bool_) or not least <= number <= most:
        raise SpurgenError(f"{name} is {brief(value)}; it must be a whole number from {least} to {most}")
    return number


def key(seed: int, stream: str) -> tuple[np.uint64, np.uint64]:
    """Two 64-bit words that depend on every bit of the seed and of the stream's name."""
    digest = hashlib.blake2b(f"{int(seed)}\0{stream}".encode(), digest_size=16).digest()
    return np.uint64(int.from_bytes(digest[:8], "little")), np.uint64(int.from_bytes(digest[8:], "little"))


def mix(x: U64) -> U64:
    """A bijection of 64-bit words in which every input bit reaches every output bit."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def bits(seed: int, stream: str, row_ids: ArrayLike) -> U64:
    """One 64-bit word per row."""
    first, second = key(seed, stream)
    with np.errstate(over="ignore"):
        x = mix(np.asarray(row_ids, np.uint64) * _GOLDEN + first)
        return mix(x + second)


def uniform(seed: int, stream: str, row_ids: ArrayLike) -> NDArray[np.float64]:
    """One number in [0, 1) per row, a multiple of 2**-53."""
    return (bits(seed, stream, row_ids) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def integers(seed: int, stream: str, row_ids: ArrayLike, bound: ArrayLike) -> NDArray[np.int64]:
    """One integer in [0, bound) per row; bound may differ by row and must lie in [1, 2**31]."""
    high = bits(seed, stream, row_ids) >> np.uint64(32)
    with np.errstate(over="ignore"):
        return ((high * np.asarray(bound, np.uint64)) >> np.uint64(32)).astype(np.int64)


def permute(seed: int, stream: str, cells: ArrayLike, ranks: ArrayLike, sizes: ArrayLike) -> NDArray[np.int64]:
    """Where each rank goes when every cell is shuffled on its own: a bijection of [0, size) per cell.

    Any subset of ranks can be asked for without computing the others, so exact quotas need neither a sort nor the
    whole table in memory. A Feistel network permutes the next power of four; values that fall outside [0, size)
    walk on until they come back in.
    """
    ranks, sizes, cells = np.broadcast_arrays(
        np.asarray(ranks, np.uint64), np.asarray(sizes, np.uint64), np.asarray(cells, np.uint64)
    )
    if (ranks >= sizes).any():
        raise ValueError("every rank must be smaller than its cell's size")
    half = _half_bits(sizes)
    first, second = key(seed, stream)
    with np.errstate(over="ignore"):
        cell_key = mix(cells * _GOLDEN + first)
        out = ranks.copy()
        todo = np.arange(out.size)
        while todo.size:
            out[todo] = _feistel(out[todo], half[todo], cell_key[todo], second)
            todo = todo[out[todo] >= sizes[todo]]
    return out.astype(np.int64)


def _half_bits(sizes: U64) -> U64:
    """Half the width, in bits, of the smallest even-width word that can count to `sizes`."""
    last = np.maximum(sizes, np.uint64(2)) - np.uint64(1)
    width = np.frexp(last.astype(np.float64))[1].astype(np.uint64)  # the bit length, exactly
    return (width + np.uint64(1)) >> np.uint64(1)


def _feistel(x: U64, half: U64, cell_key: U64, stream_key: np.uint64) -> U64:
    mask = (np.uint64(1) << half) - np.uint64(1)
    left, right = x >> half, x & mask
    for turn in range(_ROUNDS):
        salt = stream_key + np.uint64(turn) * _GOLDEN
        left, right = right, left ^ (mix((right + salt) ^ cell_key) >> np.uint64(17)) & mask
    return (left << half) | right
