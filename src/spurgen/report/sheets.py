"""Pictures of pictures: a contact sheet of a dataset, and strips of one row with every value of a channel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from PIL import Image, ImageDraw

INK, FAINT, PAPER, ACCENT = (28, 30, 38), (110, 115, 130), (255, 255, 255), (214, 80, 34)
GAP_PX = 8


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
    from PIL import Image, ImageDraw

    label_px = max((_width(r.label, 14) for r in rows if r.label), default=0) + (
        12 if any(r.label for r in rows) else 0
    )
    widest = max((len(r.tiles) for r in rows), default=1)
    probe = ImageDraw.Draw(Image.new("RGB", (1, 1)))
    width = max(2 * GAP_PX + label_px + widest * (tile_px + GAP_PX), _width(title, 18) + 2 * GAP_PX)
    heights = [_row_height(probe, row, tile_px) for row in rows]
    top = GAP_PX + (30 if title else 0)
    page = Image.new("RGB", (width, top + sum(heights) + GAP_PX), PAPER)
    draw = ImageDraw.Draw(page)
    if title:
        draw.text((GAP_PX, GAP_PX), title, INK, _font(18))
    for row, height in zip(rows, heights, strict=True):
        _draw_row(page, draw, row, top, label_px, tile_px)
        top += height
    return page


def save(page: Image.Image, path: Any) -> None:
    """Write a page as PNG; a path that cannot be written is one sentence."""
    from pathlib import Path

    from spurgen.errors import SpurgenError

    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        page.save(path, "PNG")
    except OSError as error:
        raise SpurgenError(f"cannot write {path}: {error.strerror or error}") from None


def _draw_row(page: Image.Image, draw: ImageDraw.ImageDraw, row: Row, top: int, label_px: int, tile_px: int) -> None:
    if row.heading:
        draw.text((GAP_PX, top + 2), row.heading, INK, _font(14))
        top += 24
    if row.columns:
        for i, name in enumerate(row.columns):
            draw.text((GAP_PX + label_px + i * (tile_px + GAP_PX), top), name, FAINT, _font(12))
        top += 18
    if row.label:
        draw.text((GAP_PX, top + tile_px // 2 - 9), row.label, INK, _font(14))
    for i, tile in enumerate(row.tiles):
        left = GAP_PX + label_px + i * (tile_px + GAP_PX)
        below = top
        if tile.image is not None:
            page.paste(_fitted(tile.image, tile_px), (left, top))
            below += tile_px + 3
            if tile.marked:
                draw.rectangle((left - 3, top - 3, left + tile_px + 2, top + tile_px + 2), outline=ACCENT, width=3)
        if tile.title:
            draw.text((left, below), tile.title, ACCENT if tile.marked else INK, _font(12))
            below += 16
        for line in _wrapped(draw, tile.text, tile_px, 10):
            draw.text((left, below), line, FAINT, _font(10))
            below += 13


def _row_height(draw: ImageDraw.ImageDraw, row: Row, tile_px: int) -> int:
    text = max((len(_wrapped(draw, t.text, tile_px, 10)) for t in row.tiles), default=0)
    picture = tile_px + 3 if any(t.image is not None for t in row.tiles) else 0
    titles = 16 if any(t.title for t in row.tiles) else 0
    return (24 if row.heading else 0) + (18 if row.columns else 0) + picture + titles + 13 * text + GAP_PX


def _fitted(image: NDArray[np.uint8], tile_px: int) -> Image.Image:
    from PIL import Image

    picture = Image.fromarray(image)
    factor = tile_px // max(picture.size)
    if factor >= 1:
        grown = picture.resize((picture.width * factor, picture.height * factor), Image.Resampling.NEAREST)
        if grown.size == (tile_px, tile_px):
            return grown
    return picture.resize((tile_px, tile_px), Image.Resampling.LANCZOS)


def _wrapped(draw: ImageDraw.ImageDraw, text: str, width_px: int, size: int) -> list[str]:
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and draw.textlength(longer, _font(size)) <= width_px:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _width(text: str, size: int) -> int:
    return int(_font(size).getlength(text)) + 1 if text else 0


def _font(size: int) -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(size)
