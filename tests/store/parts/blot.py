"""A modality for tests: small pictures made with numpy alone, quick to draw and lossless."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from PIL import Image
from pydantic import BaseModel

from spurgen import seeds
from spurgen.parts import Choice, Modality, Rows, Trait, Uniform


class Options(BaseModel):
    size_px: int = 16


TRAITS = (
    Trait("hue_degrees", Uniform(0, 360), "shade", bounds=(-360, 720)),
    Trait("background_texture", Choice(("stripes", "dots", "grid")), "offset", names=("stripes", "dots", "grid")),
    Trait("blot_level", Uniform(0, 1), "strength"),
)


def draw(rows: Rows, options: Options, device: str = "cpu", workers: int | None = None) -> Any:
    pixels = np.arange(options.size_px**2 * 3, dtype=np.uint64)
    bits = seeds.bits(0, "blot", rows.row_id)[:, None] >> (pixels % np.uint64(56))[None]
    shown = (
        rows.label * 16 + rows.traits["hue_degrees"].astype(np.int32) // 3 + rows.traits["background_texture"].codes * 5
    )
    shade = (bits.astype(np.uint8) >> 3) + shown.astype(np.uint8)[:, None]
    return shade.reshape(-1, options.size_px, options.size_px, 3)


def encode(batch: Any) -> Any:
    import pyarrow as pa

    files = []
    for picture in batch:
        file = io.BytesIO()
        Image.fromarray(picture).save(file, "png", compress_level=1)
        files.append({"bytes": file.getvalue(), "path": None})
    return {"blot": pa.array(files, pa.struct([("bytes", pa.binary()), ("path", pa.string())]))}


def decode(columns: Any) -> Any:
    return np.stack([np.asarray(Image.open(io.BytesIO(f["bytes"]))) for f in columns["blot"].to_pylist()])


MODALITY = Modality(
    name="blot",
    about="noise",
    version=1,
    traits=TRAITS,
    options=Options,
    columns={"blot": {"_type": "Image"}},
    draw=draw,
    encode=encode,
    decode=decode,
    content=lambda batch, i: batch[i].tobytes(),
)
