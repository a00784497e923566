"""What a ray sees: the wall, the floor, and up to two bodies before them."""

from __future__ import annotations

import numba

from spurgen.render.image.sdf import layout as at
from spurgen.render.image.sdf.arithmetic import HALF, ONE, TWO, ZERO, called, dot, f32, lay, mix, scene, sqrt, unit
from spurgen.render.image.sdf.lanes import apart, any_ray, select
from spurgen.render.image.sdf.shading import march, open_sky, reaching, shade
from spurgen.render.image.sdf.shapes import distance, normal
from spurgen.render.image.sdf.textures import pattern, planks

WALL_Z = f32(-1.3)
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


@called
def shadow_of(p, base, x, y, z, on):
    """The share of the light that a body leaves to a point of the world, for the rays in `on`."""
    apart()
    light = base + at.B_LIGHT
    lx, ly, lz = p[light], p[light + 1], p[light + 2]
    ox, oy, oz = to_object(p, base, x, y, z)
    hardness = p[at.HARDNESS]
    radius = p[base + at.REACH] + min(f32(0.3), f32(2.4) / hardness)
    shape = numba.int32(p[base + at.SHAPE])
    return reaching(shape, p[base + at.MELT], radius, ox, oy, oz, lx, ly, lz, hardness, on)


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
def surroundings(p, wx, wy, wz, footprint, slant, visible):
    """(red, green, blue, depth) of wall and floor along the ray eye + t * w; a pixel is t * footprint wide.

    Rays that are not `visible` end at a body; their colour does not matter.
    """
    apart()
    ex, ey, ez = p[at.EYE], p[at.EYE + 1], p[at.EYE + 2]
    wz = min(wz, f32(-0.05))
    t = (WALL_Z - ez) / wz
    x, y, z = ex + t * wx, ey + t * wy, t * ZERO + WALL_Z
    frequency = p[at.WALL_FREQUENCY]
    u = x * p[at.WALL_ACROSS] + y * p[at.WALL_ALONG] + p[at.WALL_U]
    v = y * p[at.WALL_ACROSS] - x * p[at.WALL_ALONG] + p[at.WALL_V]
    seed = numba.uint32(numba.int32(p[at.SEED]))
    width = footprint * t * frequency / (-wz * slant)
    g = pattern(numba.int32(p[at.WALL_KIND]), u, v, seed, width)
    bright, dark = at.WALL_BRIGHT, at.WALL_DARK
    red = mix(p[dark], p[bright], g)
    green = mix(p[dark + 1], p[bright + 1], g)
    blue = mix(p[dark + 2], p[bright + 2], g)
    facing = t * ZERO + p[at.LIGHT + 2]
    free = t * ZERO + ONE
    if p[at.FLOOR_KIND] > ZERO:
        height = p[at.FLOOR_HEIGHT]
        above = y - height
        wall = unit(above / (footprint * t) + HALF)  # the share of the pixel that shows the wall
        on = visible & (wall < ONE)
        free = unit(f32(0.72) + above * f32(0.9))  # a little darker toward the corner of wall and floor
        if any_ray(on):
            down = min(wy, f32(-0.001))
            floor_t = min((height - ey) / down, t)
            fx, fz = ex + floor_t * wx, ez + floor_t * wz
            width = footprint * floor_t / (-down * slant)
            g = planks(numba.int32(p[at.FLOOR_KIND]), fx, fz, seed, width)
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
        lit = lit * shadow_of(p, at.OBJECT, x, y, z, visible)
        if p[at.COMPANION] >= ZERO:
            lit = lit * shadow_of(p, at.COMPANION, x, y, z, visible)
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
    b = dot(ox, oy, oz, dx, dy, dz)
    away = sqrt(dot(ox, oy, oz, ox, oy, oz))
    width = footprint * away
    radius = p[base + at.REACH] + f32(1.5) * width
    h = b * b - (dot(ox, oy, oz, ox, oy, oz) - radius * radius)
    on = visible & (h > ZERO)
    red = u * ZERO
    green, blue, cover, depth = red, red, red, red
    if any_ray(on):
        shape, melt = numba.int32(p[base + at.SHAPE]), p[base + at.MELT]
        root = sqrt(max(h, ZERO))
        t, q = march(shape, melt, ox, oy, oz, dx, dy, dz, -b - root, root - b, width, on)
        cover = select(on, unit(f32(1.25) - q), cover)
        seen = cover > ZERO
        if any_ray(seen):
            x, y, z = ox + dx * t, oy + dy * t, oz + dz * t
            nx, ny, nz = normal(shape, melt, x, y, z)
            light = base + at.B_LIGHT
            lx, ly, lz = p[light], p[light + 1], p[light + 2]
            lit = max(dot(nx, ny, nz, lx, ly, lz), ZERO)
            hardness = p[at.HARDNESS]
            if hardness > ZERO:
                e = f32(0.02)
                reach = p[base + at.REACH]
                facing = seen & (lit > ZERO)
                lit = lit * reaching(
                    shape, melt, reach, x + nx * e, y + ny * e, z + nz * e, lx, ly, lz, hardness, facing
                )
            free = open_sky(shape, melt, x, y, z, nx, ny, nz)
            red, green, blue = shade(p, base, nx, ny, nz, dx, dy, dz, lit, free)
            depth = t * slant * p[base + at.SCALE]
    return red, green, blue, cover, depth


@scene
def trace(p, px, py, size):
    """(red, green, blue, coverage, companion's coverage, depth) of the pixel(s) in column px, row py.

    From front to back, so that what is hidden need not be followed.
    """
    sx = (px + HALF) * TWO / size - ONE
    sy = ONE - (py + HALF) * TWO / size
    u = (sx - p[at.SHIFT_X]) * TAN
    v = (sy - p[at.SHIFT_Y]) * TAN
    footprint = TWO * TAN / size
    slant = ONE / sqrt(ONE + u * u + v * v)
    zero = u * ZERO
    red, green, blue, first, depth = body(p, at.OBJECT, u, v, footprint, slant, slant > ZERO)
    r, g, b, second, t = zero, zero, zero, zero, zero
    behind = first < ONE
    if any_ray(behind):
        far = behind
        if p[at.COMPANION] >= ZERO:
            r, g, b, second, t = body(p, at.COMPANION, u, v, footprint, slant, behind)
            far = behind & (second < ONE)
        if any_ray(far):
            f, s, h = at.FORWARD, at.RIGHT, at.UP
            wx = p[f] + u * p[s] + v * p[h]
            wy = p[f + 1] + u * p[s + 1] + v * p[h + 1]
            wz = p[f + 2] + u * p[s + 2] + v * p[h + 2]
            wall_r, wall_g, wall_b, wall_t = surroundings(p, wx, wy, wz, footprint, slant, far)
            r, g, b = lay(wall_r, r, second), lay(wall_g, g, second), lay(wall_b, b, second)
            t = select(second >= HALF, t, wall_t)
        red, green, blue = lay(r, red, first), lay(g, green, first), lay(b, blue, first)
        depth = select(first >= HALF, depth, t)
    vignette = ONE - f32(0.1) * (sx * sx + sy * sy)
    return red * vignette, green * vignette, blue * vignette, first, second * (ONE - first), depth
