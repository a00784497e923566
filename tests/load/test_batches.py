"""Shuffles are bijections that need no state; streams stop, resume and run ahead without changing a batch."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiles import world

from spurgen.errors import SpurgenError, UnknownName
from spurgen.latents import intervene
from spurgen.latents.sample import Plan
from spurgen.load.batches import Batches, Order
from spurgen.load.fly import OnTheFly
from spurgen.load.rows import Batch, open_rows
from spurgen.store import reader
from spurgen.store.writer import build


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 3000), st.integers(0, 50), st.integers(0, 2**40), st.integers(1, 700))
def test_a_pass_has_every_row_once_however_it_is_cut(size: int, epoch: int, seed: int, batch: int) -> None:
    whole = Order(size, True, seed).at(epoch, 0, size)
    assert sorted(whole.tolist()) == list(range(size))
    order = Order(size, True, seed)
    cut = [order.at(epoch, start, start + batch) for start in range(0, size, batch)]
    assert (np.concatenate(cut) == whole).all()


def test_passes_and_seeds_differ() -> None:
    orders = {tuple(Order(50, True, s).at(e, 0, 50).tolist()) for e in range(5) for s in range(5)}
    assert len(orders) == 25
    firsts = [Order(10, True, 7).at(e, 0, 1)[0] for e in range(4000)]
    assert np.abs(np.bincount(firsts, minlength=10) - 400).max() < 100  # five standard deviations: sqrt(4000·.09) = 19


def test_long_passes_are_the_same_from_any_start() -> None:
    size = 3 * 2**14 + 5
    whole = Order(size, True, 1).at(2, 0, size)
    assert np.array_equal(np.sort(whole), np.arange(size))
    for start, stop in ((2**14 - 3, 2**14 + 3), (10, 2**15 + 1), (size - 2, size + 9), (size, size + 1)):
        assert np.array_equal(Order(size, True, 1).at(2, start, stop), whole[start:stop])
    assert np.array_equal(Order(size, False, 1).at(2, 2**14 - 3, 2**14 + 3), np.arange(2**14 - 3, 2**14 + 3))


def ids(batches: Any) -> list[list[int]]:
    return [np.asarray(b.row_id).tolist() for b in batches]


def tile_rows(built: Path) -> Any:
    return open_rows(built, "train", "tile")


def test_the_last_batch_is_kept_or_dropped_as_told(built: Path) -> None:
    kept, dropped = Batches(tile_rows(built), 50), Batches(tile_rows(built), 50, drop_last=True)
    assert [len(b) for b in kept] == [50, 50, 44]
    assert [len(b) for b in dropped] == [50, 50]
    assert (len(kept), len(dropped)) == (3, 2)


def test_too_few_rows_for_one_batch_are_an_error(built: Path) -> None:
    with pytest.raises(SpurgenError, match="144 rows make no batch of 145"):
        Batches(tile_rows(built), 145, drop_last=True)
    with pytest.raises(SpurgenError, match="144 rows make no batch"):
        OnTheFly(world(), 145, rows=240, modality="tile", drop_last=True)
    for size in (0, -1, True, 2.5, np.float64(8), "8"):
        with pytest.raises(SpurgenError, match="batch_size"):
            Batches(tile_rows(built), size)  # type: ignore[arg-type]
        with pytest.raises(SpurgenError, match="batch_size"):
            OnTheFly(world(), size, modality="tile")  # type: ignore[arg-type]


def test_numbers_of_any_integer_type_are_taken_and_no_other_is_rounded(built: Path) -> None:
    numbers = {"batch_size": np.int64(8), "seed": np.uint8(3)}
    plain = {"batch_size": 8, "seed": 3}
    assert ids(Batches(tile_rows(built), **numbers)) == ids(Batches(tile_rows(built), **plain))
    json.dumps(Batches(tile_rows(built), **numbers).state_dict())
    json.dumps(OnTheFly(world(), modality="line", **numbers).state_dict())
    json.dumps(OnTheFly(world(), modality="line", rows=np.int64(240), **numbers).state_dict())
    for seed in (1.5, -1, True, "1", None):
        for make in (lambda: Batches(tile_rows(built), 8, seed=seed), lambda: OnTheFly(world(), 8, seed)):  # noqa: B023
            with pytest.raises(SpurgenError):
                make()
    with pytest.raises(SpurgenError, match=r"epoch is 1\.5"):
        Batches(tile_rows(built), 8).set_epoch(1.5)  # type: ignore[arg-type]


def test_positions_are_whole_numbers_or_a_mask_of_all_rows(built: Path) -> None:
    rows = tile_rows(built)
    mask = rows.y == 1
    assert 0 < mask.sum() < len(rows)
    assert (rows.take(mask).y == 1).all()
    assert (rows.take(mask).row_id == rows.row_id[mask]).all()
    assert (rows.take(mask.tolist()).row_id == rows.row_id[mask]).all()
    assert rows.take(np.array([3, -1], np.int8)).row_id.tolist() == rows.row_id[[3, -1]].tolist()
    assert rows.take(np.uint64(2)).row_id.tolist() == [rows.row_id[2]]
    assert len(rows.take([])) == 0
    for wrong in (mask[:-1], [1.0, 2.0], 1.5, True, [[0, 1]], ["3"], None, slice(0, 3)):
        with pytest.raises(SpurgenError, match="whole numbers"):
            rows.take(wrong)
    for lost in (144, -145, np.uint64(2**64 - 1), [0, 2**40]):
        with pytest.raises(IndexError, match="among 144 rows"):
            rows.take(lost)


def test_a_batch_is_what_its_row_ids_say(built: Path) -> None:
    dataset = reader.open(built)
    for batch in Batches(tile_rows(built), 50, shuffle=True, seed=3):
        assert (batch.x == dataset.batch("tile", batch.row_id)).all()
        assert batch.table.equals(dataset.rows(batch.row_id).combine_chunks())
        assert [dataset.spec.classes[y] for y in batch.y] == batch.table["label"].to_pylist()


STREAMS = {
    "stored": lambda built, prefetch: Batches(tile_rows(built), 32, shuffle=True, seed=5, prefetch=prefetch),
    "passes": lambda built, prefetch: OnTheFly(world(), 32, 5, rows=240, modality="tile", prefetch=prefetch),
    "endless": lambda built, prefetch: OnTheFly(world(), 32, 5, modality="tile", prefetch=prefetch),
}


def take(stream: Any, n: int) -> list[Batch]:
    """The next n batches, over the ends of passes."""
    out: list[Batch] = []
    while len(out) < n:
        for batch in stream:
            out.append(batch)
            if len(out) == n:
                break
    return out


@pytest.mark.parametrize("kind", STREAMS)
@pytest.mark.parametrize("stop", [1, 4, 5, 7])
def test_a_resumed_stream_goes_on_as_if_never_stopped(built: Path, kind: str, stop: int) -> None:
    whole = take(STREAMS[kind](built, False), 12)
    first = STREAMS[kind](built, True)
    start = take(first, stop)
    second = STREAMS[kind](built, True)
    second.load_state_dict(first.state_dict())
    rest = take(second, 12 - stop)
    assert ids(start + rest) == ids(whole)
    assert all((a.x == b.x).all() for a, b in zip(start + rest, whole, strict=True))


@pytest.mark.parametrize("kind", STREAMS)
def test_a_state_of_another_stream_is_refused(built: Path, kind: str) -> None:
    state = STREAMS[kind](built, False).state_dict()
    other = OnTheFly(world(), 32, 6, modality="tile")
    with pytest.raises(SpurgenError, match="belongs to another stream"):
        other.load_state_dict(state)
    for wrong in ({"step": 3}, {"stream": state["stream"], "place": {"batch": 1.5}}, {"stream": 3, "place": 3}):
        with pytest.raises(SpurgenError, match="not the state"):
            other.load_state_dict(wrong)


@pytest.mark.parametrize("kind", STREAMS)
def test_a_place_where_the_stream_never_comes_is_refused(built: Path, kind: str) -> None:
    stream = STREAMS[kind](built, False)
    state = stream.state_dict()
    for wrong in ({"batch": 5, "row": 7}, {"batch": 10**9, "row": 2**41}):
        with pytest.raises(SpurgenError, match="never comes by"):
            stream.load_state_dict(state | {"place": state["place"] | wrong})
    assert stream.state_dict() == state


def test_a_state_of_other_rows_is_refused(built: Path, tmp_path: Path) -> None:
    build(world(), tmp_path / "other", seed=1)
    build(world(), tmp_path / "same", shard_rows=100)
    rows = tile_rows(built)
    state = Batches(rows, 16).state_dict()
    Batches(tile_rows(tmp_path / "same"), 16).load_state_dict(state)
    Batches(pickle.loads(pickle.dumps(rows)), 16).load_state_dict(state)
    edited = rows.with_table(intervene.fix(rows.table, rows.spec, "hue", "red"))
    backwards = rows.with_table(rows.table.take(np.arange(len(rows))[::-1]))
    for other in (tile_rows(tmp_path / "other"), edited, backwards):
        with pytest.raises(SpurgenError, match=r"another stream \(rows was"):
            Batches(other, 16).load_state_dict(state)


def test_leaving_a_loop_early_leaves_the_rest_of_the_pass(built: Path) -> None:
    batches = Batches(tile_rows(built), 50)
    assert len(take(batches, 1)) == 1
    assert [len(b) for b in batches] == [50, 44]
    assert batches.epoch == 1
    assert [len(b) for b in batches] == [50, 50, 44]


@pytest.mark.parametrize("sampling", ["quota", "iid"])
def test_passes_on_the_fly_are_the_stored_rows_byte_for_byte(tmp_path: Path, sampling: str) -> None:
    spec = world(sampling=sampling, noise={"label": 0.2, "annotation": {"hue": 0.2}, "signal": {"hue": 0.3}})
    build(spec, tmp_path / "data", rows=120, seed=9)
    dataset = reader.open(tmp_path / "data")
    stored = Batches(open_rows(dataset, "test", ("tile", "line")), 16, shuffle=True, seed=9)
    flown = OnTheFly(spec, 16, 9, "test", rows=120, modality=("tile", "line"))
    for epoch in range(2):
        pairs = list(zip(stored, flown, strict=True))
        assert sum(len(a) for a, _ in pairs) == dataset.splits["test"], epoch
        for a, b in pairs:
            assert (a.x["tile"] == b.x["tile"]).all()
            assert a.x["line"] == b.x["line"]
            assert a.table.to_pylist() == b.table.to_pylist()
            for name in ("y", "group", "environment", "row_id"):
                assert (getattr(a, name) == getattr(b, name)).all()


@pytest.mark.parametrize("sampling", ["quota", "iid"])
def test_endless_rows_never_repeat_and_are_of_their_split(sampling: str) -> None:
    batches = take(OnTheFly(world(sampling=sampling), 40, 2, "id_val", modality="line"), 10)
    assert len({i for b in batches for i in b.row_id.tolist()}) == 400
    assert {s for b in batches for s in b.table["split"].to_pylist()} == {"id_val"}


@pytest.mark.parametrize("sampling", ["quota", "iid"])
def test_endless_rows_share_no_nuisance_with_any_row_that_can_be_stored(sampling: str) -> None:
    spec = world(sampling=sampling)
    stored = Plan(spec, 5000, 2)  # many more rows than the spec says, as with --rows
    endless = {v for b in take(OnTheFly(spec, 250, 2, modality="line"), 4) for v in b.table["tile_level"].to_pylist()}
    shared = endless & set(stored.table(np.arange(5000))["tile_level"].to_pylist())
    assert len(shared) < 6  # by chance alone 1000 · 5000 / 2²⁴ = 0.3


def test_endless_independent_rows_never_list_their_splits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Plan, "_members", property(lambda plan: pytest.fail("listed 2**40 rows")))
    stream = OnTheFly(world(sampling="iid"), 16, modality="line")
    stream.load_state_dict(stream.state_dict())
    assert len(take(stream, 3)) == 3
    assert stream.group_names[0] == "hue:aligned,background:aligned"


def test_arguments_without_effect_on_an_endless_stream_are_refused() -> None:
    for how in ({"shuffle": True}, {"shuffle": False}, {"drop_last": True}, {"drop_last": False}):
        with pytest.raises(SpurgenError, match="without end"):
            OnTheFly(world(), 16, modality="line", **how)
    flown = take(OnTheFly(world(), 16, modality="line", rows=240, shuffle=False), 2)
    assert ids(flown) == [list(range(16)), list(range(16, 32))]


@pytest.mark.parametrize("rows", [None, 240])
def test_misspelt_names_are_found_before_the_first_batch(rows: int | None) -> None:
    for wrong in ({"modality": "lien"}, {"modality": ("line", "tiel")}, {"target": "lable"}, {"group_by": "hew"}):
        with pytest.raises(UnknownName, match="did you mean"):
            OnTheFly(world(), 16, rows=rows, **{"modality": "line"} | wrong)
    with pytest.raises(SpurgenError, match="cannot be a target"):
        OnTheFly(world(), 16, rows=rows, modality="line", target="tile_level")


def test_endless_batches_do_not_depend_on_their_size() -> None:
    small = np.concatenate([b.row_id for b in take(OnTheFly(world(), 7, 2, modality="line"), 30)])
    large = np.concatenate([b.row_id for b in take(OnTheFly(world(), 105, 2, modality="line"), 2)])
    assert (small == large).all()


def test_interventions_change_what_is_drawn_and_how_it_is_grouped() -> None:
    plain = take(OnTheFly(world(), 64, rows=240, modality="tile"), 1)[0]
    edited = take(
        OnTheFly(
            world(), 64, rows=240, modality="tile", interventions=lambda t, s, step: intervene.conflict(t, s, "hue")
        ),
        1,
    )[0]
    assert (plain.row_id == edited.row_id).all()
    assert (plain.x[:, 4:] == edited.x[:, 4:]).all()  # the lower half shows the background alone
    assert set(edited.group.tolist()) <= {2, 3}  # hue:not


def test_an_error_in_the_thread_ahead_reaches_the_loop() -> None:
    def bad(table: Any, spec: Any, step: int) -> Any:
        if step == 2:
            raise SpurgenError("no such thing")
        return table

    stream = OnTheFly(world(), 16, modality="line", interventions=[bad])
    with pytest.raises(SpurgenError, match="no such thing"):
        take(stream, 5)
    assert stream.state_dict()["place"]["step"] == 2
