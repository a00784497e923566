"""From traits to the numbers the kernel reads: cameras, turns, colours, materials. One row of float32 per picture."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spurgen.render.image import traits as names
from spurgen.render.image.sdf import layout as at
from spurgen.render.image.sdf.columns import ANGLES, SINES, Traits, gather, of
from spurgen.render.image.sdf.compiling import compiled, row, source_digest
from spurgen.render.image.sdf.hulls import HULLS, bounds, reach
from spurgen.render.image.sdf.packing import PLASTIC, pack_picture
from spurgen.render.image.sdf.trigonometry import cos_sin

# ambient, diffuse, specular, squarings (the highlight is cos ** (2 ** squarings)), tint, rim, mirror, glow
MATERIALS: dict[str, tuple[float, ...]] = {
    "matte": (0.36, 0.78, 0.0, 0, 0.0, 0.0, 0.0, 0.0),
    "plastic": (0.32, 0.72, 0.3, 5, 0.0, 0.0, 0.0, 0.0),
    "glossy": (0.28, 0.62, 0.95, 8, 0.0, 0.12, 0.16, 0.0),
    "metal": (0.1, 0.3, 0.9, 5, 0.8, 0.0, 1.15, 0.0),
    "velvet": (0.16, 0.34, 0.0, 0, 0.0, 1.3, 0.0, 0.0),
    "glowing": (0.3, 0.22, 0.0, 0, 0.0, 0.5, 0.0, 0.62),
}
FLOOR_COLOURS = {  # bright and dark, display levels
    "none": ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    "wood": ((0.82, 0.62, 0.42), (0.38, 0.23, 0.13)),
    "tiles": ((0.93, 0.93, 0.9), (0.36, 0.4, 0.45)),
    "concrete": ((0.78, 0.77, 0.75), (0.52, 0.52, 0.53)),
    "carpet": ((0.9, 0.8, 0.66), (0.5, 0.13, 0.16)),
}
SIGNATURE = f"void(float64[:, ::1], float32[:, ::1]{', float64[:, ::1]' * 4})"


@cache
def tables() -> tuple[NDArray[np.float64], ...]:
    """What packing looks up: the balls of all hulls, shapes, the linear colours of floors, materials."""
    ends = np.cumsum([len(HULLS[name]) for name in names.SHAPES])
    shapes = [
        (end - len(HULLS[name]), end, reach(name) + 0.01, *bounds(name))
        for name, end in zip(names.SHAPES, ends, strict=True)
    ]
    levels = np.array([FLOOR_COLOURS[name] for name in names.FLOORS]).reshape(-1, 6)
    return (
        np.concatenate([HULLS[name] for name in names.SHAPES]),
        np.array(shapes),
        levels * levels,
        np.array([MATERIALS[name] for name in names.MATERIALS]),
    )


def _rows(digest: str) -> Callable[..., None]:
    def pack_rows(numbers, out, balls, shapes, floors, materials):  # type: ignore[no-untyped-def]
        _ = digest
        for j in range(ANGLES):  # all of an angle's at once: such loops are compiled to several at a time
            cosines, sines = numbers[j], numbers[SINES + j]
            for i in range(len(out)):
                cosines[i], sines[i] = cos_sin(cosines[i])
        own = np.empty((1, len(numbers)))
        t = row(own, 0)
        for i in range(len(out)):
            for j in range(len(numbers)):
                own[0, j] = numbers[j, i]
            shape, companion = row(shapes, int(t[of.shape])), row(shapes, max(int(t[of.companion]), 0))
            floor, material = row(floors, int(t[of.floor])), row(materials, int(t[of.material]))
            pack_picture(t, row(out, i), row(balls, 0), shape, companion, floor, material, row(materials, PLASTIC))

    return pack_rows


@cache
def packer() -> Any:
    """The compiled driver."""
    return compiled(SIGNATURE, _rows(source_digest()))


def pack(traits: Traits, out: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
    """One row of parameters per picture, written to `out` where that is given; `layout` says what stands where."""
    if out is None:
        out = np.empty((len(traits["pose_yaw_degrees"]), at.PARAMETERS), np.float32)
    packer()(gather(traits), out, *tables())
    return out
