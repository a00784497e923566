"""Contact sheets and strips say what they show: labels beside their rows, headings whole, punctuation there."""

import errno
import os

import numpy as np
import pytest
from PIL import Image

from spurgen.errors import SpurgenError
from spurgen.report import sheets
from spurgen.report.sheets import Row, Tile, save, sheet


def inked(page, left=0, right=None):
    """Rows and columns of a page on which something is written."""
    dark = (np.asarray(page.convert("L")) < 200)[:, left:right]
    return np.flatnonzero(dark.any(1)), np.flatnonzero(dark.any(0))


@pytest.mark.parametrize("pictures", [False, True])
def test_labels_stand_beside_their_rows(pictures):
    image = np.full((32, 32, 3), 255, np.uint8) if pictures else None
    pages = [sheet([Row([Tile(image, text="A mug.")], label="mug")] * n) for n in (1, 2, 3)]
    heights = [page.height for page in pages]
    assert heights[2] - heights[1] == heights[1] - heights[0]
    label_px = 30
    for n, page in enumerate(pages, 1):
        rows, _ = inked(page, right=label_px)
        step = heights[1] - heights[0]
        assert set((rows - sheets.GAP_PX) // step) == set(range(n))


def test_headings_fit_whatever_the_number_of_tiles():
    heading = "a channel with two values: row 3 with every value, nothing else drawn anew"
    page = sheet([Row([Tile(np.zeros((8, 8, 3), np.uint8))], heading=heading)])
    wide = sheet([Row([Tile(None)] * 9, heading=heading)])
    assert inked(page)[1].max() < page.width - 4
    assert inked(page)[1].max() == inked(wide)[1].max()


def test_small_letters_keep_their_colons_and_spaces():
    def extent(text):
        columns = inked(sheet([Row([Tile(None, text=text)])], tile_px=300))[1]
        return columns.max() - columns.min()

    assert extent("What a print: a mug") >= extent("What a print a mug") + 2
    assert extent("What a print a mug") >= extent("Whata print a mug") + 2


def test_long_words_stay_in_their_tile():
    page = sheet([Row([Tile(None, title="a_value_with_quite_a_long_name", text="x" * 60), Tile(None)])], tile_px=64)
    assert inked(page)[1].max() <= sheets.GAP_PX + 64


@pytest.mark.parametrize(("name", "form"), [("s.png", "PNG"), ("s.JPG", "JPEG"), ("s.webp", "WEBP")])
def test_the_name_says_the_format(tmp_path, name, form):
    save(sheet([Row([Tile(None, text="a")])]), tmp_path / "new" / name)
    with Image.open(tmp_path / "new" / name) as picture:
        assert picture.format == form


@pytest.mark.parametrize("name", ["s.txt", "s"])
def test_other_names_are_refused(tmp_path, name):
    with pytest.raises(SpurgenError, match="let it end in"):
        save(sheet([Row([Tile(None)])]), tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_full_disk_leaves_what_was_there(tmp_path, monkeypatch):
    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "s.png"
    path.write_bytes(b"before")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SpurgenError, match=r"no space left to write .*s\.png"):
        save(sheet([Row([Tile(None, text="a")])]), path)
    assert [p.name for p in tmp_path.iterdir()] == ["s.png"]
    assert path.read_bytes() == b"before"
