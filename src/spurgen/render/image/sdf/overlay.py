"""What lies over the scene: the sensor's traces, a frame, a watermark. Colours here are display levels, 0 to 1."""

from __future__ import annotations

import numba

from spurgen.render.image.sdf import layout as at
from spurgen.render.image.sdf.arithmetic import (
    HALF,
    ONE,
    ZERO,
    called,
    clamp,
    f32,
    lattice,
    lay,
    length2,
    mix,
    scene,
    sqrt,
    unit,
)  # fmt: skip
from spurgen.render.image.sdf.lanes import any_ray, apart, floor, select, to_u32
from spurgen.render.image.sdf.shapes import pentagram
from spurgen.render.image.sdf.textures import centred, edge

GLYPH_AT, GLYPH_RADIUS = f32(0.845), f32(0.08)


@scene
def glyph(kind, x, y):
    """How far (x, y) is from a glyph of radius about 1."""
    if kind == 1:  # circle
        return abs(length2(x, y) - f32(0.72)) - f32(0.22)
    if kind == 2:  # square
        return max(abs(x), abs(y)) - f32(0.75)
    if kind == 3:  # triangle
        y = y + f32(0.25)
        return max(abs(x) * f32(0.866) + y * HALF, -y) - HALF
    if kind == 4:
        return pentagram(x, y, ONE, f32(0.45))
    if kind == 5:  # cross
        a, b = abs(x + y) * f32(0.7071), abs(x - y) * f32(0.7071)
        return min(max(a - f32(0.95), b - f32(0.25)), max(b - f32(0.95), a - f32(0.25)))
    return max(max(abs(x), abs(y)) - f32(0.85), abs(centred(x * f32(1.3) + HALF)) - f32(0.26))  # bars


@called
def watermark(kind, x, y, sharpness):
    """(coverage of the glyph, coverage of the dark halo that sets it off)."""
    apart()
    d = glyph(kind, x, y)
    return f32(0.92) * edge(-d, sharpness), HALF * edge(f32(0.3) - d, sharpness * f32(0.6667))


@called
def frame(kind, x, y, sharpness):
    """(red, green, blue, coverage) of a frame at (x, y) of the unit square."""
    apart()
    h = min(x, ONE - x)
    v = min(y, ONE - y)
    e = min(h, v)
    zero = e * ZERO
    if kind == 1:  # white
        tone = f32(0.97) - f32(0.25) * edge(e - f32(0.045), sharpness)
        return tone, tone, tone, edge(f32(0.055) - e, sharpness)
    if kind == 2:  # black
        tone = zero + f32(0.06)
        return tone, tone, tone, edge(f32(0.055) - e, sharpness)
    if kind == 3:  # gold, with a bright ridge
        tone = f32(0.55) + f32(0.45) * unit(ONE - abs(e - f32(0.03)) * f32(40))
        return tone, tone * f32(0.8), tone * f32(0.42), edge(f32(0.06) - e, sharpness)
    if kind == 4:  # dashed
        along = select(h < v, y, x)
        dash = edge(f32(0.3) - abs(centred(along * f32(8))), sharpness * f32(0.125))
        tone = zero + f32(0.98)
        return tone, tone, tone, edge(f32(0.016) - abs(e - f32(0.045)), sharpness) * dash
    if kind == 5:  # rounded
        a, b = max(abs(x - HALF) - f32(0.35), ZERO), max(abs(y - HALF) - f32(0.35), ZERO)
        d = length2(a, b) - f32(0.12)
        tone = zero + f32(0.97)
        return tone, tone, tone, edge(d, sharpness)
    hole = f32(0.028) - max(abs(v - f32(0.045)), abs(centred(x * f32(8))) * f32(0.125))  # film
    tone = f32(0.06) + f32(0.86) * edge(hole, sharpness)
    return tone, tone, tone, edge(f32(0.09) - v, sharpness)


