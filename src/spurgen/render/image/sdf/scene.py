"""What a ray sees: the wall, the floor, and up to two bodies before them."""

from __future__ import annotations

import numba

from spurgen.render.image.sdf import layout as at
from spurgen.render.image.sdf.arithmetic import HALF, ONE, TWO, ZERO, called, dot, f32, lay, mix, scene, sqrt, unit
from spurgen.render.image.sdf.lanes import any_ray, apart, select
from spurgen.render.image.sdf.packing import WALL_Z as WALL
from spurgen.render.image.sdf.shading import crossing, inverse, march, open_sky, reaching, shade
from spurgen.render.image.sdf.shapes import distance, normal
from spurgen.render.image.sdf.textures import pattern, planks

WALL_Z = f32(WALL)
TAN = f32(0.36)  # of half the angle of view


@scene
def to_object(p, base, x, y, z):
    """A point of the world in the frame of a body."""
    turn, centre = base + at.TURN, base + at.CENTRE
    inverse = ONE / p[base + at.SCALE]
    x = (x - p[centre]) * inverse
    y = (y - p[centre + 1]) * inverse
    z = (z - p[centre + 2]) * inverse
    return (
        dot(p[turn], p[turn + 1], p[turn + 2], x, y, z),
        dot(p[turn + 3], p[turn + 4], p[turn + 5], x, y, z),
        dot(p[turn + 6], p[turn + 7], p[turn + 8], x, y, z),
    )


@scene
def within(p, where, u, v):
    """Whether the ray goes through a rectangle of the picture."""
    return (u > p[where]) & (u < p[where + 1]) & (v > p[where + 2]) & (v < p[where + 3])


@scene
def shadow_of(p, base, x, y, z, on):
    """The share of the light that a body leaves to a point of the world, for the rays in `on`."""
    ox, oy, oz = to_object(p, base, x, y, z)
    return reaching(p, base, ox, oy, oz, on)


@scene
def contact(p, base, x, y, z, on):
    """How much of the sky a body leaves to a point of the floor: less close to the body."""
    ox, oy, oz = to_object(p, base, x, y, z)
    radius = p[base + at.REACH] + f32(0.4)
    on = on & (dot(ox, oy, oz, ox, oy, oz) < radius * radius)
    free = x * ZERO + ONE
    if any_ray(on):
        d = distance(numba.int32(p[base + at.SHAPE]), p[base + at.MELT], ox, oy, oz)
        free = select(on, unit(f32(0.45) + d * f32(1.4)), free)
    return free


@called
def surroundings(p, u, v, footprint, slant, visible):
    """(red, green, blue, depth) of wall and floor along the ray eye + t * w through (u, v).

    Rays that are not `visible` end at a body; their colour does not matter.
    """
    apart()
    ex, ey, ez = p[at.EYE], p[at.EYE + 1], p[at.EYE + 2]
    f, r, h = at.FORWARD, at.RIGHT, at.UP
    wx = p[f] + u * p[r] + v * p[h]
    wy = p[f + 1] + u * p[r + 1] + v * p[h + 1]
    wz = p[f + 2] + u * p[r + 2] + v * p[h + 2]
    wz = min(wz, f32(-0.05))
    inverse_z = ONE / wz
    t = (WALL_Z - ez) * inverse_z
    x, y, z = ex + t * wx, ey + t * wy, t * ZERO + WALL_Z
    frequency = p[at.WALL_FREQUENCY]
    across = x * p[at.WALL_ACROSS] + y * p[at.WALL_ALONG] + p[at.WALL_U]
    along = y * p[at.WALL_ACROSS] - x * p[at.WALL_ALONG] + p[at.WALL_V]
    seed = numba.uint32(numba.int32(p[at.SEED]))
    # One over the width of a pixel in the pattern; pixels are longer where the wall is seen at a slant.
    sharpness = wz * wz * slant * (ONE / (footprint * frequency * (ez - WALL_Z)))
    g = pattern(numba.int32(p[at.WALL_KIND]), across, along, seed, sharpness)
    bright, dark = at.WALL_BRIGHT, at.WALL_DARK
    red = mix(p[dark], p[bright], g)
    green = mix(p[dark + 1], p[bright + 1], g)
    blue = mix(p[dark + 2], p[bright + 2], g)
    facing = t * ZERO + p[at.LIGHT + 2]
    free = t * ZERO + ONE
    if p[at.FLOOR_KIND] > ZERO:
        height = p[at.FLOOR_HEIGHT]
        above = y - height
        # The share of the pixel that shows the wall.
        wall = unit(above * (ONE / (footprint * (ez - WALL_Z))) * -wz + HALF)
        on = visible & (wall < ONE)
        free = unit(f32(0.72) + above * f32(0.9))  # a little darker toward the corner of wall and floor
        if any_ray(on):
            down = min(wy, f32(-0.001))
            floor_t = min((height - ey) / down, t)
            sharpness = down * down * slant * (ONE / (footprint * (ey - height)))
            fx, fz = ex + floor_t * wx, ez + floor_t * wz
            g = planks(numba.int32(p[at.FLOOR_KIND]), fx, fz, seed, sharpness)
            bright, dark = at.FLOOR_BRIGHT, at.FLOOR_DARK
            red = mix(mix(p[dark], p[bright], g), red, wall)
            green = mix(mix(p[dark + 1], p[bright + 1], g), green, wall)
            blue = mix(mix(p[dark + 2], p[bright + 2], g), blue, wall)
            facing = mix(p[at.LIGHT + 1], facing, wall)
            corner = unit(f32(0.72) + (fz - WALL_Z) * f32(0.9))
            under = contact(p, at.OBJECT, fx, fx * ZERO + height, fz, on)
            if p[at.COMPANION] >= ZERO:
                under = under * contact(p, at.COMPANION, fx, fx * ZERO + height, fz, on)
            free = mix(corner * under, free, wall)
            ground = wall < HALF
            t = select(ground, floor_t, t)
            x, y, z = select(ground, fx, x), select(ground, fx * ZERO + height, y), select(ground, fz, z)
    lit = facing
    if p[at.HARDNESS] > ZERO:
        on = visible & within(p, at.OBJECT + at.SHADOW_IN, u, v)
        if any_ray(on):
            lit = lit * shadow_of(p, at.OBJECT, x, y, z, on)
        if p[at.COMPANION] >= ZERO:
            on = visible & within(p, at.COMPANION + at.SHADOW_IN, u, v)
            if any_ray(on):
                lit = lit * shadow_of(p, at.COMPANION, x, y, z, on)
    intensity = p[at.INTENSITY]
    light = (f32(0.14) + f32(0.2) * intensity + f32(0.8) * intensity * lit) * free
    return red * light, green * light, blue * light, t


