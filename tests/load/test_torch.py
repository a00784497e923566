"""The view for PyTorch: examples, DataLoader with workers, counterfactuals, batches as tensors."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiles import register, world

from spurgen.errors import SpurgenError, UnknownName
from spurgen.latents import intervene
from spurgen.latents.sample import sample
from spurgen.load.rows import Rows
from spurgen.store import reader
from spurgen.store.writer import build

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # pyarrow holds threads

from torch.utils.data import DataLoader  # noqa: E402

from spurgen.load.torch import Batches, OnTheFly, SpurgenDataset, collate  # noqa: E402


def dataset(built: Path, **how: Any) -> SpurgenDataset:
    return SpurgenDataset(built, **{"split": "train", "modality": "tile"} | how)


def test_importing_the_package_does_not_import_torch() -> None:
    code = "import sys, spurgen.load, spurgen.load.fly, spurgen.load.batches; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_package_names_what_it_offers() -> None:
    import spurgen.load

    assert all(getattr(spurgen.load, name) is not None for name in spurgen.load.__all__)
    assert spurgen.load.SpurgenDataset is SpurgenDataset


def test_without_torch_the_install_line_is_given(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('gone')")
    for module in ("torch", "wilds"):
        code = f"import spurgen.load.{module}"
        path = os.pathsep.join([str(tmp_path), str(Path(__file__).parents[2] / "src")])
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert "pip install 'spurgen[train]'" in done.stderr


def test_an_example_is_the_row_as_stored(built: Path) -> None:
    ds = dataset(built)
    stored = reader.open(built)
    assert len(ds) == stored.splits["train"]
    for i in (0, 77, -1):
        example = ds[i]
        row = stored.row(example.row_id).to_pylist()[0]
        assert example.x.dtype == torch.uint8
        assert example.x.shape == (3, 8, 8)
        assert (example.x.permute(1, 2, 0).numpy() == stored.batch("tile", example.row_id)[0]).all()
        assert ds.classes[example.y] == row["label"] == example.latents["label"]
        assert example.latents["hue"] == row["hue"]
        assert example.group == ds.groups.codes[i]
    with pytest.raises(IndexError):
        ds[len(ds)]
    assert sum(1 for _ in ds) == len(ds)


def test_forms_of_an_example(built: Path) -> None:
    scaled = dataset(built, scale=True)[4].x
    assert scaled.dtype == torch.float32
    assert torch.equal((scaled * 255).round().to(torch.uint8), dataset(built)[4].x)
    x, y = dataset(built, as_tuple=True, transform=lambda x: x.float().mean())[4]
    assert (x.ndim, y) == (0, dataset(built)[4].y)
    both = dataset(built, modality=("tile", "line"))[4]
    assert both.x["line"] == reader.open(built).batch("line", both.row_id)[0]
    assert dataset(built, modality="line")[4].x == both.x["line"]
    hue = dataset(built, target="hue")
    assert hue.classes == ("red", "green", "blue")
    assert hue.classes[hue[4].y] == both.latents["hue"]


def test_unknown_names_are_said(built: Path) -> None:
    for wrong in ({"split": "trian"}, {"modality": "tiel"}, {"target": "lable"}, {"group_by": "hew"}):
        with pytest.raises(UnknownName, match="did you mean"):
            dataset(built, **wrong)


def test_learners_see_noisy_labels_and_the_truth_stays_within_reach(tmp_path: Path) -> None:
    build(world(noise={"label": 0.4, "core": 0.3}), tmp_path / "data", rows=60)
    seen, true = (SpurgenDataset(tmp_path / "data", modality="tile", target=t) for t in (None, "label"))
    assert [seen.classes[y] for y in seen.y] == seen.latents["label_annotated"].to_pylist()
    assert [true.classes[y] for y in true.y] == true.latents["label"].to_pylist()
    assert (seen.y != true.y).any()
    shown = [e.latents["label_shown"] for e in seen]
    expected = zip(true.latents["label_shown"].to_pylist(), true.latents["label"].to_pylist(), strict=True)
    assert shown == [s if s is not None else label for s, label in expected]
    collate([seen[i] for i in range(8)])  # no empty cell trips it


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_loaders_with_workers_give_what_one_process_gives(built: Path, start: str) -> None:
    ds = dataset(built)
    ds[0]  # the copy exists and is open, as when a loop has looked at an example
    plain = list(DataLoader(ds, 48))
    worked = list(
        DataLoader(ds, 48, num_workers=1, multiprocessing_context=start, collate_fn=collate, worker_init_fn=register)
    )
    assert len(plain) == len(worked) == 3
    for a, b in zip(plain, worked, strict=True):
        assert torch.equal(a.x, b.x)
        assert torch.equal(a.row_id, b.row_id)
        assert a.latents["hue"] == b.latents["hue"]


def test_a_pickled_dataset_carries_no_pixels(built: Path) -> None:
    ds = dataset(built)
    before = len(pickle.dumps(ds))
    ds[0]
    assert len(pickle.dumps(ds)) == before
    assert torch.equal(pickle.loads(pickle.dumps(ds))[5].x, ds[5].x)


def test_a_counterfactual_changes_its_channel_and_nothing_else(built: Path) -> None:
    ds = dataset(built)
    for i in range(0, len(ds), 7):
        example = ds[i]
        for channel, half in (("hue", slice(0, 4)), ("background", slice(4, 8))):
            other = ds.counterfactual(i, channel)
            changed = {k for k, v in example.latents.items() if other.latents[k] != v}
            assert changed == {channel}
            differs = (example.x != other.x).any(0).any(1)
            assert differs[half].all()
            assert differs.sum() == 4
            assert (other.row_id, other.y) == (example.row_id, example.y)
            same = ds.counterfactual(i, channel, example.latents[channel])
            assert torch.equal(same.x, example.x)
    with pytest.raises(UnknownName, match="did you mean 'blue'"):
        ds.counterfactual(0, "hue", "bleu")
    with pytest.raises(UnknownName, match="did you mean 'hue'"):
        ds.counterfactual(0, "hues")


def test_a_counterfactual_shows_what_it_says_whatever_the_noise() -> None:
    spec = world(noise={"signal": {"hue": 1.0}})
    ds = SpurgenDataset(Rows(spec, sample(spec), modality="tile"))
    for i in range(0, len(ds), 7):
        blue = ds.counterfactual(i, "hue", "blue")
        assert (blue.latents["hue"], blue.latents["hue_shown"]) == ("blue", "blue")
        assert (blue.x != ds[i].x).any() == (ds[i].latents["hue_shown"] != "blue")
        other = ds.counterfactual(i, "hue").latents
        assert other["hue"] == other["hue_shown"] != ds[i].latents["hue_shown"]


def test_a_channel_of_one_value_has_no_counterfactual() -> None:
    one = world(channels={"hue": {"values": ["red"]}}, environments={"strong": {}, "weak": {}, "even": {}})
    with pytest.raises(SpurgenError, match="one value only"):
        Rows(one, sample(one), modality="line").counterfactual([0], "hue")


def test_edited_datasets_are_drawn_on_demand(built: Path) -> None:
    ds = dataset(built, group_by="hue")
    blue = ds.intervene(lambda table, spec: intervene.fix(table, spec, "hue", "blue"))
    assert blue.groups.sizes == {"hue=red": 0, "hue=green": 0, "hue=blue": len(ds)}
    assert torch.equal(blue[9].x, ds.counterfactual(9, "hue", "blue").x)
    everything = collate(blue.__getitems__(range(len(ds))))
    assert torch.equal(everything.x[9], blue[9].x)
    worked = torch.cat([b.x for b in DataLoader(blue, 48, num_workers=2, multiprocessing_context="fork")])
    assert torch.equal(worked, everything.x)


def test_rows_need_no_dataset_on_disk() -> None:
    ds = SpurgenDataset(Rows(world(), sample(world()), modality="line"))
    assert ds[0].x == f"a {ds[0].latents['hue']} {ds[0].latents['label']}"


def test_batches_hold_the_examples(built: Path) -> None:
    ds = dataset(built, modality=("tile", "line"), scale=True)
    by_id = {e.row_id: e for e in ds}
    for last in (False, True):
        batches = Batches(ds, 50, shuffle=True, channels_last=last)
        for batch in batches:
            assert batch.x["tile"].is_contiguous(memory_format=torch.channels_last if last else torch.contiguous_format)
            assert batch.y.dtype == batch.group.dtype == batch.environment.dtype == torch.int64
            for i, row in enumerate(batch.row_id.tolist()):
                assert torch.equal(batch.x["tile"][i], by_id[row].x["tile"])
                assert batch.x["line"][i] == by_id[row].x["line"]
                assert (batch.y[i], batch.group[i]) == (by_id[row].y, by_id[row].group)


def test_arguments_are_never_dropped_in_silence(built: Path) -> None:
    ds = dataset(built)
    with pytest.raises(SpurgenError, match="where Rows are made"):
        SpurgenDataset(ds.rows, target="hue")
    with pytest.raises(TypeError, match="batchsize"):
        OnTheFly(world(), 8, modality="tile", batchsize=3)
    with pytest.raises(SpurgenError, match="as_tuple"):
        Batches(dataset(built, as_tuple=True), 8)
    with pytest.raises(SpurgenError, match="whole numbers"):
        ds[1.5]
    with pytest.raises(SpurgenError, match="no epochs"):
        OnTheFly(world(), 8, modality="tile").set_epoch(2)


def test_transforms_are_never_dropped_in_silence(built: Path) -> None:
    with pytest.raises(SpurgenError, match="transform of batches"):
        Batches(dataset(built, transform=lambda x: x), 8)
    first = next(iter(Batches(dataset(built), 8, transform=lambda x: x.float().mean((1, 2, 3)))))
    assert first.x.shape == (8,)


def test_on_the_fly_tensors_are_the_stored_ones(built: Path) -> None:
    stored = list(Batches(dataset(built), 32, shuffle=True))
    flown = list(OnTheFly(world(), 32, rows=240, modality="tile"))
    assert len(stored) == len(flown) == 5
    for a, b in zip(stored, flown, strict=True):
        assert torch.equal(a.x, b.x)
        assert torch.equal(a.group, b.group)
    resumed = OnTheFly(world(), 32, rows=240, modality="tile")
    stream = OnTheFly(world(), 32, rows=240, modality="tile")
    next(iter(stream))
    resumed.load_state_dict(stream.state_dict())
    assert np.array_equal(torch.cat([b.row_id for b in resumed]), torch.cat([b.row_id for b in flown[1:]]))
