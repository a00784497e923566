import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spurgen.errors import SpurgenError
from spurgen.learning import Sampling
from spurgen.train.sampling import Shuffled, sampler

Y = np.arange(60) % 3
GROUP = np.where(np.arange(60) < 50, 0, np.where(np.arange(60) < 58, 1, 3))  # 50, 8, none, 2
ENVIRONMENT = (np.arange(60) >= 40).astype(np.int64)


def made(kind="shuffled", batch=12, seed=0, stage=0, **how):
    return sampler(Sampling(kind, **how), Y, GROUP, ENVIRONMENT, ["strong", "weak"], batch, seed, stage)


@given(st.integers(1, 60), st.integers(0, 2**40))
def test_a_pass_holds_each_row_at_most_once(batch, seed):
    one = made(batch=batch, seed=seed)
    rows = np.concatenate([one.at(step) for step in range(60 // batch)])
    assert len(rows) == len(set(rows.tolist())) == 60 // batch * batch
    assert set(rows.tolist()) <= set(range(60))


@given(st.permutations(range(20)), st.sampled_from(["shuffled", "by_environment", "balanced"]))
def test_any_step_can_be_asked_for_in_any_order(order, kind):
    one, other = made(kind), made(kind)
    straight = [one.at(step) for step in range(20)]
    for step in order:
        assert (other.at(step) == straight[step]).all()


def test_passes_stages_and_seeds_differ():
    first = np.concatenate([made().at(s) for s in range(5)])
    assert sorted(first) == list(range(60))
    assert (first != np.concatenate([made().at(s) for s in range(5, 10)])).any()
    assert (first != np.concatenate([made(stage=1).at(s) for s in range(5)])).any()
    assert (first != np.concatenate([made(seed=1).at(s) for s in range(5)])).any()


def test_each_environment_has_its_share_of_every_batch():
    for step in range(30):
        rows = made("by_environment").at(step)
        assert (ENVIRONMENT[rows] == np.repeat([0, 1], 6)).all()


def test_groups_come_equally_often_and_empty_ones_never():
    one = made("balanced", batch=60)
    rows = np.concatenate([one.at(step) for step in range(200)])
    counts = np.bincount(GROUP[rows], minlength=4)
    assert counts[2] == 0
    assert np.allclose(counts[[0, 1, 3]] / counts.sum(), 1 / 3, atol=0.02)  # 12,000 draws: three sd are 0.013
    within = np.bincount(rows[GROUP[rows] == 3] - 58)
    assert np.allclose(within / within.sum(), 0.5, atol=0.03)


def test_classes_can_be_what_is_balanced():
    rows = np.concatenate([made("balanced", over="class").at(step) for step in range(500)])
    assert np.allclose(np.bincount(Y[rows]) / len(rows), 1 / 3, atol=0.03)


def test_rows_may_be_a_part_or_stand_several_times():
    rows = np.array([3, 3, 3, 7, 9, 11])
    drawn = np.concatenate([made(batch=2, rows=rows).at(step) for step in range(3)])
    assert sorted(drawn) == sorted(rows)


def test_what_makes_no_batch_is_said():
    with pytest.raises(SpurgenError, match="60 rows, fewer than the 61 of a batch"):
        made(batch=61)
    with pytest.raises(SpurgenError, match="environment 'weak' has 20 rows, fewer than the 22"):
        made("by_environment", batch=44)
    with pytest.raises(SpurgenError, match="cannot hold rows of all 2 environments"):
        made("by_environment", batch=1)


def test_long_passes_are_cheap_to_enter_anywhere():
    one = Shuffled(np.arange(10**6), 64, 0, "stream", "it")
    assert len(one.at(10**9)) == 64
