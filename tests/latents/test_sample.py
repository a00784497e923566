"""Tables of latents: golden, independent of order and chunking, exact in their quotas, honest about noise."""

import hashlib
import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.worlds import small, world

from spurgen.errors import SpurgenError
from spurgen.latents import sample as sampling
from spurgen.latents.audit import audit
from spurgen.latents.sample import Plan, sample
from spurgen.parts import Choice, Constant
from spurgen.spec import World, load, presets
from spurgen.spec.tables import coupling, table

NOISE = {"core": 0.3, "label": 0.2, "signal": {"hue": 0.25}, "annotation": {"hue": 0.1, "background": 0.5}}


def fingerprint(rows: pa.Table) -> str:
    """A hash of names and cells, whatever the chunks and dictionaries."""
    out = hashlib.sha256()
    for name in rows.column_names:
        column = rows.column(name)
        text = pa.types.is_dictionary(column.type)
        cells = "\n".join(map(str, column.to_pylist())).encode() if text else column.to_numpy().tobytes()
        out.update(name.encode() + b"\0" + cells)
    return out.hexdigest()[:16]


GOLDEN_SMALL = {"quota": "542624596d138f0b", "iid": "75f7c16ec2bffe4d"}


@pytest.mark.parametrize("mode", ["quota", "iid"])
def test_golden(mode):
    assert fingerprint(sample(world(sampling=mode, noise=NOISE))) == GOLDEN_SMALL[mode]


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(["quota", "iid"]), st.lists(st.integers(0, 239), min_size=1, max_size=40))
def test_any_rows_in_any_order(mode, ids):
    spec = world(sampling=mode, noise=NOISE)
    assert Plan(spec, seed=3).table(ids).to_pylist() == sample(spec, seed=3).take(ids).to_pylist()


def test_chunks_do_not_show(monkeypatch):
    whole = [sample(world(sampling=mode, noise=NOISE)).to_pylist() for mode in ("quota", "iid")]
    monkeypatch.setattr(sampling, "CHUNK", 7)
    assert [sample(world(sampling=mode, noise=NOISE)).to_pylist() for mode in ("quota", "iid")] == whole


@pytest.mark.parametrize("mode", ["quota", "iid"])
def test_splits_hold_every_row_once(mode):
    plan = Plan(world(sampling=mode))
    ids = np.concatenate([plan.row_ids(name) for name in plan.splits])
    assert sorted(ids.tolist()) == list(range(plan.rows))
    for name, size in plan.splits.items():
        assert len(plan.row_ids(name)) == size
        assert (plan.row_ids(name, 3, 9) == plan.row_ids(name)[3:9]).all()
        assert set(plan.table(plan.row_ids(name)).column("split").to_pylist()) == {name}


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 239))
def test_iid_prefixes_are_nested(rows):
    spec = world(sampling="iid", noise=NOISE)
    assert sample(spec, rows).to_pylist() == sample(spec, 240).slice(0, rows).to_pylist()


@settings(max_examples=30, deadline=None)
@given(st.integers(40, 3000), st.integers(0, 2**64 - 1))
def test_quotas_of_splits_environments_labels_and_attributes(rows, seed):
    spec = world()
    found = audit(sample(spec, rows, seed), spec)
    assert found.rows == rows
    assert abs(found.splits["train"] - 0.75 * rows) < 1
    assert found.largest_miss <= 1
    assert max(found.labels.values()) - min(found.labels.values()) <= 4  # within one per split and environment


@pytest.mark.parametrize("name", presets())
def test_presets_hold_what_they_ask(name):
    spec = load(name)
    found = audit(sample(spec), spec)
    assert found.largest_miss <= 1
    assert all(a.low <= a.achieved <= a.high for a in found.alignments)
    assert all(
        abs(a.asked - a.achieved) <= len(spec.classes) * len(spec.values(a.channel)) / a.rows for a in found.alignments
    )


def test_small_datasets_have_their_exceptions():
    found = audit(sample(load("quick/v1"), 300), load("quick/v1"))
    for a in found.alignments:
        if a.environment == "mixed":
            assert a.achieved == pytest.approx(0.75, abs=0.12)


