"""The card and the Croissant metadata say what is true of the dataset, noise included."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from spurgen.spec import World
from spurgen.store import card, digests, manifest
from spurgen.store.writer import build
from worlds import world

NOISE = {"core": 0.1, "label": 0.25, "signal": {"hue": 0.2}, "annotation": {"background": 0.125}, "splits": ["train"]}


@pytest.fixture(scope="module")
def noisy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("noisy") / "data"
    build(World.from_dict(world().dump() | {"noise": NOISE, "id": "store-test/v12"}), out)
    return out


def test_the_card_tells_of_noise(noisy: Path) -> None:
    text = (noisy / "README.md").read_text("utf-8")
    for said in (
        "### Noise",
        "in these splits: train",
        "| the object is that of a class drawn at random | 0.1 | `label_shown` |",
        "| the label that a learner is told is a wrong one | 0.25 | `label_annotated` |",
        "| the hue that is shown is that of a hue drawn at random | 0.2 | `hue_shown` |",
        "| the background that a learner is told is a wrong one | 0.125 | `background_annotated` |",
        "Cells of `label_shown`, `hue_shown` are empty",
    ):
        assert said in text
    assert "Nothing is missing" not in text


def test_every_column_is_explained(noisy: Path, built: Path) -> None:
    for directory in (noisy, built):
        text = (directory / "README.md").read_text("utf-8")
        rows = text.split("### Columns")[1].split("###")[0].strip().splitlines()[2:]
        silent = [row for row in rows if row.split("|")[3].strip() == "" and "blot" not in row]
        assert not silent
    assert "Nothing is missing" in (built / "README.md").read_text("utf-8")
    assert "### Noise" not in (built / "README.md").read_text("utf-8")


def test_croissant_tells_of_noise(noisy: Path, built: Path) -> None:
    found, plain = (json.loads((d / "croissant.json").read_text("utf-8")) for d in (noisy, built))
    assert "label_annotated, background_annotated: simulated annotations" in found["rai:dataAnnotationProtocol"]
    assert plain["rai:dataAnnotationProtocol"].endswith("not annotations.")


def test_croissant_has_the_version_of_the_spec(noisy: Path, built: Path) -> None:
    versions = [json.loads((d / "croissant.json").read_text("utf-8"))["version"] for d in (noisy, built)]
    assert versions == ["12.0.0", "1.0.0"]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (1, "n<1K"),
        (999, "n<1K"),
        (1000, "1K<n<10K"),
        (20_000, "10K<n<100K"),
        (999_999, "100K<n<1M"),
        (10**6, "1M<n<10M"),
        (10**7, "10M<n<100M"),
        (5 * 10**8, "100M<n<1B"),
        (10**9, "1B<n<10B"),
        (2 * 10**11, "100B<n<1T"),
        (2**40, "n>1T"),
    ],
)
def test_sizes_are_those_hugging_face_knows(rows: int, said: str) -> None:
    assert card._size(rows) == said


def test_digests_are_what_they_are_called() -> None:
    """SHA-256 of the id in eight bytes, low byte first, and of the content; sums modulo 2**256."""
    found = digests.of_rows(np.array([1, 258], np.uint64), lambda i: [b"a", b"bc"][i])
    wanted = [b"\x01" + bytes(7) + b"a", b"\x02\x01" + bytes(6) + b"bc"]
    assert [digests.to_hex(n) for n in found] == [hashlib.sha256(w).hexdigest() for w in wanted]
    assert digests.add([2**256 - 1, 3]) == 2


def test_the_card_says_which_files_have_hashes(built: Path) -> None:
    hashed = {*manifest.load(built).files, *(record.file for record in manifest.load(built).shards)}
    files = {path.relative_to(built).as_posix() for path in built.rglob("*") if path.is_file()}
    assert files - hashed == {"README.md", "manifest.json"}
    assert "Hashes of every file but this one stand in `manifest.json`" in (built / "README.md").read_text()
