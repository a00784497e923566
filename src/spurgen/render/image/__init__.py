"""The image modality: what pictures show (traits), how they are asked for (options), drawn and stored.

Importing this module is cheap. An engine is a sub-package with a `draw` of its own; engine and encoder are imported
when they are first used.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from spurgen.errors import unknown
from spurgen.parts import Modality, Rows
from spurgen.render.image.traits import TRAITS

if TYPE_CHECKING:
    import pyarrow as pa


def engines() -> list[str]:
    """Names of the ways of drawing a picture."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if module.ispkg)


class Options(BaseModel):
    """How pictures are drawn."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    size_px: int = Field(64, ge=32, le=512, description="Height and width of every picture, in pixels.")
    engine: str = Field(
        "sdf",
        description="Which engine draws: `sdf` is the exact and fast built-in ray marcher.",
    )

    @field_validator("engine")
    @classmethod
    def _known(cls, engine: str) -> str:
        if engine not in engines():
            raise ValueError(unknown("image engine", engine, engines()))
        return engine


def draw(
    rows: Rows,
    options: Options | None = None,
    device: str = "cpu",
    workers: int | None = None,
    truth: bool = False,
) -> Any:
    """Pictures of the rows: uint8 (rows, height, width, 3), or a `Picture` with masks, boxes and depth.

    On "cpu" an array, the same bytes for any number of workers; on "cuda" a torch tensor that stays on the GPU.
    """
    options = options or Options()
    engine = importlib.import_module(f"{__name__}.{options.engine}")
    return engine.draw(rows, options, device=device, workers=workers, truth=truth)


def encode(batch: Any, workers: int | None = None) -> Mapping[str, pa.Array]:
    """Lossless PNG files in the struct that Hugging Face reads as images."""
    import pyarrow as pa

    from spurgen.render.image import png

    files = pa.array(png.encode(batch, workers), pa.binary())
    return {"image": pa.StructArray.from_arrays([files, pa.nulls(len(files), pa.string())], ["bytes", "path"])}


def decode(columns: Mapping[str, pa.Array]) -> Any:
    """The array that was encoded."""
    from spurgen.render.image import png

    return png.decode(columns["image"].field("bytes"))


def content(batch: Any, i: int) -> bytes:
    """The bytes of one picture that digests are made of: its pixels, not its file."""
    return bytes(batch[i].tobytes())


MODALITY = Modality(
    name="image",
    about="a picture of the object before a wall, drawn by ray marching",
    version=1,
    traits=TRAITS,
    options=Options,
    columns={"image": {"_type": "Image"}},
    draw=draw,
    encode=encode,
    decode=decode,
    content=content,
)