def test_odd_rows_are_shared_by_all_classes():
    spec = load("spurgen-image/v1")
    labels = audit(sample(spec, 225), spec).labels
    assert max(labels.values()) - min(labels.values()) <= 1


def test_a_chain_of_channels_keeps_its_quotas():
    chain = {
        "light": {"coupling": "aligned", "p": 0.7},
        "background": {"coupling": "given", "channel": "light", "p": 0.8},
        "hue": {"coupling": "given", "channel": "background", "p": 0.9},
    }
    spec = world(channels__light={}, environments__even=chain, environments__strong=chain, environments__weak=chain)
    assert audit(sample(spec, 2000), spec).largest_miss <= 1


def test_too_long_a_chain_is_refused():
    names = [f"c{i}" for i in range(9)]
    values = {f"v{i}": {} for i in range(8)}
    law = {n: {"coupling": "given", "channel": p, "p": 0.5} for p, n in itertools.pairwise(names)}
    spec = World.from_dict(
        small(
            modalities=["image", "caption"],
            channels={n: {"values": values, "says": "phrase"} for n in names},
            environments={"strong": law, "weak": {}, "even": {}},
        )
    )
    with pytest.raises(SpurgenError, match="too long for exact quotas"):
        sample(spec, 100)


def test_many_channels():
    spec = World.from_dict(
        small(
            modalities=["image", "caption"],
            channels={f"c{i}": {"values": {"a": {}, "b": {}}, "says": "phrase"} for i in range(70)},
            environments={"strong": {}, "weak": {}, "even": {}},
        )
    )
    found = audit(sample(spec, 60), spec)
    assert sum(g.rows for g in found.groups) == 60


def test_too_many_independent_draws_to_list():
    plan = Plan(world(sampling="iid"), rows=2**40)
    assert plan.table([2**39]).num_rows == 1
    with pytest.raises(SpurgenError, match="too many"):
        _ = plan.splits


def test_every_environment_equally_often_in_spurgen_image():
    spec = load("spurgen-image/v1")
    rows = sample(spec)
    assert len(rows) == 20_000
    counts = rows.group_by(["split", "environment"]).aggregate([("row_id", "count")]).to_pylist()
    sizes = {(str(c["split"]), str(c["environment"])): c["row_id_count"] for c in counts}
    assert {k: v for k, v in sizes.items() if k[0] == "train"} == {
        ("train", e): 4000 for e in ("weak", "medium", "strong")
    }
    assert all(abs(v - 4000 / 3) < 1 for k, v in sizes.items() if k[0] != "train")


@pytest.mark.parametrize("mode", ["quota", "iid"])
def test_what_is_sampled_is_contained(mode):
    spec = world(
        sampling=mode,
        environments__even__hue={
            "coupling": "table",
            "probabilities": {"mug": {"red": 1.0}, "heart": {"green": 0.5, "blue": 0.5}, "star": {"pink": 1.0}},
        },
    )
    rows = sample(spec, 2000)
    label = rows.column("label").combine_chunks().indices.to_numpy()
    for environment in spec.environments:
        mine = np.array(rows.column("environment").to_pylist()) == environment
        for name in spec.channels:
            codes = rows.column(name).combine_chunks().indices.to_numpy()[mine]
            follows = coupling(spec, environment, name).follows
            context = rows.column(follows).combine_chunks().indices.to_numpy()[mine] if follows else label[mine]
            assert (table(spec, environment, name)[context, codes] > 0).all()
    for name, law in Plan(spec).nuisances.items():
        if not isinstance(law, Constant):
            column = rows.column(name)
            cells = column.to_pylist() if isinstance(law, Choice) else column.to_numpy()
            assert law.contains(np.array(cells)).all(), name


def test_independent_draws_come_close_to_what_was_asked():
    spec = world(sampling="iid")
    found = audit(sample(spec, 60_000), spec)
    for a in found.alignments:
        # five standard errors of a share
        assert abs(a.asked - a.achieved) < 5 * (0.25 / a.rows) ** 0.5


