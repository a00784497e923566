"""Couplings: what is sampled is contained, quotas are exact, tables are probabilities."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spurgen.latents.coupling import by_chance, by_quota, cells, contains, shares, spread
from spurgen.spec.coupling import (
    COUPLINGS,
    Aligned,
    Even,
    Frame,
    Given,
    ManyToMany,
    OneToOne,
    Positive,
    Tabled,
)


def frame(classes=4, values=4, parent=0):
    return Frame(
        path="environments.e.c",
        classes=tuple(f"class{i}" for i in range(classes)),
        values=tuple(f"v{i}" for i in range(values)),
        aligned=tuple(i % values for i in range(classes)),
        parent=tuple(f"p{i}" for i in range(parent)),
    )


@st.composite
def laws(draw):
    """Any coupling with a frame that it fits."""
    k, v, parent = draw(st.integers(2, 6)), draw(st.integers(2, 7)), draw(st.integers(1, 5))
    f = frame(k, v, parent)
    p = draw(st.one_of(st.floats(0, 1), st.lists(st.floats(0, 1), min_size=k, max_size=k)))
    kind = draw(st.sampled_from(sorted(COUPLINGS)))
    if kind == "aligned":
        return f, Aligned(coupling=kind, p=p, map={f.classes[0]: f.values[-1]})
    if kind == "positive":
        return f, Positive(coupling=kind, p=p, value=draw(st.sampled_from(f.values)))
    if kind == "one_to_one":
        f = frame(k, k + 1)
        return f, OneToOne(coupling=kind, p=p, filler=draw(st.sampled_from([None, f.values[-1]])))
    if kind == "many_to_many":
        subsets = st.lists(st.sampled_from(f.values), min_size=1, max_size=v - 1, unique=True)
        return f, ManyToMany(coupling=kind, p=p, map={c: draw(subsets) for c in f.classes})
    if kind == "table":
        rows = {}
        for c in f.classes:
            weights = np.array(draw(st.lists(st.integers(0, 5), min_size=v, max_size=v))) + 0.0
            weights[draw(st.integers(0, v - 1))] += 1
            rows[c] = dict(zip(f.values, (weights / weights.sum()).tolist(), strict=True))
        return f, Tabled(coupling=kind, probabilities=rows)
    if kind == "given":
        return f, Given(coupling=kind, channel="other", p=draw(st.floats(0, 1)))
    return f, Even(coupling="uniform")


@given(laws())
def test_tables_are_probabilities(case):
    f, law = case
    table = law.table(f)
    assert table.shape == (len(f.parent) if law.follows else len(f.classes), len(f.values))
    assert (table >= 0).all()
    np.testing.assert_allclose(table.sum(1), 1)


@settings(max_examples=60, deadline=None)
@given(laws(), st.integers(0, 2**40), st.lists(st.integers(0, 40), min_size=1, max_size=6))
def test_what_is_sampled_is_contained_and_quotas_are_exact(case, seed, sizes):
    f, law = case
    table = law.table(f)
    sizes = np.resize(np.array(sizes), len(table))
    quota = cells(seed, "s", sizes, table)
    assert (quota.counts.sum(1) == sizes).all()
    # within one row of what was asked, and never a row where the probability is zero
    assert (np.abs(quota.counts - sizes[:, None] * table) < 1 + 1e-6).all()
    assert (quota.counts[table == 0] == 0).all()
    key, rank = np.repeat(np.arange(len(sizes)), sizes), np.concatenate([np.arange(n) for n in sizes])
    draw = by_quota(seed, "s", quota, key, rank)
    achieved = np.zeros_like(quota.counts)
    np.add.at(achieved, (key, draw.codes), 1)
    assert (achieved == quota.counts).all()
    assert contains(table[key], draw.codes).all()
    # the finer cells that `given` builds on are complete: ranks run from 0 to the count of each attribute
    for cell in np.unique(draw.key):
        assert sorted(draw.rank[draw.key == cell].tolist()) == list(range((draw.key == cell).sum()))


@given(laws(), st.lists(st.floats(0, 1, exclude_max=True), min_size=1, max_size=30))
def test_independent_draws_are_contained(case, u):
    f, law = case
    table = law.table(f)
    contexts = np.arange(len(u)) % len(table)
    assert contains(table[contexts], by_chance(np.array(u), table[contexts])).all()


@given(st.integers(0, 10_000), st.lists(st.floats(0.001, 1), min_size=1, max_size=9))
def test_shares_sum_and_are_within_one(total, weights):
    weights = np.array(weights) / np.sum(weights)
    out = shares(total, weights)
    assert out.sum() == total
    assert (np.abs(out - total * weights) < 1 + 1e-6).all()


def test_small_cells_are_right_on_average():
    # 4000 cells of 3 rows at p = .95: 2.85 rows each on average; a cell has 2 or 3, SD .36, so the mean's SD is .006
    table = np.tile([[0.95, 0.03, 0.02, 0.0]], (4000, 1))
    offsets = np.random.default_rng(0).random(4000)
    counts = spread(np.full(4000, 3), table, offsets)
    assert (counts.sum(1) == 3).all()
    assert set(counts[:, 0].tolist()) == {2, 3}
    assert abs(counts[:, 0].mean() - 2.85) < 0.03
    assert not counts[:, 3].any()


def test_aligned_by_hand():
    # p = .7 on the own value, (1 - .7) / 2 = .15 on each of the two others
    table = Aligned(coupling="aligned", p=0.7).table(frame(3, 3))
    np.testing.assert_allclose(table, [[0.7, 0.15, 0.15], [0.15, 0.7, 0.15], [0.15, 0.15, 0.7]])


def test_positive_by_hand():
    # one positive value for all classes; p per class; the rest shared by the two others
    table = Positive(coupling="positive", p=[0.9, 0.1], value="v1").table(frame(2, 3))
    np.testing.assert_allclose(table, [[0.05, 0.9, 0.05], [0.45, 0.1, 0.45]])


def test_one_to_one_by_hand():
    # .97 own, .03 filler, nothing elsewhere
    table = OneToOne(coupling="one_to_one", p=0.97, filler="v2").table(frame(2, 3))
    np.testing.assert_allclose(table, [[0.97, 0, 0.03], [0, 0.97, 0.03]])


def test_many_to_many_by_hand():
    law = ManyToMany(coupling="many_to_many", map={"class0": ["v0", "v1"], "class1": ["v2"]})
    np.testing.assert_allclose(law.table(frame(2, 3)), [[0.5, 0.5, 0], [0, 0, 1]])


def test_given_by_hand():
    law = Given(coupling="given", channel="x", p=0.8, map={"p0": "v1", "p1": "v0"})
    np.testing.assert_allclose(law.table(frame(5, 2, 2)), [[0.2, 0.8], [0.8, 0.2]])


@pytest.mark.parametrize(
    ("law", "sentence"),
    [
        (Aligned(coupling="aligned", p=[0.1]), "has 1 entries for 4 classes"),
        (Aligned(coupling="aligned", p={"class0": 0.1}), "no entry for class 'class1'"),
        (Aligned(coupling="aligned", p=0.5, map={"clas1": "v0"}), "did you mean 'class1'"),
        (Positive(coupling="positive", p=0.5, value="v9"), "there is no value 'v9'"),
        (OneToOne(coupling="one_to_one", map={"class0": "v1"}), "share the attribute 'v1'"),
        (ManyToMany(coupling="many_to_many", map={"class0": ["v0"]}), "gives class 'class1' no attribute"),
        (Tabled(coupling="table", probabilities={"class0": {"v0": 0.5}}), "sum to 0.5"),
        (Given(coupling="given", channel="x"), "is missing; give p"),
    ],
)
def test_what_cannot_be_is_refused(law, sentence):
    from spurgen.errors import SpecError

    with pytest.raises(SpecError, match=sentence):
        law.table(frame(4, 4, 2))


def test_p_below_one_needs_a_second_value():
    from spurgen.errors import SpecError

    with pytest.raises(SpecError, match="leaves no other value"):
        Aligned(coupling="aligned", p=0.5).table(frame(2, 1))
