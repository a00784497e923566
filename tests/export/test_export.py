"""Exports: whole or absent, the same bytes each time, and readable by those whose formats they are."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import sys
import tarfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[1] / "store"))
from spurgen.errors import DataError, UnknownName
from spurgen.export import EXPORTS, MARKER, export, safe
from spurgen.spec import World
from spurgen.store.reader import Dataset
from spurgen.store.reader import open as open_dataset
from spurgen.store.writer import build
from worlds import world

FORMATS = ["imagefolder", "webdataset", "wilds"]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("source") / "data"
    build(world(), out)
    return out


@pytest.fixture(scope="module")
def dataset(source: Path) -> Dataset:
    return open_dataset(source)


def tree(directory: Path) -> dict[str, str]:
    files = (p for p in directory.rglob("*") if p.is_file())
    return {p.relative_to(directory).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def test_the_formats() -> None:
    assert set(FORMATS) <= set(EXPORTS.names())


@pytest.mark.parametrize("to", FORMATS)
def test_same_bytes_each_time(source: Path, tmp_path: Path, to: str) -> None:
    first = export(source, to, tmp_path / "a")
    export(source, to, tmp_path / "b")
    assert tree(tmp_path / "a") == tree(tmp_path / "b")
    assert first.rows == 240
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("to", FORMATS)
def test_nothing_foreign_is_replaced(source: Path, tmp_path: Path, to: str) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    for force in (False, True):
        with pytest.raises(DataError, match="not empty"):
            export(source, to, tmp_path, force=force)
    assert set(tree(tmp_path)) == {"mine.txt"}


@pytest.mark.parametrize("inside", ["", "new", "data/new", "../data/new"])
def test_nothing_is_written_into_the_dataset(source: Path, inside: str) -> None:
    before = sorted(source.rglob("*"))
    with pytest.raises(DataError, match="lies inside the dataset"):
        export(source, "wilds", source / inside)
    assert sorted(source.rglob("*")) == before


def test_an_earlier_export_wants_force(source: Path, tmp_path: Path) -> None:
    export(source, "wilds", tmp_path / "out")
    with pytest.raises(DataError, match="holds an export already"):
        export(source, "webdataset", tmp_path / "out")
    export(source, "webdataset", tmp_path / "out", force=True)
    assert json.loads((tmp_path / "out" / MARKER).read_text())["format"] == "webdataset"
    assert not (tmp_path / "out/metadata.csv").exists()


def test_force_keeps_what_was_added(source: Path, tmp_path: Path) -> None:
    export(source, "wilds", tmp_path / "out")
    (tmp_path / "out/notes.txt").write_text("mine")
    with pytest.raises(DataError, match=r"'notes.txt'"):
        export(source, "wilds", tmp_path / "out", force=True)
    assert (tmp_path / "out/notes.txt").read_text() == "mine"


def test_into_the_current_directory(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    export(source, "wilds", ".")
    assert (tmp_path / "here/metadata.csv").is_file()


def test_a_failed_export_leaves_nothing(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tarfile.TarFile.addfile", full)
    with pytest.raises(DataError, match="No space left"):
        export(source, "webdataset", tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_format(source: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="did you mean 'webdataset'"):
        export(source, "webdatset", tmp_path / "out")


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".hidden", "a..b", "C:x", "a\\b"])
def test_unsafe_names(name: str) -> None:
    with pytest.raises(DataError):
        safe(name)


@pytest.mark.filterwarnings("ignore")
def test_webdataset_reads_ours(source: Path, dataset: Dataset, tmp_path: Path) -> None:
    library = pytest.importorskip("webdataset")
    export(source, "webdataset", tmp_path / "out")
    found = list(library.WebDataset(str(tmp_path / "out/test-000000.tar"), shardshuffle=False).decode("rgb8"))
    assert len(found) == 96
    wanted = dataset.batch("blot", "test")
    assert all((a["png"] == b).all() for a, b in zip(found, wanted, strict=True))
    table = dataset.table("test").to_pylist()
    assert [a["json"] for a in found] == table
    classes = json.loads((tmp_path / "out/classes.json").read_text())["label"]
    assert [classes[a["cls"]] for a in found] == [row["label"] for row in table]
    with tarfile.open(tmp_path / "out/test-000000.tar") as tar:
        assert all((m.mtime, m.uid, m.gid, m.uname) == (0, 0, 0, "") for m in tar)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("by_name", [True, False])
def test_hugging_face_reads_the_folder_typed(source: Path, dataset: Dataset, tmp_path: Path, by_name: bool) -> None:
    library = pytest.importorskip("datasets")
    out = str(tmp_path / "out")
    export(source, "imagefolder", out)
    cache = str(tmp_path / "cache")
    found = (
        library.load_dataset("imagefolder", data_dir=out, cache_dir=cache)
        if by_name
        else library.load_dataset(out, cache_dir=cache)
    )
    features = found["train"].features
    assert features["hue"] == library.ClassLabel(names=["red", "green", "blue"])
    assert features["blot_level"] == library.Value("float32")
    rows = {row["row_id"]: row for row in found["test"]}
    assert sorted(rows) == sorted(dataset.row_ids("test").tolist())
    assert (np.asarray(rows[200]["image"]) == dataset.batch("blot", [200])[0]).all()
    assert features["label"].int2str(rows[200]["label"]) == dataset.row(200)["label"][0].as_py()


def test_torchvision_finds_classes_in_folders(source: Path, dataset: Dataset, tmp_path: Path) -> None:
    export(source, "imagefolder", tmp_path / "out")
    assert sorted(p.name for p in (tmp_path / "out/train").iterdir() if p.is_dir()) == ["heart", "mug", "star"]
    assert len(list((tmp_path / "out/train").rglob("*.png"))) == 144


def test_wilds_layout(source: Path, dataset: Dataset, tmp_path: Path) -> None:
    export(source, "wilds", tmp_path / "out")
    with open(tmp_path / "out/metadata.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    about = json.loads((tmp_path / "out/wilds.json").read_text())
    assert len(rows) == 240
    assert about["split_dict"] == {"train": 0, "test": 2}
    assert about["metadata_fields"] == ["environment", "hue", "background", "y"]
    for row, latent in zip(rows, dataset.table().to_pylist(), strict=True):
        assert int(row["split"]) == about["split_dict"][latent["split"]]
        assert about["metadata_map"]["y"][int(row["y"])] == latent["label"] == row["label_name"]
        assert about["metadata_map"]["hue"][int(row["hue"])] == latent["hue"] == row["hue_name"]
    picture = np.asarray(Image.open(io.BytesIO((tmp_path / "out" / rows[0]["img_filename"]).read_bytes())))
    assert (picture == dataset.batch("blot", [int(rows[0]["img_id"])])[0]).all()


def test_formats_for_pictures_say_so(tmp_path: Path) -> None:
    source = tmp_path / "plain"
    data = world().dump() | {"modalities": [], "channels": {}, "environments": {"strong": {}, "even": {}}}
    build(World.from_dict({k: v for k, v in data.items() if k != "blot"}), source)
    with pytest.raises(DataError, match="no pictures"):
        export(source, "imagefolder", tmp_path / "out")
    assert export(source, "webdataset", tmp_path / "tar").rows == 240


def test_force_keeps_what_was_added_further_down(source: Path, tmp_path: Path) -> None:
    export(source, "wilds", tmp_path / "out")
    (tmp_path / "out/images/thesis.tex").write_text("ten years")
    with pytest.raises(DataError, match=r"'images/thesis.tex'"):
        export(source, "wilds", tmp_path / "out", force=True)
    (tmp_path / "out/images/thesis.tex").unlink()
    (tmp_path / "out/images/mine/deeper").mkdir(parents=True)
    with pytest.raises(DataError, match=r"'images/mine/deeper'"):
        export(source, "wilds", tmp_path / "out", force=True)
    (tmp_path / "out/images/mine/deeper").rmdir()
    (tmp_path / "out/images/mine").rmdir()
    export(source, "wilds", tmp_path / "out", force=True)


def test_a_workshop_that_is_a_link_is_not_followed(source: Path, tmp_path: Path) -> None:
    (tmp_path / "theirs/whole").mkdir(parents=True)
    (tmp_path / "theirs/whole/thesis.tex").write_text("ten years")
    (tmp_path / ".out.exporting").symlink_to(tmp_path / "theirs")
    with pytest.raises(DataError, match="is a link"):
        export(source, "wilds", tmp_path / "out")
    assert (tmp_path / "theirs/whole/thesis.tex").read_text() == "ten years"


@pytest.fixture(scope="module")
def noisy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("noisy") / "data"
    noise = {"label": 0.4, "signal": {"hue": 0.5}, "splits": ["train"]}
    build(World.from_dict(world().dump() | {"noise": noise}), out)
    return out


def test_folders_are_what_a_learner_is_told(noisy: Path, tmp_path: Path) -> None:
    export(noisy, "imagefolder", tmp_path / "out")
    rows = open_dataset(noisy).table("train").to_pylist()
    folders = {int(p.stem): p.parent.name for p in (tmp_path / "out/train").rglob("*.png")}
    assert folders == {row["row_id"]: row["label_annotated"] for row in rows}
    assert folders != {row["row_id"]: row["label"] for row in rows}
    assert "`label_annotated`, which a learner is told" in (tmp_path / "out/README.md").read_text()


def test_cls_is_what_a_learner_is_told(noisy: Path, tmp_path: Path) -> None:
    export(noisy, "webdataset", tmp_path / "out")
    classes = json.loads((tmp_path / "out/classes.json").read_text())["label"]
    with tarfile.open(tmp_path / "out/train-000000.tar") as tar:
        content = {m.name: tar.extractfile(m).read() for m in tar if m.name.endswith((".cls", ".json"))}  # type: ignore[union-attr]
    for row in open_dataset(noisy).table("train").to_pylist():
        assert classes[int(content[f"{row['row_id']:08d}.cls"])] == row["label_annotated"]
        assert json.loads(content[f"{row['row_id']:08d}.json"])["label"] == row["label"]


def test_y_is_what_a_learner_is_told(noisy: Path, tmp_path: Path) -> None:
    export(noisy, "wilds", tmp_path / "out")
    with open(tmp_path / "out/metadata.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    about = json.loads((tmp_path / "out/wilds.json").read_text())
    fields = ["environment", "label", "hue", "background", "label_annotated", "hue_shown"]
    assert about["metadata_fields"] == [*fields, "y"]
    classes = about["metadata_map"]["y"]
    for row, latent in zip(rows, open_dataset(noisy).table().to_pylist(), strict=True):
        assert classes[int(row["y"])] == latent["label_annotated"] == row["label_annotated_name"]
        assert classes[int(row["label"])] == latent["label"] == row["label_name"]
        hues = [*about["metadata_map"]["hue_shown"], None]  # the last one, -1, where nothing else is shown
        assert hues[int(row["hue_shown"])] == latent["hue_shown"]
