"""The view for users of WILDS: its attributes and methods, and groups whose names tell the truth."""

from __future__ import annotations

import itertools
import math
import pickle
from pathlib import Path

import numpy as np
import pytest
from tiles import world

from spurgen.errors import SpurgenError, UnknownName
from spurgen.load import group
from spurgen.store import reader
from spurgen.store.writer import build

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # pyarrow holds threads

from torch.utils.data import DataLoader  # noqa: E402

from spurgen.load.wilds import CombinatorialGrouper, WildsDataset, WildsSubset  # noqa: E402


@pytest.fixture
def dataset(built: Path) -> WildsDataset:
    return WildsDataset(built, modality="tile")


def test_what_wilds_promises_of_a_dataset(dataset: WildsDataset, built: Path) -> None:
    table = reader.open(built).table()
    assert dataset.metadata_fields == ["hue", "background", "environment", "label", "y"]
    assert dataset.metadata_array.shape == (240, 5)
    assert dataset.metadata_array.dtype == torch.int64
    for at, field in enumerate(dataset.metadata_fields):
        names = [dataset.metadata_map[field][v] for v in dataset.metadata_array[:, at]]
        assert names == table["label" if field == "y" else field].to_pylist()
    assert (dataset.n_classes, dataset.y_size, dataset.is_classification, dataset.collate) == (3, 1, True, None)
    assert dataset.split_dict == {"train": 0, "id_val": 1, "test": 2}
    assert dataset.split_names["id_val"] == "Id val"
    assert dataset.original_resolution == (8, 8)
    assert len(dataset.y_array) == len(dataset.split_array) == len(dataset) == 240


@pytest.mark.parametrize("split", ["train", "id_val", "test"])
def test_subsets_hold_their_rows(dataset: WildsDataset, built: Path, split: str) -> None:
    subset = dataset.get_subset(split)
    pictures = reader.open(built).batch("tile", split)
    assert len(subset) == len(pictures)
    x, y, metadata = subset[len(subset) - 1]
    assert (x.permute(1, 2, 0).numpy() == pictures[-1]).all()
    assert (y, metadata[-1]) == (subset.y_array[-1], subset.y_array[-1])
    assert subset.metadata_fields == dataset.metadata_fields
    assert (subset.split_array == dataset.split_dict[split]).all()
    x, y, metadata = next(iter(DataLoader(subset, 16, num_workers=1, collate_fn=subset.collate)))
    assert (x.shape, y.shape, metadata.shape) == ((16, 3, 8, 8), (16,), (16, 5))


def test_subsets_of_subsets_keep_their_rows_together(dataset: WildsDataset) -> None:
    test = dataset.get_subset("test", transform=lambda picture: picture.size)
    some = WildsSubset(test, [5, -1])
    assert some.indices.tolist() == test.indices[[5, -1]].tolist()
    for i, row in enumerate(some.indices):
        x, y, metadata = some[i]
        assert (x, y) == ((8, 8), dataset.y_array[row])
        assert (metadata == dataset.metadata_array[row]).all()
    plain = WildsSubset(dataset.get_subset("test"), [5])
    assert torch.equal(plain[0][0], dataset.get_input(plain.indices[0]))
    assert torch.equal(plain.get_input(0), plain[0][0])
    mask = (dataset.y_array == 1).numpy()
    assert (WildsSubset(dataset, mask).y_array == 1).all()
    with pytest.raises(SpurgenError, match="whole numbers"):
        WildsSubset(dataset, [0.5])


def test_a_misspelt_modality_is_said_at_once(built: Path) -> None:
    with pytest.raises(UnknownName, match="did you mean 'tile'"):
        WildsDataset(built, modality="tiel")


def test_other_processes_get_the_dataset_without_its_pixels(dataset: WildsDataset) -> None:
    before = len(pickle.dumps(dataset))
    subset = dataset.get_subset("test")
    x, y, _ = subset[3]
    assert len(pickle.dumps(dataset)) == before
    again = pickle.loads(pickle.dumps(subset))
    assert torch.equal(again[3][0], x)
    assert (again[3][1], again.spec.digest()) == (y, dataset.spec.digest())


def test_transforms_get_pil_pictures(dataset: WildsDataset) -> None:
    x, _, _ = dataset.get_subset("test", transform=lambda picture: picture.resize((4, 4)).size)[0]
    assert x == (4, 4)


