"""The names of edits: what they stand for never changes, and they touch nothing but channels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spurgen.errors import SpurgenError
from spurgen.evaluate.interventions import NONE, Plan, changed_by, edited, names, rows_with, shown
from spurgen.latents import intervene
from spurgen.latents.sample import sample
from tests.evaluate.tables import UNCOUPLED, one_channel
from tests.worlds import world

SPEC = world(noise={"core": 0.3, "label": 0.3, "signal": {"hue": 0.5}, "annotation": {"hue": 0.5}})
ROWS = sample(SPEC)


def every_name(spec=SPEC):
    return list(dict.fromkeys(n for exact in (False, True) for n in names(spec, Plan(3, exact, constants=True))))


def cells(table, name):
    return table[name].to_pylist()


def test_the_names_of_a_plan_stay_what_they_are():
    # predictions on people's disks carry these names: they must mean the same for ever
    spec = one_channel()
    drawn = [
        "none",
        "shuffle/hue/0",
        "shuffle/hue/1",
        "randomise/0",
        "randomise/1",
        "conflict/0",
        "conflict/1",
        "align",
    ]
    assert names(spec, Plan()) == drawn
    exact = ["none", "fix/hue/red", "fix/hue/green", "fix/hue/blue", "randomise/0", "conflict/0", "align"]
    assert names(spec, Plan(1, exact=True)) == exact
    assert names(spec, Plan(1, True, True)) == [*exact, "constant/0", "constant/1", "constant/2"]


@pytest.mark.parametrize(
    ("name", "hues"), [("shuffle/hue/0", "rbrggbgb"), ("randomise/1", "bgrgggbb"), ("conflict/0", "grrggrgr")]
)
def test_what_a_name_draws_stays_what_it_is(name, hues):
    rows = sample(one_channel()).slice(0, 8)
    assert "".join(hue[0] for hue in cells(edited(rows, one_channel(), name), "hue")) == hues


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(every_name()))
def test_only_channels_change_and_always_the_same_way(name):
    after = edited(ROWS, SPEC, name)
    assert after.schema == ROWS.schema and after.equals(edited(ROWS, SPEC, name))
    touched = {n for n in ROWS.column_names if not after[n].equals(ROWS[n])}
    kind, *rest = name.split("/")
    channels = rest[:1] if kind in ("shuffle", "fix") else SPEC.channels
    assert touched <= {c + end for c in channels for end in ("", "_shown", "_annotated")}


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(every_name()))
def test_changed_is_what_a_look_at_every_row_says(name):
    def seen(row):
        return [row.get(f"{c}_shown") or row[c] for c in SPEC.channels]

    after = edited(ROWS, SPEC, name)
    expected = [seen(a) != seen(b) for a, b in zip(ROWS.to_pylist(), after.to_pylist(), strict=True)]
    assert changed_by(ROWS, SPEC, name).tolist() == expected


def test_rows_come_with_each_edit_in_the_order_asked_for():
    wanted = ["align", NONE, "fix/hue/pink"]
    found = list(rows_with(ROWS, SPEC, wanted))
    assert [name for name, _, _ in found] == wanted
    assert found[1][1] is ROWS and not found[1][2].any()
    assert set(cells(found[2][1], "hue")) == {"pink"}


def test_fix_over_all_attributes_is_what_shuffle_estimates():
    spec = world(rows=2000)
    rows = sample(spec)
    # any function of what a row shows will do: each pair of attributes has a number
    worth = np.random.default_rng(0).random((3, 4))

    def value(name):
        return worth[tuple(shown(edited(rows, spec, name), spec).T)]

    exact = np.mean([value(f"fix/hue/{v}") for v in spec.values("hue")], 0)
    drawn = np.mean([value(f"shuffle/hue/{d}") for d in range(20)], 0)
    spread = np.std([value(f"fix/hue/{v}") for v in spec.values("hue")], 0)
    assert abs((drawn - exact).mean()) < 4 * np.sqrt((spread**2).sum() / 20) / 2000
    assert (abs(drawn - exact) < 5 * spread / np.sqrt(20)).all()


def test_a_constant_sets_every_channel_and_starts_again_where_there_are_fewer():
    expected = [("stripes", "red"), ("dots", "green"), ("bricks", "blue"), ("stripes", "pink")]
    for i, (background, hue) in enumerate(expected):
        after = edited(ROWS, SPEC, f"constant/{i}")
        assert set(cells(after, "background")) == {background} and set(cells(after, "hue")) == {hue}
    assert names(SPEC, Plan(constants=True))[-1] == "constant/3"


def test_align_conflict_and_randomise_are_those_of_the_latents():
    assert edited(ROWS, SPEC, "align").equals(intervene.align(ROWS, SPEC))
    assert edited(ROWS, SPEC, "conflict/1").equals(intervene.conflict(ROWS, SPEC, draw=1))
    assert edited(ROWS, SPEC, "randomise/2").equals(intervene.randomise(ROWS, SPEC, draw=2))
    assert not edited(ROWS, SPEC, "randomise/2").equals(edited(ROWS, SPEC, "randomise/1"))


def test_what_a_world_cannot_do_is_not_planned():
    plain = world(channels={}, environments=UNCOUPLED)
    assert names(plain, Plan(2, True, True)) == [NONE]
    assert edited(sample(plain), plain, NONE).equals(sample(plain)) and shown(sample(plain), plain).shape == (240, 0)
    shared = world(channels__hue__aligned={"mug": "red", "heart": "red", "star": "red"})
    assert not [name for name in names(shared, Plan()) if name.startswith("conflict")]
    with pytest.raises(SpurgenError, match="all classes share the attribute 'red'"):
        edited(sample(shared), shared, "conflict/0")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("shufle/hue/0", "there is no intervention 'shufle/hue/0'; did you mean 'shuffle/hue/0'?"),
        ("fx/hue/red", "there is no intervention 'fx/hue/red'; did you mean 'fix/hue/red'?"),
        ("shuffle/hue", "there is no intervention 'shuffle/hue'; did you mean 'shuffle/hue/0'?"),
        ("aligned", "there is no intervention 'aligned'; did you mean 'align'?"),
        ("align/0", "there is no intervention 'align/0'; did you mean 'align'?"),
        ("NONE", "there is no intervention 'NONE'; did you mean 'none'?"),
        ("", "there is no intervention ''; known: align, conflict/0"),
        ("a\nb", "there is no intervention 'a\\nb'; known: align, conflict/0"),
        ("shuffle/hues/0", "there is no channel 'hues' in small/v1; did you mean 'hue'?"),
        ("fix/hue/reed", "there is no value of channel 'hue', 'reed'; did you mean 'red'?"),
        ("shuffle/hue/x", "'shuffle/hue/x' ends in 'x'; it must be a plain number, counted from 0"),
        ("shuffle/hue/00", "'shuffle/hue/00' ends in '00'; it must be a plain number"),
        ("randomise/-1", "'randomise/-1' ends in '-1'; it must be a plain number"),
        ("conflict/", "'conflict/' ends in ''; it must be a plain number"),
        ("constant/²", "'constant/²' ends in '²'; it must be a plain number"),
        ("constant/" + "9" * 5000, "it must be a plain number"),
    ],
)
def test_a_name_that_means_nothing_is_one_sentence(name, sentence):
    with pytest.raises(SpurgenError) as raised:
        edited(ROWS, SPEC, name)
    assert sentence in str(raised.value) and "\n" not in str(raised.value)


@pytest.mark.parametrize("draws", [0, -1, 1001, 2.0, True, "2"])
def test_the_number_of_draws_is_checked(draws):
    with pytest.raises(SpurgenError, match=r"draws is .*; it must be a whole number"):
        names(SPEC, Plan(draws))
