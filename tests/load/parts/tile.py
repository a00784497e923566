"""Small pictures for tests: the upper half shows hue and label, the lower half the background, noise all over."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from PIL import Image
from pydantic import BaseModel

from spurgen import seeds
from spurgen.parts import Choice, Modality, Rows, Trait, Uniform


class Options(BaseModel):
    size_px: int = 8


TEXTURES = ("stripes", "dots", "grid", "waves")
TRAITS = (
    Trait("hue_degrees", Uniform(0, 360), "shade", bounds=(-360, 720)),
    Trait("background_texture", Choice(TEXTURES), "lower half", names=TEXTURES),
    Trait("tile_level", Uniform(0, 1), "brightness"),
)


def draw(rows: Rows, options: Options, device: str = "cpu", workers: int | None = None) -> Any:
    side = options.size_px
    words = np.arange(side * side * 3, dtype=np.uint64) % np.uint64(56)
    noise = (seeds.bits(0, "tile", rows.row_id)[:, None] >> words).astype(np.uint8) >> 3
    picture = noise.reshape(-1, side, side, 3)
    upper = rows.label * 40 + rows.traits["hue_degrees"].astype(np.int64) // 4
    lower = rows.traits["background_texture"].codes * 30 + (rows.traits["tile_level"] * 20).astype(np.int64)
    picture[:, : side // 2] += upper.astype(np.uint8)[:, None, None, None]
    picture[:, side // 2 :] += lower.astype(np.uint8)[:, None, None, None]
    return picture


def encode(batch: Any) -> Any:
    import pyarrow as pa

    files = []
    for picture in batch:
        file = io.BytesIO()
        Image.fromarray(picture).save(file, "png", compress_level=1)
        files.append({"bytes": file.getvalue(), "path": None})
    return {"tile": pa.array(files, pa.struct([("bytes", pa.binary()), ("path", pa.string())]))}


def decode(columns: Any) -> Any:
    return np.stack([np.asarray(Image.open(io.BytesIO(f["bytes"]))) for f in columns["tile"].to_pylist()])


MODALITY = Modality(
    name="tile",
    about="coloured noise",
    version=1,
    traits=TRAITS,
    options=Options,
    columns={"tile": {"_type": "Image"}},
    draw=draw,
    encode=encode,
    decode=decode,
    content=lambda batch, i: batch[i].tobytes(),
)