def test_channels_are_independent_given_the_label():
    spec = load("spurgen-image/v1")
    rows = sample(spec).to_pandas()
    strong = rows[(rows.split == "train") & (rows.environment == "strong")]
    for name, group in strong.groupby("label", observed=True):
        code = spec.classes.index(name)
        hit = np.array([[r == spec.values(c)[spec.aligned(c)[code]] for r in group[c]] for c in spec.channels])
        # 400 rows a label: the correlation of two independent columns has SD 1/20
        assert np.abs(np.corrcoef(hit) - np.eye(3)).max() < 0.25


def test_changing_one_channel_draws_nothing_else_anew():
    before = sample(world())
    after = sample(world(environments__strong__hue={"coupling": "aligned", "p": 0.1}))
    changed = [n for n in before.column_names if before.column(n).to_pylist() != after.column(n).to_pylist()]
    assert changed == ["hue"]
    more = sample(world(channels__light={}))
    assert all(more.column(n).equals(before.column(n)) for n in before.column_names if n in more.column_names)


def test_noise_leaves_the_other_columns_alone():
    clean, noisy = sample(world(rows=6000)), sample(world(rows=6000, noise=NOISE))
    assert all(noisy.column(n).equals(clean.column(n)) for n in clean.column_names)
    extra = set(noisy.column_names) - set(clean.column_names)
    assert extra == {"label_shown", "label_annotated", "hue_shown", "hue_annotated", "background_annotated"}
    share = {n: 1 - noisy.column(n).null_count / 6000 for n in ("label_shown", "hue_shown")}
    # shares of 6000 rows have an SD below .0065
    assert abs(share["label_shown"] - 0.3) < 0.033 and abs(share["hue_shown"] - 0.25) < 0.033
    wrong = np.mean(
        [
            a != b
            for a, b in zip(noisy.column("label").to_pylist(), noisy.column("label_annotated").to_pylist(), strict=True)
        ]
    )
    assert abs(wrong - 0.2) < 0.033


def test_noise_may_be_kept_to_some_splits():
    rows = sample(world(noise={"label": 0.5, "core": 0.5, "splits": ["train"]})).to_pandas()
    test = rows[rows.split == "test"]
    assert (test.label.astype(str) == test.label_annotated.astype(str)).all()
    assert test.label_shown.isna().all()
    assert not rows[rows.split == "train"].label_shown.isna().all()


def test_shares_of_classes():
    spec = world(class_shares={"mug": 6.0, "heart": 3.0, "star": 1.0}, rows=1000)
    found = audit(sample(spec), spec)
    assert found.labels == {"mug": 600, "heart": 300, "star": 100}


def test_nuisances_can_be_pinned_and_narrowed():
    spec = world(nuisances={"pose_yaw_degrees": 10.0, "pose_roll_degrees": [1.0, 2.0], "material": ["matte", "metal"]})
    rows = sample(spec)
    assert "pose_yaw_degrees" not in rows.column_names
    roll = rows.column("pose_roll_degrees").to_numpy()
    assert roll.min() >= 1 and roll.max() <= 2
    assert set(rows.column("material").to_pylist()) == {"matte", "metal"}


@pytest.mark.parametrize(("rows", "seed"), [(0, 0), (-1, 0), (2.5, 0), (True, 0), (10, -1), (10, 1.5)])
def test_nonsense_is_refused(rows, seed):
    with pytest.raises(SpurgenError):
        Plan(world(sampling="iid"), rows, seed)


def test_rows_that_are_not_there():
    with pytest.raises(SpurgenError, match="there is no row 240"):
        Plan(world()).table([240])
    with pytest.raises(SpurgenError, match="there is no row -1"):
        Plan(world()).table([-1])
    with pytest.raises(SpurgenError, match="must be whole numbers"):
        Plan(world()).table([1.5])
    with pytest.raises(SpurgenError, match="there is no split 'trian' in small/v1; did you mean 'train'"):
        Plan(world()).row_ids("trian")
