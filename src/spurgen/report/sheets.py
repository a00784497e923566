"""Pictures of pictures: a contact sheet of a dataset, and strips of one row with every value of a channel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spurgen.errors import SpurgenError
from spurgen.store import atomic

if TYPE_CHECKING:
    from PIL import Image

INK, FAINT, PAPER, ACCENT = (28, 30, 38), (110, 115, 130), (255, 255, 255), (214, 80, 34)
GAP_PX = 8
TITLE, LABEL, TEXT = 18, 14, 12  # sizes of letters
LINE_PX = 15
FINE = 4  # how much larger letters are drawn than they are shown
FORMATS = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".webp": "WEBP"}


@dataclass(frozen=True)
class Tile:
    """One picture with what stands under it; a tile without a picture holds text alone."""

    image: NDArray[np.uint8] | None
    title: str = ""
    text: str = ""
    marked: bool = False


@dataclass(frozen=True)
class Row:
    """Tiles side by side, with a heading above and a label at the left."""

    tiles: Sequence[Tile]
    heading: str = ""
    label: str = ""
    columns: Sequence[str] = field(default_factory=tuple)


def sheet(rows: Sequence[Row], title: str = "", tile_px: int = 112) -> Image.Image:
    """All rows on one page. Small pictures are enlarged by whole factors, so that pixels stay pixels."""
    from PIL import Image

    labels = [_width(row.label, LABEL) for row in rows if row.label]
    label_px = max(labels) + 12 if labels else 0
    widest = max((len(r.tiles) for r in rows), default=1)
    headings = [_width(row.heading, LABEL) for row in rows]
    width = max(label_px + widest * (tile_px + GAP_PX), _width(title, TITLE), *headings) + 2 * GAP_PX
    heights = [_row_height(row, tile_px) for row in rows]
    top = GAP_PX + (30 if title else 0)
    page = Image.new("RGB", (width, top + sum(heights) + GAP_PX), PAPER)
    _write(page, (GAP_PX, GAP_PX), title, INK, TITLE)
    for row, height in zip(rows, heights, strict=True):
        _draw_row(page, row, top, label_px, tile_px)
        top += height
    return page


def format_of(path: str | Path) -> str:
    """The format that a file's name ends in; asked before anything is drawn."""
    form = FORMATS.get(Path(path).suffix.lower())
    if form is None:
        raise SpurgenError(f"{path} does not say which kind of picture it is; let it end in {', '.join(FORMATS)}")
    return form


def save(page: Image.Image, path: str | Path) -> None:
    """Write a page in the format that its name ends in, in one step; what cannot be written is one sentence."""
    target = Path(path)
    content = BytesIO()
    page.save(content, format_of(target))
    with atomic.explained(target):
        target.parent.mkdir(parents=True, exist_ok=True)
    atomic.write(target, content.getvalue())


def _draw_row(page: Image.Image, row: Row, top: int, label_px: int, tile_px: int) -> None:
    from PIL import ImageDraw

    if row.heading:
        _write(page, (GAP_PX, top + 2), row.heading, INK, LABEL)
        top += 24
    lefts = [GAP_PX + label_px + i * (tile_px + GAP_PX) for i in range(max(len(row.tiles), len(row.columns)))]
    if row.columns:
        for left, name in zip(lefts, row.columns, strict=False):
            _write(page, (left, top), name, FAINT, TEXT)
        top += 18
    if row.label:
        _write(page, (GAP_PX, top + (tile_px // 2 - 9 if _pictures(row) else 0)), row.label, INK, LABEL)
    for left, tile in zip(lefts, row.tiles, strict=False):
        below = top
        if tile.image is not None:
            page.paste(_fitted(tile.image, tile_px), (left, top))
            below += tile_px + 3
            if tile.marked:
                frame = (left - 3, top - 3, left + tile_px + 2, top + tile_px + 2)
                ImageDraw.Draw(page).rectangle(frame, outline=ACCENT, width=3)
        for line in _wrapped(tile.title, tile_px):
            _write(page, (left, below), line, ACCENT if tile.marked else INK, TEXT)
            below += LINE_PX
        for line in _wrapped(tile.text, tile_px):
            _write(page, (left, below), line, FAINT, TEXT)
            below += LINE_PX


def _row_height(row: Row, tile_px: int) -> int:
    lines = max((len(_wrapped(t.title, tile_px)) + len(_wrapped(t.text, tile_px)) for t in row.tiles), default=0)
    body = max((tile_px + 3 if _pictures(row) else 0) + lines * LINE_PX, 20 if row.label else 0)
    return (24 if row.heading else 0) + (18 if row.columns else 0) + body + GAP_PX


def _pictures(row: Row) -> bool:
    return any(tile.image is not None for tile in row.tiles)


def _fitted(image: NDArray[np.uint8], tile_px: int) -> Image.Image:
    from PIL import Image

    picture = Image.fromarray(image)
    factor = tile_px // max(picture.size)
    if factor >= 1:
        grown = picture.resize((picture.width * factor, picture.height * factor), Image.Resampling.NEAREST)
        if grown.size == (tile_px, tile_px):
            return grown
    return picture.resize((tile_px, tile_px), Image.Resampling.LANCZOS)


def _wrapped(text: str, width_px: int) -> list[str]:
    """Text in lines of at most this width; words that are wider are broken."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and _width(longer, TEXT) <= width_px:
            lines[-1] = longer
            continue
        while _width(word, TEXT) > width_px and len(word) > 1:
            fits = max(n for n in range(1, len(word)) if n == 1 or _width(word[:n], TEXT) <= width_px)
            lines.append(word[:fits])
            word = word[fits:]
        lines.append(word)
    return lines


def _write(page: Image.Image, at: tuple[int, int], text: str, ink: tuple[int, int, int], size: int) -> None:
    """Text drawn large and made small: at its own size the font rounds narrow letters and colons away."""
    from PIL import Image, ImageDraw

    if not text:
        return
    width, height = _width(text, size) + 2, size + 6
    large = Image.new("L", (width * FINE, height * FINE))
    ImageDraw.Draw(large).text((0, 0), text, 255, _font(size))
    page.paste(ink, (*at, at[0] + width, at[1] + height), large.resize((width, height), Image.Resampling.BOX))


def _width(text: str, size: int) -> int:
    return int(_font(size).getlength(text) / FINE) + 1 if text else 0


@cache
def _font(size: int) -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(size * FINE)