@scene
def sensed(p, px, py, size, red, green, blue):
    """The levels that the sensor records."""
    kind = numba.int32(p[at.SENSOR])
    if kind == 1:  # grain: the sum of two even distributions
        seed = numba.uint32(numba.int32(p[at.SENSOR_SEED]))
        column, row = to_u32(px), to_u32(py)
        first = lattice(column, row, seed)
        speck = (first + lattice(row, column, seed + numba.uint32(65536)) - ONE) * f32(0.13)
        red, green, blue = red + speck, green + speck, blue + speck
    elif kind == 3:  # banding: five levels
        steps = f32(4)
        red = floor(red * steps + HALF) * f32(0.25)
        green = floor(green * steps + HALF) * f32(0.25)
        blue = floor(blue * steps + HALF) * f32(0.25)
    elif kind == 4:  # scan lines: 32 in every picture
        away = abs(centred((py + HALF) * (f32(32) / size) + f32(0.25)))
        line = f32(0.62) + f32(0.38) * edge(f32(0.25) - away, size * f32(1 / 32))
        red, green, blue = red * line, green * line, blue * line
    return red, green, blue


@scene
def stamp(p, px, py, size):
    """(coverage of the watermark, coverage of its halo) at a pixel."""
    start = f32(0.7) * size
    near = (px > start) & (py > start)
    cover = px * ZERO
    halo = cover
    if any_ray(near):
        share = ONE / size
        x = ((px + HALF) * share - GLYPH_AT) * (ONE / GLYPH_RADIUS)
        y = (GLYPH_AT - (py + HALF) * share) * (ONE / GLYPH_RADIUS)
        cover, halo = watermark(numba.int32(p[at.WATERMARK]), x, y, GLYPH_RADIUS * size)
        cover, halo = select(near, cover, ZERO), select(near, halo, ZERO)
    return cover, halo


@scene
def border(p, px, py, size):
    """(red, green, blue, coverage) of the frame at a pixel."""
    share = ONE / size
    return frame(numba.int32(p[at.FRAME]), (px + HALF) * share, (py + HALF) * share, size)


@scene
def coat(p, px, py, size, red, green, blue):
    """Linear light to display levels, with all that lies over the scene."""
    red, green, blue = sqrt(unit(red)), sqrt(unit(green)), sqrt(unit(blue))
    if p[at.SENSOR] > ZERO:
        red, green, blue = sensed(p, px, py, size, red, green, blue)
    if p[at.FRAME] > ZERO:
        r, g, b, cover = border(p, px, py, size)
        red, green, blue = lay(red, r, cover), lay(green, g, cover), lay(blue, b, cover)
    if p[at.WATERMARK] > ZERO:
        cover, halo = stamp(p, px, py, size)
        red = mix(mix(red, f32(0.08), halo), f32(0.97), cover)
        green = mix(mix(green, f32(0.08), halo), f32(0.97), cover)
        blue = mix(mix(blue, f32(0.08), halo), f32(0.97), cover)
    return red, green, blue


@scene
def uncoated(p, px, py, size):
    """The share of the scene that frame and watermark leave visible."""
    stays = px * ZERO + ONE
    if p[at.FRAME] > ZERO:
        stays = ONE - border(p, px, py, size)[3]
    if p[at.WATERMARK] > ZERO:
        cover, halo = stamp(p, px, py, size)
        stays = stays * (ONE - halo) * (ONE - cover)
    return stays


@scene
def to_level(x):
    """A display level as 0 .. 255.5, to be cut to uint8."""
    return clamp(x, ZERO, ONE) * f32(255) + HALF


@scene
def to_mask(cover):
    """Coverage as 0 .. 255, where 0 and 255 mean exactly none and exactly all."""
    part = clamp(floor(cover * f32(255)), ONE, f32(254))
    return select(cover >= ONE, f32(255), select(cover > ZERO, part, ZERO))
