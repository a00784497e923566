"""Draws attributes from couplings: exact quotas by shuffling each cell, or independent draws.

A *cell* is the set of rows that share a context: split, environment and label, and below that the attribute of the
channel that a `given` follows. In quota mode every row of a cell has a *rank*; the channel's own permutation of the
cell shuffles the ranks, and runs of shuffled ranks get the attributes. Any row can be computed without the others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spurgen import seeds

Int = NDArray[np.int64]
Float = NDArray[np.float64]


def shares(total: Int | int, weights: Float, tie: Float | None = None) -> Int:
    """Whole numbers that sum to `total` and lie within one of total * weights; `tie` settles equal remainders.

    Largest remainders: the odd rows go where they are missed most. That is right for the sizes of splits and cells;
    for attributes it would round every small cell the same way, see `spread`.

    >>> shares(10, np.array([0.55, 0.25, 0.2])).tolist()
    [6, 2, 2]
    """
    total = np.asarray(total, np.int64)
    exact = np.round(total[..., None] * weights, 9)
    floor = np.floor(exact)
    left = total - floor.sum(-1).astype(np.int64)
    remainder = exact - floor
    order = np.lexsort((np.zeros_like(exact) if tie is None else tie, -np.round(remainder, 6)), axis=-1)
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.broadcast_to(np.arange(exact.shape[-1]), order.shape), -1)
    return (floor + (rank < left[..., None])).astype(np.int64)


def spread(sizes: Int, contexts: Float, offsets: Float) -> Int:
    """How many rows of each cell get each attribute: within one of size * probability, and right on average.

    Systematic rounding: the cumulated quotas are cut at whole numbers shifted by the cell's offset in [0, 1). An
    attribute of which a cell should have 0.15 rows is in 15 of 100 such cells, and one of probability 0 in none.

    >>> spread(np.array([4, 4]), np.array([[0.5, 0.5], [0.9, 0.1]]), np.array([0.3, 0.7])).tolist()
    [[2, 2], [4, 0]]
    """
    ends = np.round(np.cumsum(sizes[:, None] * contexts, axis=1), 9)
    ends[:, -1] = sizes
    cuts = np.floor(ends + offsets[:, None]).astype(np.int64)
    return np.diff(cuts, axis=1, prepend=0)


@dataclass(frozen=True)
class Cells:
    """The cells of one channel in one split: their keys run from 0, with the size of each."""

    sizes: Int
    counts: Int  # (cells, values): how many rows of the cell get each attribute

    @property
    def starts(self) -> Int:
        """Where the run of each attribute begins among a cell's shuffled ranks."""
        return np.cumsum(self.counts, 1) - self.counts


def cells(seed: int, stream: str, sizes: Int, contexts: Float) -> Cells:
    """Quotas for cells of the given sizes whose attributes follow the rows of `contexts`."""
    return Cells(sizes, spread(sizes, contexts, seeds.uniform(seed, f"{stream}/rounding", np.arange(sizes.size))))


@dataclass(frozen=True)
class Draw:
    """Attributes of some rows, and each row's place in the cell that its attribute makes."""

    codes: NDArray[np.int32]
    key: Int  # of the finer cell: (cell, attribute)
    rank: Int


def by_quota(seed: int, stream: str, law: Cells, key: Int, rank: Int) -> Draw:
    """The attribute of rows with the given cell and rank."""
    place = seeds.permute(seed, stream, key, rank, law.sizes[key])
    starts = law.starts
    codes = (place[:, None] >= starts[key]).sum(1) - 1
    # attributes without rows share their start with the next one; the last of equal starts is the one that has rows
    return Draw(codes.astype(np.int32), key * law.counts.shape[1] + codes, place - starts[key, codes])


def by_chance(u: Float, probabilities: Float) -> NDArray[np.int32]:
    """The attribute of rows with uniform numbers u, each with its own row of probabilities."""
    bounds = np.cumsum(probabilities, 1)
    codes = (u[:, None] >= bounds[:, :-1]).sum(1)
    # rounding may leave the sum a hair under one: never hand out an attribute of probability zero
    last = probabilities.shape[1] - 1 - np.argmax(probabilities[:, ::-1] > 0, 1)
    return np.minimum(codes, last).astype(np.int32)


def contains(probabilities: Float, codes: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Which attributes the coupling could have given: those whose probability is above zero."""
    return probabilities[np.arange(len(codes)), codes] > 0
