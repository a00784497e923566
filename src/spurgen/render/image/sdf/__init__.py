"""The built-in engine: signed-distance shapes, marched by one compiled function, exact to the last bit."""

from __future__ import annotations

from typing import Any

from spurgen.errors import SpurgenError
from spurgen.parts import Rows
from spurgen.render.image.picture import Picture, boxes


def draw(rows: Rows, options: Any, device: str = "cpu", workers: int | None = None, truth: bool = False) -> Any:
    """Pictures of the rows; see `spurgen.render.image.draw`."""
    if device.split(":")[0] == "cuda":
        from spurgen.render.image.sdf.cuda import draw as draw_on_gpu

        return draw_on_gpu(rows.traits, options.size_px, device, truth)
    if device != "cpu":
        raise SpurgenError(f"pictures cannot be drawn on {device!r}; the device is 'cpu' or 'cuda'")
    from spurgen.render.image.sdf import cpu

    image, mask, second, depth = cpu.draw_rows(rows.traits, options.size_px, workers, truth)
    return Picture(image, mask, second, boxes(mask), boxes(second), depth) if truth else image
