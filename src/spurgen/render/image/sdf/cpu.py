"""Drawing on CPUs: tiles of rays through a compiled function that holds no lock, slices of rows on threads."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from spurgen.render.image.sdf import layout as at
from spurgen.render.image.sdf.arithmetic import EXACT
from spurgen.render.image.sdf.blur import blur_colours, blur_masks
from spurgen.render.image.sdf.columns import Traits, cut
from spurgen.render.image.sdf.compiling import compiled, source_digest
from spurgen.render.image.sdf.lanes import (
    TILE_H,
    TILE_W,
    store_bytes,
    store_colours,
    store_floats,
    tile_columns,
    tile_rows,
)  # fmt: skip
from spurgen.render.image.sdf.overlay import coat, to_level, to_mask, uncoated
from spurgen.render.image.sdf.params import pack
from spurgen.render.image.sdf.scene import trace

BLUR = 2  # the code of the sensor that is out of focus
SLICE_PX = 4 << 20  # a slice of rows takes a thread some tens of milliseconds


@numba.njit(nogil=True, **EXACT)
def draw_tiles(p, out, masks, seconds, depths, size, truth):
    """One picture. The last tiles of a row and column overlap their neighbours where size is not a multiple."""
    edge = numba.float32(size)
    for row in range(0, size, TILE_H):
        for column in range(0, size, TILE_W):
            x = min(column, size - TILE_W)
            y = min(row, size - TILE_H)
            px = numba.float32(x) + tile_columns()
            py = numba.float32(y) + tile_rows()
            red, green, blue, first, second, depth = trace(p, px, py, edge)
            red, green, blue = coat(p, px, py, edge, red, green, blue)
            first_pixel = y * size + x
            store_colours(out, first_pixel * 3, size * 3, to_level(red), to_level(green), to_level(blue))
            if truth:
                stays = uncoated(p, px, py, edge)
                store_bytes(masks, first_pixel, size, to_mask(first * stays))
                store_bytes(seconds, first_pixel, size, to_mask(second * stays))
                store_floats(depths, first_pixel, size, depth)


@numba.njit(nogil=True, **EXACT)
def draw_pixels(p, out, masks, seconds, depths, size, truth):
    """One picture, pixel by pixel with plain numbers: what draw_tiles is compared to."""
    edge = numba.float32(size)
    for y in range(size):
        for x in range(size):
            px, py = numba.float32(x), numba.float32(y)
            red, green, blue, first, second, depth = trace(p, px, py, edge)
            red, green, blue = coat(p, px, py, edge, red, green, blue)
            i = y * size + x
            out[i * 3] = numba.uint8(to_level(red))
            out[i * 3 + 1] = numba.uint8(to_level(green))
            out[i * 3 + 2] = numba.uint8(to_level(blue))
            if truth:
                stays = uncoated(p, px, py, edge)
                masks[i] = numba.uint8(to_mask(first * stays))
                seconds[i] = numba.uint8(to_mask(second * stays))
                depths[i] = depth


SIGNATURE = "void(float32[:, ::1], uint8[:, ::1], uint8[:, ::1], uint8[:, ::1], float32[:, ::1], int64, boolean)"


@numba.njit(nogil=True, **EXACT)
def defocus(p, out, masks, seconds, size, truth):
    """The sensor's blur, where the picture asks for it."""
    if p[at.SENSOR] == BLUR:
        blur_colours(out, size, 3)
        if truth:
            blur_masks(masks, size, 1)
            blur_masks(seconds, size, 1)


def _tiles(digest: str) -> Callable[..., None]:
    def draw_rows(parameters, out, masks, seconds, depths, size, truth):  # type: ignore[no-untyped-def]
        _ = digest
        for i in range(len(parameters)):
            j = i if truth else 0
            draw_tiles(parameters[i], out[i], masks[j], seconds[j], depths[j], size, truth)
            defocus(parameters[i], out[i], masks[j], seconds[j], size, truth)

    return draw_rows


def _pixels(digest: str) -> Callable[..., None]:
    def draw_rows_reference(parameters, out, masks, seconds, depths, size, truth):  # type: ignore[no-untyped-def]
        _ = digest
        for i in range(len(parameters)):
            j = i if truth else 0
            draw_pixels(parameters[i], out[i], masks[j], seconds[j], depths[j], size, truth)
            defocus(parameters[i], out[i], masks[j], seconds[j], size, truth)

    return draw_rows_reference


@cache
def kernel() -> Any:
    """The compiled driver."""
    return compiled(SIGNATURE, _tiles(source_digest()))


@cache
def reference() -> Any:
    """The same scene with plain numbers in place of Lanes, for tests."""
    return compiled(SIGNATURE, _pixels(source_digest()))


def worker_count() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def draw_rows(
    traits: Traits, size: int, workers: int | None, truth: bool, compiled: Any = None
) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint8], NDArray[np.float32]]:
    """(pictures, masks, companion's masks, depths); all but the pictures are empty unless truth is asked for."""
    compiled = compiled or kernel()
    n = len(traits["pose_yaw_degrees"])
    known = n if truth else 0
    out = np.empty((n, size * size * 3), np.uint8)
    masks, seconds = np.empty((2, max(known, 1), size * size if truth else 1), np.uint8)
    depths = np.empty((max(known, 1), size * size if truth else 1), np.float32)
    workers = max(1, workers or worker_count())
    step = max(1, min(-(-n // workers), -(-SLICE_PX // (size * size))))

    def draw_slice(start: int) -> None:
        rows = slice(start, start + step)
        own = rows if truth else slice(0, 1)
        compiled(pack(cut(traits, rows)), out[rows], masks[own], seconds[own], depths[own], size, truth)

    starts = range(0, n, step)
    if workers == 1 or len(starts) <= 1:
        for start in starts:
            draw_slice(start)
    else:
        with ThreadPoolExecutor(min(workers, len(starts))) as pool:
            list(pool.map(draw_slice, starts))
    plane = (known, size, size)
    return (
        out.reshape(n, size, size, 3),
        masks[:known].reshape(plane),
        seconds[:known].reshape(plane),
        depths[:known].reshape(plane),
    )
