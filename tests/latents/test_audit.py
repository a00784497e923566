"""The measures of the audit, by hand and against oracles."""

import math

import numpy as np
import pytest
from scipy.stats.contingency import association
from tests.worlds import world

from spurgen.latents.audit import audit, cramers_v, mutual_information_bits, wilson
from spurgen.latents.sample import sample


def test_mutual_information_by_hand():
    # p = [[.5, 0], [.25, .25]]; marginals (.5, .5) and (.75, .25)
    # .5 log2(.5/.375) + .25 log2(.25/.375) + .25 log2(.25/.125) = .2075 - .1462 + .25 = .3113
    assert mutual_information_bits(np.array([[2, 0], [1, 1]])) == pytest.approx(0.3112781244591328)
    assert mutual_information_bits(np.array([[1, 1], [1, 1]])) == 0


def test_cramers_v_against_scipy():
    rng = np.random.default_rng(0)
    for shape in ((2, 2), (3, 5), (6, 4)):
        counts = rng.integers(1, 50, shape)
        assert cramers_v(counts) == pytest.approx(association(counts, method="cramer"))
    assert cramers_v(np.array([[4, 0], [5, 0]])) == 0


def test_wilson_by_hand():
    # share .5, n 4, z² = 3.8416: centre .5, half width z/(1+z²/n) * sqrt(.0625 + z²/64) = 0.3496
    low, high = wilson(2, 4)
    z = 1.959963984540054
    half = z / (1 + z * z / 4) * math.sqrt(0.25 / 4 + z * z / 64)
    assert (low, high) == (pytest.approx(0.5 - half), pytest.approx(0.5 + half))
    assert wilson(0, 0) == (0.0, 1.0)
    assert wilson(0, 10)[0] == pytest.approx(0) and wilson(10, 10)[1] == pytest.approx(1)


def test_giveaway_is_the_best_guess_from_the_channel_alone():
    # test rows: hue uniform, independent of three equal classes -> best accuracy is chance, up to odd rows
    found = audit(sample(world(rows=4800)), world(rows=4800))
    by = {(g.split, g.channel): g for g in found.giveaways}
    assert by["test", "background"].best_accuracy == pytest.approx(1 / 3, abs=0.01)
    # train: strong (2/3 of rows) shows the own background with .9; the weak one is positive with .2 .5 .7 on stripes
    assert by["train", "background"].best_accuracy > 0.6
    assert by["train", "background"].chance == pytest.approx(1 / 3, abs=0.01)


def test_groups_count_every_row():
    found = audit(sample(world()), world())
    assert sum(g.rows for g in found.groups) == found.rows
    assert {g.pattern for g in found.groups} == {"background+hue", "background", "hue", "none"}
