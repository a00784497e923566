"""Randomness is a pure function of (seed, stream, row_id), evenly spread, and the same on every machine."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spurgen import seeds
from spurgen.errors import SpurgenError

names = st.text(max_size=20)
big = st.integers(0, 2**63)


def test_seeds_are_words_of_64_bits():
    assert seeds.whole("seed", 2**64 - 1) == 2**64 - 1
    for wrong in (2**64, -1, 1 << 20_000):
        with pytest.raises(SpurgenError, match="whole number from 0 to 18446744073709551615"):
            seeds.whole("seed", wrong)


def test_golden():
    ids = np.arange(1000, dtype=np.uint64)
    parts = [
        seeds.bits(0, "a", ids),
        seeds.bits(12345678901234567890, "nuisance/pose", ids),
        seeds.uniform(1, "b", ids),
        seeds.integers(2, "c", ids, 7),
        seeds.permute(3, "d", ids % np.uint64(10), ids // np.uint64(10), 100),
    ]
    assert hashlib.sha256(b"".join(p.tobytes() for p in parts)).hexdigest()[:16] == "ec83f0641b211d8b"


@given(big, names, st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=50))
def test_rows_do_not_know_of_each_other(seed, stream, ids):
    together = seeds.bits(seed, stream, np.array(ids, np.uint64))
    alone = [int(seeds.bits(seed, stream, np.array([i], np.uint64))[0]) for i in ids]
    assert together.tolist() == alone


@given(big, big, names, names)
def test_streams_and_seeds_differ(seed_a, seed_b, stream_a, stream_b):
    ids = np.arange(8, dtype=np.uint64)
    same = (seed_a, stream_a) == (seed_b, stream_b)
    assert (seeds.bits(seed_a, stream_a, ids) == seeds.bits(seed_b, stream_b, ids)).all() == same


def test_uniform_is_uniform_and_streams_are_independent():
    ids = np.arange(200_000, dtype=np.uint64)
    a, b = seeds.uniform(0, "a", ids), seeds.uniform(0, "b", ids)
    counts = np.histogram(a, 100, (0, 1))[0]
    # chi-square with 99 degrees of freedom: mean 99, SD 14; 170 is five SDs away
    assert ((counts - 2000) ** 2 / 2000).sum() < 170
    # a correlation of n independent pairs has SD 1/sqrt(n) = .0022
    assert abs(np.corrcoef(a, b)[0, 1]) < 0.011
    assert abs(np.corrcoef(a[1:], a[:-1])[0, 1]) < 0.011


@given(big, st.lists(st.integers(1, 60), min_size=1, max_size=12))
def test_permute_is_a_bijection_of_every_cell(seed, sizes):
    cells = np.repeat(np.arange(len(sizes)), sizes)
    ranks = np.concatenate([np.arange(n) for n in sizes])
    size_of_row = np.repeat(sizes, sizes)
    out = seeds.permute(seed, "s", cells, ranks, size_of_row)
    for cell, n in enumerate(sizes):
        assert sorted(out[cells == cell].tolist()) == list(range(n))
    pick = np.arange(len(ranks))[::3]
    assert (seeds.permute(seed, "s", cells[pick], ranks[pick], size_of_row[pick]) == out[pick]).all()


def test_permute_shuffles():
    n = 10_000
    out = seeds.permute(0, "s", 0, np.arange(n), n)
    # Spearman's correlation with the order before: SD 1/sqrt(n) = .01
    assert abs(np.corrcoef(out, np.arange(n))[0, 1]) < 0.05
    assert not (np.diff(out) == 1).sum() > 10


def test_permute_of_small_cells_reaches_every_order():
    cells = np.repeat(np.arange(3000), 3)
    out = seeds.permute(0, "s", cells, np.tile(np.arange(3), 3000), 3).reshape(3000, 3)
    orders, counts = np.unique(out, axis=0, return_counts=True)
    assert len(orders) == 6
    # 3000/6 = 500 each, SD sqrt(3000 * 5/36) = 20
    assert (np.abs(counts - 500) < 110).all()


def test_a_rank_outside_its_cell_is_refused():
    with pytest.raises(ValueError, match="smaller than its cell"):
        seeds.permute(0, "s", 0, np.array([3]), 3)


@pytest.mark.parametrize("value", [1.5, "1", None, True, -1, 2**65])
def test_only_whole_numbers_are_whole(value):
    with pytest.raises(SpurgenError, match="it must be a whole number"):
        seeds.whole("n", value)
    assert seeds.whole("n", np.int64(7)) == 7


@given(big, st.integers(1, 2**31))
def test_integers_stay_below_the_bound(seed, bound):
    out = seeds.integers(seed, "i", np.arange(20, dtype=np.uint64), bound)
    assert (out >= 0).all() and (out < bound).all()