def test_a_fraction_is_always_the_same(dataset: WildsDataset) -> None:
    np.random.seed(0)  # noqa: NPY002
    first = dataset.get_subset("train", frac=0.25).indices
    np.random.seed(1)  # noqa: NPY002
    assert (dataset.get_subset("train", frac=0.25).indices == first).all()
    assert len(set(first.tolist())) == 36
    with pytest.raises(SpurgenError, match="frac"):
        dataset.get_subset("train", frac=0)
    with pytest.raises(UnknownName, match="did you mean 'id_val'"):
        dataset.get_subset("id_vla")


@pytest.mark.parametrize("fields", list(itertools.permutations(["hue", "background", "y"])))
def test_a_groups_name_tells_the_truth_in_any_order_of_fields(dataset: WildsDataset, fields: tuple[str, ...]) -> None:
    grouper = CombinatorialGrouper(dataset, fields)
    found, counts = grouper.metadata_to_group(dataset.metadata_array, return_counts=True)
    assert grouper.n_groups == 36 == len(counts)
    assert counts.sum() == 240
    for row, at in zip(dataset.metadata_array, found, strict=True):
        values = [dataset.metadata_map[f][row[dataset.metadata_fields.index(f)]] for f in fields]
        assert grouper.group_str(at) == ", ".join(f"{f} = {v}" for f, v in zip(fields, values, strict=True))
    assert len({grouper.group_field_str(g) for g in range(36)}) == 36


def test_groups_agree_with_those_of_the_table(dataset: WildsDataset, built: Path) -> None:
    table, spec = reader.open(built).table(), dataset.spec
    for wilds, ours in ((["hue", "label"], "hue,label"), (["background:aligned", "hue:aligned"],) * 2):
        found = CombinatorialGrouper(dataset, wilds).metadata_to_group(dataset.metadata_array)
        assert (found.numpy() == group(table, spec, by=ours).codes).all()
    assert CombinatorialGrouper(dataset, None).n_groups == 1
    assert CombinatorialGrouper(dataset, None).group_str(0) == "all"
    with pytest.raises(UnknownName, match="did you mean 'hue'"):
        CombinatorialGrouper(dataset, ["huey"])


def test_eval_gives_average_and_worst_group_accuracy(built: Path) -> None:
    dataset = WildsDataset(built, modality="tile", groupby_fields=["hue"])
    hues = torch.tensor([0, 0, 0, 0, 2, 2])
    metadata = torch.zeros(6, 5, dtype=torch.long)
    metadata[:, 0] = hues
    y_true = torch.tensor([0, 1, 2, 0, 1, 1])
    y_pred = torch.tensor([0, 1, 2, 1, 1, 0])
    results, text = dataset.eval(y_pred, y_true, metadata)
    # 4 of 6 are right; red 3 of 4, blue 1 of 2, green has no rows
    assert results["acc_avg"] == pytest.approx(4 / 6)
    assert (results["acc_hue:red"], results["count_hue:red"]) == (0.75, 4)
    assert (results["acc_hue:blue"], results["count_hue:blue"]) == (0.5, 2)
    assert math.isnan(results["acc_hue:green"])
    assert results["acc_wg"] == 0.5
    assert "Worst-group acc: 0.500 (hue = blue)" in text
    scores = torch.nn.functional.one_hot(y_pred, 3).float()
    again, _ = dataset.eval(scores, y_true, metadata, prediction_fn=lambda s: s.argmax(1))
    assert again["acc_wg"] == 0.5
    with pytest.raises(SpurgenError, match="prediction_fn"):
        dataset.eval(scores, y_true, metadata)
    with pytest.raises(SpurgenError, match="5 predictions, 6 targets"):
        dataset.eval(y_pred[:5], y_true, metadata)


def test_alignment_goes_by_the_true_label(tmp_path: Path) -> None:
    spec = world(noise={"label": 0.4, "annotation": {"hue": 0.2}})
    build(spec, tmp_path / "data", rows=60)
    dataset = WildsDataset(tmp_path / "data", modality="tile")
    annotated = ["label_annotated", "hue_annotated"]
    assert dataset.metadata_fields == ["hue", "background", *annotated, "environment", "label", "y"]
    table = reader.open(tmp_path / "data").table()
    found = dataset._eval_grouper.metadata_to_group(dataset.metadata_array)
    assert (found.numpy() == group(table, spec).codes).all()
    assert [spec.classes[y] for y in dataset.y_array] == table["label_annotated"].to_pylist()
