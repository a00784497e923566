"""Shuffles are bijections that need no state; streams stop, resume and run ahead without changing a batch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiles import world

from spurgen.errors import SpurgenError
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
    for size in (0, -1, True, 2.5):
        with pytest.raises(SpurgenError, match="batch_size"):
            Batches(tile_rows(built), size)  # type: ignore[arg-type]
        with pytest.raises(SpurgenError, match="batch_size"):
            OnTheFly(world(), size, modality="tile")  # type: ignore[arg-type]


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
    with pytest.raises(SpurgenError, match="not the state"):
        other.load_state_dict({"step": 3})


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


def test_endless_rows_never_repeat_and_never_leave_their_split() -> None:
    spec = world(sampling="iid")
    seen = np.concatenate([b.row_id for b in take(OnTheFly(spec, 40, 2, "id_val", modality="line"), 10)])
    assert len(set(seen.tolist())) == 400
    stored = Plan(spec, 4000, 2).row_ids("id_val")
    assert (seen[: len(stored)] == stored[: len(seen)]).all()  # they go on where a stored dataset would end


def test_endless_rows_of_a_world_with_quotas_start_after_its_stored_rows() -> None:
    batch = take(OnTheFly(world(), 40, 2, modality="line"), 1)[0]
    assert batch.row_id.min() >= 240
    assert set(batch.table["split"].to_pylist()) == {"train"}


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
