"""Interventions edit one column, as they say, and leave every nuisance alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.worlds import world

from spurgen.errors import SpurgenError, UnknownName
from spurgen.latents import intervene
from spurgen.latents.sample import sample

SPEC = world(rows=3000)
ROWS = sample(SPEC)


def changed(after, before=ROWS):
    assert after.column_names == before.column_names
    assert after.schema == before.schema
    return [n for n in before.column_names if not after.column(n).equals(before.column(n))]


def cells(rows, name):
    return np.array(rows.column(name).to_pylist())


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(["background", "hue"]), st.integers(0, 2**40), st.integers(0, 9), st.data())
def test_only_the_channels_column_changes(channel, seed, draw, data):
    row, value = data.draw(st.integers(0, 2999)), data.draw(st.sampled_from(SPEC.values(channel)))
    for after in (
        intervene.shuffle(ROWS, SPEC, channel, seed, draw),
        intervene.fix(ROWS, SPEC, channel, value),
        intervene.align(ROWS, SPEC, channel),
        intervene.conflict(ROWS, SPEC, channel, seed, draw),
        intervene.randomise(ROWS, SPEC, channel, seed, draw),
        intervene.set_cell(ROWS, SPEC, row, channel, value),
    ):
        assert set(changed(after)) <= {channel}


def test_shuffle_is_uniform_own_value_included_and_repeatable():
    after = intervene.shuffle(ROWS, SPEC, "hue", seed=1)
    assert after.equals(intervene.shuffle(ROWS, SPEC, "hue", seed=1))
    assert not after.equals(intervene.shuffle(ROWS, SPEC, "hue", seed=2))
    assert not after.equals(intervene.shuffle(ROWS, SPEC, "hue", seed=1, draw=1))
    counts = np.unique(cells(after, "hue"), return_counts=True)[1]
    # 3000 rows over 4 values: 750 each, SD 24
    assert (np.abs(counts - 750) < 120).all()
    same = (cells(after, "hue") == cells(ROWS, "hue")).mean()
    assert abs(same - 0.25) < 0.04


def test_a_rows_draw_does_not_depend_on_the_rows_beside_it():
    some = ROWS.take([5, 17, 2])
    assert (
        intervene.shuffle(some, SPEC, "hue").to_pylist()
        == intervene.shuffle(ROWS, SPEC, "hue").take([5, 17, 2]).to_pylist()
    )


def test_align_and_conflict():
    label = [SPEC.classes.index(x) for x in ROWS.column("label").to_pylist()]
    own = np.array([SPEC.values("background")[SPEC.aligned("background")[i]] for i in label])
    assert (cells(intervene.align(ROWS, SPEC), "background") == own).all()
    conflicting = intervene.conflict(ROWS, SPEC, seed=4)
    assert changed(conflicting) == ["background", "hue"]
    assert (cells(conflicting, "background") != own).all()
    # three classes are aligned with three of the four hues: the fourth, pink, belongs to no class
    assert set(cells(conflicting, "hue")) == {"red", "green", "blue"}


def test_conflict_needs_another_class():
    spec = world(channels__hue__aligned={"mug": "red", "heart": "red", "star": "red"})
    with pytest.raises(SpurgenError, match="all classes share the attribute 'red'"):
        intervene.conflict(sample(spec), spec, "hue")


def test_randomise_breaks_every_dependence():
    after = intervene.randomise(ROWS, SPEC, seed=3)
    assert changed(after) == ["background", "hue"]
    from spurgen.latents.audit import audit

    assert all(d.cramers_v < 0.08 for d in audit(after, SPEC).dependences if d.split == "train")


def test_set_cell_and_every_value():
    after = intervene.set_cell(ROWS, SPEC, 7, "hue", "pink")
    assert after.column("hue")[7].as_py() == "pink"
    assert sum(a != b for a, b in zip(cells(after, "hue"), cells(ROWS, "hue"), strict=True)) <= 1
    all_of_them = intervene.every_value(ROWS.slice(3, 2), SPEC, "hue")
    assert cells(all_of_them, "hue").tolist() == list(SPEC.values("hue")) * 2
    assert cells(all_of_them, "row_id").tolist() == [3] * 4 + [4] * 4


def test_an_edited_cell_is_known():
    spec = world(rows=600, noise={"signal": {"hue": 0.5}, "annotation": {"hue": 0.5}})
    rows = sample(spec)
    assert rows.column("hue_shown").null_count < 400
    blue = intervene.fix(rows, spec, "hue", "blue")
    assert blue.column("hue_shown").null_count == 600
    assert set(cells(blue, "hue_annotated")) == {"blue"}
    one = intervene.set_cell(rows, spec, 5, "hue", "blue")
    assert one.column("hue_shown")[5].as_py() is None
    assert one.column("hue_annotated")[5].as_py() == "blue"
    rest = [i for i in range(600) if i != 5]
    assert one.take(rest).to_pylist() == rows.take(rest).to_pylist()


def test_another_is_never_the_same():
    after = intervene.another(ROWS, SPEC, "hue")
    assert changed(after) == ["hue"]
    assert (cells(after, "hue") != cells(ROWS, "hue")).all()


def test_names_are_checked():
    with pytest.raises(UnknownName, match="there is no channel"):
        intervene.align(ROWS, SPEC, ["nope"])
    with pytest.raises(UnknownName, match="there is no channel"):
        intervene.conflict(ROWS, SPEC, ["nope"])
    with pytest.raises(SpurgenError, match="row_id is -1"):
        intervene.set_cell(ROWS, SPEC, -1, "hue", "red")
    with pytest.raises(UnknownName, match="did you mean 'hue'"):
        intervene.shuffle(ROWS, SPEC, "hues")
    with pytest.raises(UnknownName, match="did you mean 'green'"):
        intervene.fix(ROWS, SPEC, "hue", "gren")
    with pytest.raises(SpurgenError, match="has no row 9999"):
        intervene.set_cell(ROWS, SPEC, 9999, "hue", "red")
    with pytest.raises(SpurgenError, match="has no column 'hue'"):
        intervene.fix(ROWS.drop_columns(["hue"]), SPEC, "hue", "red")
