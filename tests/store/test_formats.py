"""Other people's libraries open the shards, the card and the Croissant metadata."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spurgen.store.features import named, stored, to_card, yaml
from spurgen.store.reader import open as open_dataset
from worlds import world

pytestmark = pytest.mark.filterwarnings("ignore")


def test_hugging_face_opens_it_typed(built: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    found = datasets.load_dataset(str(built), cache_dir=str(tmp_path))
    assert {k: len(v) for k, v in found.items()} == {"train": 144, "test": 96}
    features = found["train"].features
    assert features["label"] == datasets.ClassLabel(names=["mug", "heart", "star"])
    assert features["hue"] == datasets.ClassLabel(names=["red", "green", "blue"])
    assert features["row_id"] == datasets.Value("uint64")
    assert isinstance(features["blot"], datasets.Image)
    ours = open_dataset(built)
    row = found["test"][7]
    assert features["label"].int2str(row["label"]) == ours.row(row["row_id"])["label"][0].as_py()
    assert row["blot"].size == (16, 16)


def test_hugging_face_streams_it_typed(built: Path) -> None:
    datasets = pytest.importorskip("datasets")
    found = datasets.load_dataset(str(built), streaming=True, split="train")
    assert found.features["label"].names == ["mug", "heart", "star"]
    assert isinstance(next(iter(found))["label"], int)


def test_duckdb_reads_names(built: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    query = f"select label, count(*) from '{built}/data/*.parquet' group by label order by label"
    assert duckdb.sql(query).fetchall() == [("heart", 80), ("mug", 80), ("star", 80)]


def test_croissant_is_valid_and_reads(built: Path) -> None:
    mlcroissant = pytest.importorskip("mlcroissant")
    found = mlcroissant.Dataset(jsonld=str(built / "croissant.json"))
    assert not found.metadata.ctx.issues.errors
    row = next(iter(found.records("rows")))
    assert row["rows/label"] in (b"mug", b"heart", b"star")
    document = json.loads((built / "croissant.json").read_text())
    assert {"rai:dataBiases", "rai:dataLimitations", "rai:dataUseCases"} <= set(document)
    assert {f["name"]: f["dataType"] for f in document["recordSet"][0]["field"]}["blot"] == "sc:ImageObject"


def test_the_card_says_what_is_in_it(built: Path) -> None:
    text = (built / "README.md").read_text("utf-8")
    for said in ("| strong | aligned p=0.9 | uniform |", "mug → red", "| train | 144 | strong |", "cc0-1.0"):
        assert said in text
    assert open_dataset(built).digest in text


def test_features_are_written_as_datasets_does() -> None:
    datasets = pytest.importorskip("datasets")
    plain = {
        "a": {"_type": "Value", "dtype": "int32"},
        "b": {"_type": "ClassLabel", "names": ["x", "it's: yes"]},
        "c": {"_type": "Image"},
        "d": {"_type": "Audio", "sampling_rate": 16000},
        "e": {"_type": "List", "feature": {"_type": "Value", "dtype": "float32"}},
        "f": {"_type": "List", "feature": {"start": {"_type": "Value", "dtype": "int32"}, "s": {"_type": "Image"}}},
        "g": {"_type": "List", "feature": {"_type": "List", "feature": {"_type": "Value", "dtype": "int8"}}},
        "h": {"u": {"_type": "Value", "dtype": "string"}},
    }
    import yaml as library

    read = library.safe_load(yaml({"features": to_card(plain)}))["features"]
    assert datasets.Features._from_yaml_list(read) == datasets.Features.from_dict(plain)


def test_names_to_text_and_back() -> None:
    from spurgen.latents.sample import Plan

    plan = Plan(world())
    table = plan.table([5, 6, 7])
    assert named(stored(table), plan.features).combine_chunks().equals(table)
