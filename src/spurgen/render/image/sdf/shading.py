"""How light reaches a surface and what comes back from it."""

from __future__ import annotations

import numba

from spurgen.render.image.sdf import layout as at
from spurgen.render.image.sdf.arithmetic import HALF, ONE, ZERO, called, clamp, dot, f32, mix, scene, sqrt, unit
from spurgen.render.image.sdf.lanes import any_ray, apart, select
from spurgen.render.image.sdf.shapes import distance

MARCH_STEPS, SHADOW_STEPS = 48, 24


@called
def march(shape, melt, ox, oy, oz, dx, dy, dz, t, end, width, on):
    """(t of the closest approach, closest distance) of the rays in `on`, from t to end.

    A pixel is `width` wide at the shape. Steps are no shorter than a pixel: what lies between is not seen.
    """
    apart()
    best = t * ZERO + f32(1e9)
    best_t = t
    hit, least = HALF * width, width
    for _ in range(MARCH_STEPS):
        d = distance(shape, melt, ox + dx * t, oy + dy * t, oz + dz * t)
        closer = on & (d < best)
        best = select(closer, d, best)
        best_t = select(closer, t, best_t)
        t = t + max(d, least)
        on = on & (d >= hit) & (t <= end)
        if not any_ray(on):
            break
    return best_t, best


@scene
def crossing(p, base, ox, oy, oz, ix, iy, iz, margin):
    """Where rays from o enter and leave the box of a body, widened by a margin; i is one over their direction."""
    centre, half = base + at.BOX_CENTRE, base + at.BOX_HALF
    jx, jy, jz = abs(ix), abs(iy), abs(iz)
    x, y, z = (p[centre] - ox) * ix, (p[centre + 1] - oy) * iy, (p[centre + 2] - oz) * iz
    a, b, c = (p[half] + margin) * jx, (p[half + 1] + margin) * jy, (p[half + 2] + margin) * jz
    return max(x - a, max(y - b, z - c)), min(x + a, min(y + b, z + c))


@scene
def inverse(x):
    """One over x, large but finite near 0."""
    return ONE / select(abs(x) < f32(1e-5), x * ZERO + f32(1e-5), x)


@called
def reaching(p, base, x, y, z, on):
    """The share of the light that passes a body on its way to a point of the body's frame, for rays in `on`."""
    apart()
    light = base + at.B_LIGHT
    lx, ly, lz = p[light], p[light + 1], p[light + 2]
    hardness = p[at.HARDNESS]
    softness = ONE / hardness
    margin = (max(-dot(x, y, z, lx, ly, lz), ZERO) + HALF) * softness + f32(0.02)  # wider half shadows far away
    t, end = crossing(p, base, x, y, z, inverse(lx), inverse(ly), inverse(lz), margin)
    t = max(t, f32(0.03))
    on = on & (end > t)
    near = t * ZERO + softness  # the narrowest passage, near / far, as two numbers: no division at every step
    far = t * ZERO + ONE
    if any_ray(on):
        shape, melt = numba.int32(p[base + at.SHAPE]), p[base + at.MELT]
        dark = f32(0.02) * softness
        # Short steps where the light may be narrowed, or the narrowest passage would be missed: soft shadows would show
        # ripples. Where the way to the nearest half shadow is longer, that way.
        clear = ONE / (ONE + softness)
        least = f32(0.02) + f32(0.28) * softness
        most = f32(0.15) if hardness < f32(20) else ONE
        for _ in range(SHADOW_STEPS):
            d = distance(shape, melt, x + lx * t, y + ly * t, z + lz * t)
            narrower = on & (d * far < near * t)
            near = select(narrower, d, near)
            far = select(narrower, t, far)
            on = on & (d >= dark * t)
            t = t + max(clamp(d, least, most), (d - t * softness) * clear)
            on = on & (t <= end)
            if not any_ray(on):
                break
        passing = unit(hardness * near / far)
        return passing * passing * (f32(3) - passing - passing)
    return far


@scene
def open_sky(shape, melt, x, y, z, nx, ny, nz):
    """How open the surroundings of a point of the surface are: 1 free, less in corners."""
    e = f32(0.14)
    d = distance(shape, melt, x + nx * e, y + ny * e, z + nz * e)
    return mix(f32(0.35), ONE, unit(d / e))


@scene
def to_power(x, squarings):
    """x to the power 2 ** squarings."""
    for _ in range(numba.int32(squarings)):
        x = x * x
    return x


@scene
def reflected(p, base, nx, ny, nz, dx, dy, dz):
    """Brightness of an imagined room that a mirror shows: a dark floor, a light band, a grey ceiling."""
    k = dot(nx, ny, nz, dx, dy, dz) * f32(2)
    sky = base + at.B_SKY
    up = dot(dx - nx * k, dy - ny * k, dz - nz * k, p[sky], p[sky + 1], p[sky + 2])
    band = unit(ONE - abs(up - f32(0.3)) * f32(3.5))
    return f32(0.12) + f32(0.5) * unit(up * f32(0.8) + f32(0.35)) + f32(0.75) * band


@scene
def shade(p, base, nx, ny, nz, dx, dy, dz, lit, free):
    """Colour of a surface with normal n seen along d; `lit` is the light that arrives, `free` the open sky."""
    light, sky = base + at.B_LIGHT, base + at.B_SKY
    intensity = p[at.INTENSITY]
    facing = unit(-dot(nx, ny, nz, dx, dy, dz))
    up = dot(nx, ny, nz, p[sky], p[sky + 1], p[sky + 2])
    even = p[base + at.AMBIENT] * (f32(0.7) + f32(0.3) * up) * free * (f32(0.45) + HALF * intensity)
    body = even + p[base + at.DIFFUSE] * intensity * lit + p[base + at.GLOW]
    if p[base + at.MIRROR] > ZERO:
        mirrored = reflected(p, base, nx, ny, nz, dx, dy, dz)
        body = body + p[base + at.MIRROR] * (f32(0.4) + f32(0.6) * intensity) * free * mirrored
    if p[base + at.RIM] > ZERO:
        rim = ONE - facing
        body = body + p[base + at.RIM] * rim * rim * free * (f32(0.4) + f32(0.6) * intensity)
    hx, hy, hz = p[light] - dx, p[light + 1] - dy, p[light + 2] - dz
    shine = unit(dot(nx, ny, nz, hx, hy, hz) / sqrt(dot(hx, hy, hz, hx, hy, hz)))
    gloss = p[base + at.SPECULAR] * to_power(shine, p[base + at.SQUARINGS]) * intensity * min(lit * f32(4), ONE)
    tint, colour = p[base + at.TINT], base + at.COLOUR
    red = p[colour] * body + gloss * mix(ONE, p[colour], tint)
    green = p[colour + 1] * body + gloss * mix(ONE, p[colour + 1], tint)
    blue = p[colour + 2] * body + gloss * mix(ONE, p[colour + 2], tint)
    return red, green, blue