@called
def body(p, base, u, v, footprint, slant, visible):
    """(red, green, blue, coverage, depth) of a body along the ray through (u, v), for `visible` rays."""
    apart()
    eye, forward, right, up = base + at.B_EYE, base + at.B_FORWARD, base + at.B_RIGHT, base + at.B_UP
    ox, oy, oz = p[eye], p[eye + 1], p[eye + 2]
    dx = (p[forward] + u * p[right] + v * p[up]) * slant
    dy = (p[forward + 1] + u * p[right + 1] + v * p[up + 1]) * slant
    dz = (p[forward + 2] + u * p[right + 2] + v * p[up + 2]) * slant
    width = footprint * sqrt(dot(ox, oy, oz, ox, oy, oz))  # of a pixel at the body
    t, end = crossing(p, base, ox, oy, oz, inverse(dx), inverse(dy), inverse(dz), TWO * width)
    on = visible & (end > t)
    red = u * ZERO
    green, blue, cover, depth = red, red, red, red
    if any_ray(on):
        shape, melt = numba.int32(p[base + at.SHAPE]), p[base + at.MELT]
        t, d = march(shape, melt, ox, oy, oz, dx, dy, dz, t, end, width, on)
        cover = select(on, unit(f32(1.5) - d * (ONE / width)), cover)
        seen = cover > ZERO
        if any_ray(seen):
            x, y, z = ox + dx * t, oy + dy * t, oz + dz * t
            # A little before the surface: at a sharp edge the side that faces away would win.
            b = f32(0.75) * width
            nx, ny, nz = normal(shape, melt, x - b * dx, y - b * dy, z - b * dz)
            light = base + at.B_LIGHT
            lx, ly, lz = p[light], p[light + 1], p[light + 2]
            lit = max(dot(nx, ny, nz, lx, ly, lz), ZERO)
            if p[at.HARDNESS] > ZERO:
                e = f32(0.02)
                lit = lit * reaching(p, base, x + nx * e, y + ny * e, z + nz * e, seen & (lit > ZERO))
            free = open_sky(shape, melt, x, y, z, nx, ny, nz)
            red, green, blue = shade(p, base, nx, ny, nz, dx, dy, dz, lit, free)
            depth = t * slant * p[base + at.SCALE]
    return red, green, blue, cover, depth


@scene
def trace(p, px, py, size):
    """(red, green, blue, coverage, companion's coverage, depth) of the pixel(s) in column px, row py.

    From front to back, so that what is hidden need not be followed.
    """
    double = TWO / size
    sx = (px + HALF) * double - ONE
    sy = ONE - (py + HALF) * double
    u = (sx - p[at.SHIFT_X]) * TAN
    v = (sy - p[at.SHIFT_Y]) * TAN
    footprint = TWO * TAN / size
    slant = ONE / sqrt(ONE + u * u + v * v)
    zero = u * ZERO
    second = zero
    red, green, blue, first, depth = zero, zero, zero, zero, zero
    near = within(p, at.OBJECT + at.SEEN_IN, u, v)
    if any_ray(near):
        red, green, blue, first, depth = body(p, at.OBJECT, u, v, footprint, slant, near)
    behind = first < ONE
    if any_ray(behind):
        near = zero > ONE
        if p[at.COMPANION] >= ZERO:
            near = behind & within(p, at.COMPANION + at.SEEN_IN, u, v)
        if any_ray(near):
            r, g, b, second, t = body(p, at.COMPANION, u, v, footprint, slant, near)
            behind = behind & (second < ONE)
            far_r, far_g, far_b, far_t = surroundings(p, u, v, footprint, slant, behind)
            r, g, b = lay(far_r, r, second), lay(far_g, g, second), lay(far_b, b, second)
            t = select(second >= HALF, t, far_t)
        else:
            r, g, b, t = surroundings(p, u, v, footprint, slant, behind)
        red, green, blue = lay(r, red, first), lay(g, green, first), lay(b, blue, first)
        depth = select(first >= HALF, depth, t)
    vignette = ONE - f32(0.1) * (sx * sx + sy * sy)
    return red * vignette, green * vignette, blue * vignette, first, second * (ONE - first), depth
