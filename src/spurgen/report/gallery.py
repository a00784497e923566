"""Which rows a person should see of a dataset, laid out: a contact sheet, strips of counterfactuals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from spurgen.latents import intervene
from spurgen.latents.traits import column_codes
from spurgen.render import draw
from spurgen.report.sheets import Row, Tile
from spurgen.spec import World

if TYPE_CHECKING:
    import pyarrow as pa

Source = Callable[["pa.Table", str], Any]  # rows of a table as one modality shows them


def contact_rows(table: pa.Table, spec: World, source: Source | None = None, each: int = 4) -> list[Row]:
    """One row per class, with a few tiles from every split: what goes along with the label is seen down a column."""
    label = column_codes(table, "label", spec.classes)
    split = column_codes(table, "split", list(spec.splits))
    picks = np.full((len(spec.classes), len(spec.splits), each), -1)
    for c in range(len(spec.classes)):
        for s in range(len(spec.splits)):
            found = np.flatnonzero((label == c) & (split == s))[:each]
            picks[c, s, : len(found)] = found
    chosen = picks[picks >= 0]
    images, captions = shown(table.take(chosen), spec, source)
    where = {int(row): i for i, row in enumerate(chosen)}
    rows = []
    for c, name in enumerate(spec.classes):
        tiles = [_tile(int(row), where, images, captions) for row in picks[c].reshape(-1)]
        rows.append(Row(tiles, label=name, columns=_columns(spec, each) if c == 0 else ()))
    return rows


def strip_rows(
    table: pa.Table, spec: World, row_id: int, channels: Sequence[str], source: Source | None = None
) -> list[Row]:
    """For each channel: the row with every value, its own marked; the caption below."""
    out = []
    for channel in channels:
        variants = intervene.every_value(table, spec, channel)
        images, captions = shown(variants, spec, source)
        own = table.column(channel)[0].as_py()
        tiles = [
            Tile(
                image=None if images is None else images[i],
                title=value,
                text="" if captions is None else captions[i],
                marked=value == own,
            )
            for i, value in enumerate(spec.values(channel))
        ]
        out.append(Row(tiles, heading=f"{channel}: row {row_id} with every value, nothing else drawn anew"))
    return out


def shown(table: pa.Table, spec: World, source: Source | None = None) -> tuple[Any, list[str] | None]:
    """Pictures and captions of rows, as far as the world has them."""
    source = source or (lambda rows, modality: draw(rows, spec, modality))
    images = source(table, "image") if "image" in spec.modalities else None
    captions = [str(c) for c in texts(source(table, "caption"))] if "caption" in spec.modalities else None
    return images, captions


def texts(batch: Any) -> list[str]:
    """The sentences of a batch of captions."""
    return list(map(str, batch.text))


def _tile(row: int, where: dict[int, int], images: Any, captions: list[str] | None) -> Tile:
    if row < 0:
        return Tile(None)
    at = where[row]
    text = captions[at] if captions is not None and images is None else ""
    return Tile(None if images is None else images[at], text=text)


def _columns(spec: World, each: int) -> list[str]:
    return [f"{name}" if i == 0 else "" for name in spec.splits for i in range(each)]
