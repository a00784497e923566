"""Patterns of walls and floors: the share of the light colour at a point, edges softened over one pixel."""

from __future__ import annotations

from spurgen.render.image.sdf.arithmetic import (
    HALF,
    ONE,
    TWO,
    ZERO,
    called,
    f32,
    fraction,
    lattice,
    length2,
    mix,
    noise,
    scene,
    u32,
    unit,
)  # fmt: skip
from spurgen.render.image.sdf.lanes import apart, floor, select, to_u32, wrap

ROOT3 = f32(1.7320508)


@scene
def edge(d, sharpness):
    """1 well inside (d above 0), 0 well outside, soft over one pixel; `sharpness` is one over its width."""
    return unit(d * sharpness + HALF)


@scene
def centred(x):
    """Where x is in its cell: from -1/2 to 1/2."""
    return fraction(x) - HALF


@scene
def stripe(t, sharpness):
    """Stripes of period 1."""
    return edge(f32(0.25) - abs(centred(t)), sharpness)


@scene
def swing(t):
    """A smooth wave of period 1 between -1 and 1, made of parabolas."""
    x = centred(t)
    return f32(16) * x * (HALF - abs(x))


@scene
def clouds(u, v, seed):
    """Two layers of noise."""
    coarse = noise(u, v, seed) * f32(0.62)
    fine = noise(u * f32(2.1), v * f32(2.1), wrap(seed + u32(1))) * f32(0.38)
    return unit(HALF + f32(1.7) * (coarse + fine - HALF))


@scene
def bricks(u, v, seed, sharpness):
    """Brickwork; every brick has a shade of its own."""
    v = v * f32(1.7)
    row = floor(v)
    u = u * f32(0.8) + row * HALF
    column = floor(u)
    gap = min((HALF - abs(u - column - HALF)) * f32(1.25), (HALF - abs(v - row - HALF)) * f32(0.59))
    shade = lattice(to_u32(column), to_u32(row), seed)
    return ONE - edge(gap - f32(0.04), sharpness) * (f32(0.55) + f32(0.45) * shade)


@scene
def hexagons(u, v, sharpness):
    """Honeycomb."""
    w = v / ROOT3
    ax, ay = centred(u), centred(w) * ROOT3
    bx, by = centred(u + HALF), centred(w + HALF) * ROOT3
    first = ax * ax + ay * ay < bx * bx + by * by
    x = abs(select(first, ax, bx))
    y = abs(select(first, ay, by))
    return edge(f32(0.42) - max(x, x * HALF + y * f32(0.8660254)), sharpness)


@scene
def scales(u, v, sharpness):
    """Overlapping scales of a fish."""
    v = v * TWO
    row = floor(v)
    y = v - row
    r = length2(centred(u + row * HALF), y * HALF)
    r = select(r < HALF, r, length2(centred(u + row * HALF + HALF), (y - ONE) * HALF))
    return edge(f32(0.37) - r, sharpness)


@called
def pattern(kind, u, v, seed, sharpness):
    """The share of the light colour at (u, v) of the pattern; a pixel is 1 / `sharpness` wide."""
    apart()
    if kind == 1:
        return stripe(u, sharpness)
    if kind == 2:  # checker
        a = stripe(u * HALF, sharpness * TWO)
        b = stripe(v * HALF, sharpness * TWO)
        return a + b - TWO * a * b
    if kind == 3:  # dots
        return edge(f32(0.3) - length2(centred(u), centred(v)), sharpness)
    if kind == 4:
        return clouds(u, v, seed)
    if kind == 5:
        return bricks(u, v, seed, sharpness)
    if kind == 6:  # waves
        return stripe(v * f32(1.2) + f32(0.3) * swing(u * f32(0.6)), sharpness * f32(0.625))
    if kind == 7:  # rings
        return stripe(length2(u, v), sharpness)
    if kind == 8:  # grid
        return edge(HALF - max(abs(centred(u)), abs(centred(v))) - f32(0.07), sharpness)
    if kind == 9:  # zigzag
        return stripe(v * f32(1.2) + abs(centred(u)) * TWO, sharpness * f32(0.43))
    if kind == 10:  # diamonds
        return edge((f32(0.4) - abs(centred(u)) * f32(1.15) - abs(centred(v)) * f32(0.75)) * f32(0.75), sharpness)
    if kind == 11:  # crosses
        a, b = abs(centred(u)), abs(centred(v))
        return edge(-min(max(a - f32(0.34), b - f32(0.1)), max(b - f32(0.34), a - f32(0.1))), sharpness)
    if kind == 12:
        return hexagons(u, v, sharpness)
    if kind == 13:  # plaid
        wide = stripe(u * f32(0.7), sharpness) + stripe(v * f32(0.7), sharpness)
        fine = edge(f32(0.05) - abs(centred(u * f32(0.7) + HALF)), sharpness)
        fine = max(fine, edge(f32(0.05) - abs(centred(v * f32(0.7) + HALF)), sharpness))
        return mix(wide * f32(0.45), u * ZERO + ONE, fine * f32(0.8))
    if kind == 14:
        return scales(u, v, sharpness)
    return u * ZERO + ONE  # plain


@called
def planks(kind, x, z, seed, sharpness):
    """The share of the light colour at (x, z) of a floor."""
    apart()
    if kind == 1:  # wood: boards along x, each with a shade and a grain of its own
        z = z * f32(3.2)
        board = floor(z)
        shade = lattice(to_u32(board), to_u32(board), seed)
        grain = noise(x * f32(1.3) + shade * f32(64), z * f32(4), seed)
        gap = edge(HALF - abs(z - board - HALF) - f32(0.03), sharpness * f32(0.3125))
        return (f32(0.3) + f32(0.35) * shade + f32(0.35) * grain) * gap
    if kind == 2:  # tiles
        x = x * f32(1.6)
        z = z * f32(1.6)
        sharpness = sharpness * f32(0.625)
        a = stripe(x * HALF, sharpness * TWO)
        b = stripe(z * HALF, sharpness * TWO)
        joint = edge(HALF - max(abs(centred(x + HALF)), abs(centred(z + HALF))) - f32(0.03), sharpness)
        return (f32(0.25) + f32(0.75) * (a + b - TWO * a * b)) * joint
    if kind == 3:  # concrete
        return f32(0.25) + HALF * clouds(x * f32(1.4), z * f32(1.4), seed)
    rows = stripe(z * f32(1.5), sharpness * f32(0.6667))  # carpet: a woven band with diamonds
    lozenge = edge(f32(0.3) - abs(centred(x * f32(1.5))) - abs(centred(z * f32(1.5))), sharpness * f32(0.6667))
    return f32(0.3) + f32(0.35) * rows + f32(0.35) * lozenge
