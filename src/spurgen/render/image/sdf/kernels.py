"""The CUDA kernels: the same scene functions, one pixel in each thread."""

from __future__ import annotations

import numba
from numba import cuda

from spurgen.render.image.sdf import layout as at
from spurgen.render.image.sdf.blur import weigh, weigh_mask
from spurgen.render.image.sdf.overlay import coat, to_level, to_mask, uncoated
from spurgen.render.image.sdf.scene import trace

WIDE, HIGH = BLOCK = (16, 32)
BLUR = 2


def draw_pixel(parameters, out, masks, seconds, depths, truth):  # type: ignore[no-untyped-def]
    """One pixel: block x is the picture, block y its tile."""
    n = cuda.blockIdx.x
    size = out.shape[1]
    across = (size + WIDE - 1) // WIDE
    x = cuda.blockIdx.y % across * WIDE + cuda.threadIdx.x
    y = cuda.blockIdx.y // across * HIGH + cuda.threadIdx.y
    if x < size and y < size:
        p = parameters[n]
        px, py, edge = numba.float32(x), numba.float32(y), numba.float32(size)
        red, green, blue, first, second, depth = trace(p, px, py, edge)
        red, green, blue = coat(p, px, py, edge, red, green, blue)
        out[n, y, x, 0] = numba.uint8(to_level(red))
        out[n, y, x, 1] = numba.uint8(to_level(green))
        out[n, y, x, 2] = numba.uint8(to_level(blue))
        if truth:
            stays = uncoated(p, px, py, edge)
            masks[n, y, x, 0] = numba.uint8(to_mask(first * stays))
            seconds[n, y, x, 0] = numba.uint8(to_mask(second * stays))
            depths[n, y, x] = depth


def blur_pixel(parameters, before, after, step, upright, strict):  # type: ignore[no-untyped-def]
    """One pass of the blur, along rows or (upright) columns, for the pictures that ask for it."""
    n = cuda.blockIdx.x
    size = before.shape[1]
    across = (size + WIDE - 1) // WIDE
    x = cuda.blockIdx.y % across * WIDE + cuda.threadIdx.x
    y = cuda.blockIdx.y // across * HIGH + cuda.threadIdx.y
    if x < size and y < size and parameters[n, at.SENSOR] == BLUR:
        down, right = (step, 0) if upright else (0, step)
        y0, y1 = max(y - down, 0), min(y + down, size - 1)
        x0, x1 = max(x - right, 0), min(x + right, size - 1)
        for channel in range(before.shape[3]):
            a, b, c = before[n, y0, x0, channel], before[n, y, x, channel], before[n, y1, x1, channel]
            after[n, y, x, channel] = weigh_mask(a, b, c) if strict else weigh(a, b, c)


DRAW_SIGNATURE = (
    "void(float32[:, ::1], uint8[:, :, :, ::1], uint8[:, :, :, ::1], uint8[:, :, :, ::1], float32[:, :, ::1], boolean)"
)
BLUR_SIGNATURE = "void(float32[:, ::1], uint8[:, :, :, ::1], uint8[:, :, :, ::1], int64, boolean, boolean)"
