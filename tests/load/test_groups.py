"""Groups are keyed by names: whatever the order of rows, columns or dictionaries, a name means the same rows."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiles import world

from spurgen.errors import SpurgenError, UnknownName
from spurgen.latents import intervene
from spurgen.latents.sample import sample
from spurgen.load import group
from spurgen.load.fly import OnTheFly
from spurgen.load.rows import Rows

SPEC = world()
TABLE = sample(SPEC)


def by_hand(row: dict[str, str]) -> str:
    """The default group of a row, spelt out: class i is aligned with value i of every channel."""
    label = SPEC.classes.index(row["label"])
    words = {c: "aligned" if SPEC.values(c)[label] == row[c] else "not" for c in ("hue", "background")}
    return ",".join(f"{c}:{word}" for c, word in words.items())


def named(table: pa.Table, **how: object) -> list[str]:
    found = group(table, SPEC, **how)  # type: ignore[arg-type]
    return [found.names[c] for c in found.codes]


def test_default_groups_are_the_patterns_of_alignment() -> None:
    found = group(TABLE, SPEC)
    assert found.names == (
        "hue:aligned,background:aligned",
        "hue:aligned,background:not",
        "hue:not,background:aligned",
        "hue:not,background:not",
    )
    assert named(TABLE) == [by_hand(row) for row in TABLE.to_pylist()]
    assert found.sizes == {name: Counter(named(TABLE))[name] for name in found.names}


@settings(max_examples=25, deadline=None)
@given(st.permutations(["label", "hue", "background", "split"]), st.integers(1, 4))
def test_a_name_says_what_its_rows_hold(order: list[str], n: int) -> None:
    keys = order[:n]
    assert named(TABLE, by=keys) == [",".join(f"{k}={row[k]}" for k in keys) for row in TABLE.to_pylist()]
    found = group(TABLE, SPEC, by=keys)
    assert len(found) == np.prod([{"label": 3, "hue": 3, "background": 4, "split": 3}[k] for k in keys])
    assert found.counts.sum() == TABLE.num_rows


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, TABLE.num_rows - 1), min_size=1, max_size=40))
def test_groups_of_some_rows_are_those_of_the_whole(rows: list[int]) -> None:
    whole, part = group(TABLE, SPEC), group(TABLE.take(rows), SPEC)
    assert part.names == whole.names
    assert (part.codes == whole.take(np.array(rows)).codes).all()


def test_the_coding_of_columns_does_not_matter() -> None:
    recoded = TABLE
    for name in ("label", "hue", "background"):
        texts = pa.array(TABLE[name].to_pylist())
        recoded = recoded.set_column(recoded.column_names.index(name), name, texts)
    shuffled = recoded.take(np.arange(TABLE.num_rows)[::-1]).select(["background", "hue", "label", "split"])
    assert named(shuffled) == named(TABLE)[::-1]
    assert named(shuffled, by="label, background") == named(TABLE, by=["label", "background"])[::-1]


def test_interventions_move_rows_to_the_group_they_promise() -> None:
    aligned = group(intervene.align(TABLE, SPEC), SPEC)
    assert aligned.sizes["hue:aligned,background:aligned"] == TABLE.num_rows
    hue_only = group(intervene.conflict(TABLE, SPEC, "hue"), SPEC, by="hue:aligned")
    assert hue_only.sizes == {"hue:aligned": 0, "hue:not": TABLE.num_rows}


def test_columns_and_alignment_mix() -> None:
    found = group(TABLE, SPEC, by="label,hue:aligned")
    assert found.names[:2] == ("label=mug,hue:aligned", "label=mug,hue:not")
    rows = TABLE.take(found.rows("label=heart,hue:not")).to_pylist()
    assert rows
    assert all(r["label"] == "heart" and r["hue"] != "green" for r in rows)


def test_annotated_groups_follow_what_annotators_say() -> None:
    noisy = world(noise={"label": 0.3, "annotation": {"hue": 0.5}})
    table = sample(noisy)
    said = group(table, noisy, by="label,hue", annotated=True)
    expected = [
        f"label={a},hue={b}"
        for a, b in zip(table["label_annotated"].to_pylist(), table["hue_annotated"].to_pylist(), strict=True)
    ]
    assert [said.names[c] for c in said.codes] == expected
    assert group(table, noisy, by="label,hue").sizes != said.sizes
    pattern = group(table, noisy, by="hue:aligned", annotated=True)
    position = {c: i for i, c in enumerate(noisy.classes)}
    aligned = [noisy.values("hue")[position[x]] for x in table["label_annotated"].to_pylist()]
    assert (pattern.codes == (np.array(aligned) != np.array(table["hue_annotated"].to_pylist()))).all()


def test_a_world_without_channels_has_one_group() -> None:
    plain = world(channels={}, environments={"strong": {}, "weak": {}, "even": {}}, modalities=["line"])
    found = group(sample(plain), plain)
    assert found.sizes == {"all": 240}


def test_without_a_spec_names_stand_in_order_of_the_alphabet() -> None:
    table = pa.table({"place": ["sea", "land", "sea"], "year": [2001, 1999, 2001]})
    found = group(table, by=["place", "year"])
    assert found.sizes == {
        "place=land,year=1999": 1,
        "place=land,year=2001": 0,
        "place=sea,year=1999": 0,
        "place=sea,year=2001": 2,
    }
    with pytest.raises(SpurgenError, match="by=…"):
        group(table)


@pytest.mark.parametrize(
    ("by", "says"),
    [
        ("backgroud", "did you mean 'background"),
        ("huge:aligned", "did you mean 'hue'"),
        ("hue,hue", "twice"),
        ("tile_level", "group by a channel"),
        ("row_id", "group by a channel"),
    ],
)
def test_what_makes_no_groups_is_an_error_that_helps(by: str, says: str) -> None:
    with pytest.raises(SpurgenError, match=says):
        group(TABLE, SPEC, by=by)


def test_patterns_of_very_many_channels_are_counted_and_only_their_names_are_too_many() -> None:
    many = {f"c{i}": {"values": {"a": {}, "b": {}, "c": {}}, "says": "phrase"} for i in range(20)}
    environments: dict[str, dict[str, str]] = {"strong": {}, "weak": {}, "even": {}}
    spec = world(channels=many, environments=environments, modalities=["line", "caption"], sampling="iid")
    table = sample(spec)
    found = group(table, spec)
    pairs = [(spec.classes.index(row["label"]), row) for row in table.to_pylist()]
    expected = [sum((row[f"c{i}"] != "abc"[y]) << (19 - i) for i in range(20)) for y, row in pairs]
    assert found.codes.tolist() == expected
    assert len(found) == 2**20
    with pytest.raises(SpurgenError, match="makes more than 65536 groups"):
        _ = found.names
    rows = Rows(spec, table, modality="caption")
    assert rows.take([5]).group.tolist() == expected[5:6]
    assert len(next(iter(OnTheFly(spec, 8, modality="caption"))).group) == 8


def test_unknown_group_names_get_the_nearest() -> None:
    with pytest.raises(UnknownName, match="hue:aligned,background:not"):
        group(TABLE, SPEC).rows("hue:aligned,background:no")
