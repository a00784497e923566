"""A real preset, pictures and captions together, goes the whole way."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from spurgen.export import export
from spurgen.render import draw
from spurgen.spec import load
from spurgen.store.reader import open as open_dataset
from spurgen.store.verify import verify
from spurgen.store.writer import build


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("quick") / "data"
    build(load("quick/v1"), out, rows=400)
    return out


def test_it_holds_what_its_spec_draws(quick: Path) -> None:
    assert verify(quick) == []
    ds = open_dataset(quick)
    table = ds.table("test")
    assert np.array_equal(ds.batch("image", "test"), draw(table, ds.spec, "image"))
    wanted, found = draw(table, ds.spec, "caption"), ds.batch("caption", "test")
    assert [wanted[i : i + 1].text.to_pylist() for i in range(9)] == [
        found[i : i + 1].text.to_pylist() for i in range(9)
    ]


@pytest.mark.filterwarnings("ignore")
def test_hugging_face_opens_pictures_and_captions(quick: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    found = datasets.load_dataset(str(quick), split="train", cache_dir=str(tmp_path))
    row = found[3]
    assert row["image"].size == (64, 64)
    assert found.features["label"].names == load("quick/v1").classes
    for span in row["caption_spans"]:
        assert row["caption"][span["start"] : span["end"]]


@pytest.mark.parametrize("to", ["imagefolder", "webdataset", "wilds"])
def test_it_exports(quick: Path, tmp_path: Path, to: str) -> None:
    assert export(quick, to, tmp_path / "out").rows == 400
