"""The shapes: how far a point is from each (signed-distance functions, never more than the true distance)."""

from __future__ import annotations

from spurgen.render.image.sdf.arithmetic import (
    HALF, ONE, TWO, ZERO, called, clamp, dot, f32, length2, length3, mix, scene, sqrt,
)  # fmt: skip
from spurgen.render.image.sdf.lanes import select

# ------------------------------------------------------------------------------------------------- solids


@scene
def box(x, y, z, a, b, c, r):
    """A box of half sizes a + r, b + r, c + r with edges rounded by r."""
    x = abs(x) - a
    y = abs(y) - b
    z = abs(z) - c
    return length3(max(x, ZERO), max(y, ZERO), max(z, ZERO)) + min(max(x, max(y, z)), ZERO) - r


@scene
def pillar(x, y, z, r, h):
    """A cylinder along y of radius r and half height h."""
    a = length2(x, z) - r
    b = abs(y) - h
    return min(max(a, b), ZERO) + length2(max(a, ZERO), max(b, ZERO))


@scene
def rod(x, y, z, low, high, r):
    """A rod with round ends along y from low to high."""
    return length3(x, y - clamp(y, low, high), z) - r


@scene
def taper(x, y, z, low, high, wide, narrow):
    """A cone along y, of radius wide at low and narrow at high, with flat ends."""
    slope = (wide - narrow) / (high - low)
    side = (length2(x, z) - wide + slope * (y - low)) / sqrt(ONE + slope * slope)
    return max(side, max(low - y, y - high))


@scene
def hoop(x, y, z, ring, tube):
    """A torus around y."""
    return length2(length2(x, z) - ring, y) - tube


@scene
def slab(d, z, h, r):
    """A flat figure at distance d, drawn out to half thickness h + r, its edges rounded by r."""
    w = abs(z) - h
    return min(max(d, w), ZERO) + length2(max(d, ZERO), max(w, ZERO)) - r


@scene
def rectangle(x, y, a, b):
    """A rectangle of half sizes a, b."""
    x = abs(x) - a
    y = abs(y) - b
    return length2(max(x, ZERO), max(y, ZERO)) + min(max(x, y), ZERO)


@scene
def pentagram(x, y, r, depth):
    """A five-pointed star of radius r; depth says how far its points are cut."""
    x = abs(x)
    m = TWO * max(f32(0.809017) * x - f32(0.587785) * y, ZERO)
    x = x - m * f32(0.809017)
    y = y + m * f32(0.587785)
    m = TWO * max(-f32(0.809017) * x - f32(0.587785) * y, ZERO)
    x = x + m * f32(0.809017)
    y = y + m * f32(0.587785)
    x = abs(x)
    y = y - r
    ax, ay = depth * f32(0.587785), depth * f32(0.809017) - ONE  # along the edge of a point
    h = clamp((x * ax + y * ay) / (ax * ax + ay * ay), ZERO, r)
    d = length2(x - ax * h, y - ay * h)
    return select(y * ax > x * ay, d, -d)


@scene
def blend(a, b, k):
    """The union of two solids, their seam rounded over k."""
    h = max(k - abs(a - b), ZERO) / k
    return min(a, b) - h * h * k * f32(0.25)


# ------------------------------------------------------------------------------------------------- shapes


@scene
def mug(x, y, z):
    """A mug with its handle to the right."""
    body = max(pillar(x, y, z, f32(0.43), f32(0.5)), -pillar(x, y - f32(0.12), z, f32(0.35), f32(0.5)))
    handle = max(hoop(x - f32(0.45), z, y, f32(0.27), f32(0.075)), f32(0.39) - x)
    return min(body, handle) - f32(0.015)


@scene
def heart(x, y, z):
    """A heart, drawn out."""
    s = f32(1.12)
    x = abs(x) / s
    y = (y + f32(0.62)) / s
    a = length2(x - f32(0.25), y - f32(0.75)) - f32(0.35355)
    m = HALF * max(x + y, ZERO)
    b = sqrt(min(x * x + (y - ONE) * (y - ONE), (x - m) * (x - m) + (y - m) * (y - m)))
    d = select(x + y > ONE, a, select(x > y, b, -b))
    return slab(d * s, z, f32(0.1), f32(0.12))


@scene
def star(x, y, z):
    """A five-pointed star, drawn out."""
    return slab(pentagram(x, y, f32(0.66), f32(0.45)), z, f32(0.09), f32(0.06))


@scene
def chair(x, y, z):
    """A chair that faces the viewer."""
    r = f32(0.03)
    seat = box(x, y + f32(0.02), z, f32(0.37), f32(0.04), f32(0.37), r)
    back = box(x, y - f32(0.4), z + f32(0.34), f32(0.37), f32(0.36), f32(0.04), r)
    gap = box(x, y - f32(0.34), z + f32(0.34), f32(0.2), f32(0.1), f32(0.3), r)
    legs = box(abs(x) - f32(0.33), y + f32(0.38), abs(z) - f32(0.33), f32(0.05), f32(0.36), f32(0.05), r)
    return min(min(seat, max(back, -gap)), legs)


@scene
def dumbbell(x, y, z):
    """Two weights on a bar that lies along x."""
    weights = pillar(y, abs(x) - f32(0.52), z, f32(0.34), f32(0.15)) - f32(0.04)
    return min(weights, rod(y, x, z, f32(-0.6), f32(0.6), f32(0.1)))


@scene
def mushroom(x, y, z):
    """A cap on a stem."""
    cap = max(length3(x, (y + f32(0.02)) * f32(1.15), z) - f32(0.62), -(y - f32(0.02))) * f32(0.87)
    stem = taper(x, y, z, f32(-0.62), f32(0.1), f32(0.26), f32(0.17)) - f32(0.02)
    return min(cap - f32(0.02), stem)


@scene
def hourglass(x, y, z):
    """Two cones, tip to tip, between two plates."""
    h = abs(y)
    glass = max((length2(x, z) - f32(0.62) * h - f32(0.06)) * f32(0.85), h - f32(0.6))
    return min(glass, pillar(x, h - f32(0.6), z, f32(0.46), f32(0.05)) - f32(0.02))


@scene
def arrow(x, y, z):
    """An arrow that points up."""
    shaft = rectangle(x, y + f32(0.3), f32(0.13), f32(0.38))
    head = max((abs(x) * f32(0.8) + (y - f32(0.62)) * f32(0.6)), f32(0.0) - y)
    return slab(min(shaft, head), z, f32(0.1), f32(0.05))


@scene
def jack(x, y, z):
    """Three crossed bars."""
    long, thin, r = f32(0.66), f32(0.13), f32(0.04)
    a = box(x, y, z, long, thin, thin, r)
    b = box(x, y, z, thin, long, thin, r)
    return min(a, min(b, box(x, y, z, thin, thin, long, r)))


@scene
def gear(x, y, z):
    """A wheel with eight teeth and a hole."""
    r = length2(x, y)
    a, b = abs(x), abs(y)
    x, y = max(a, b), min(a, b)  # folded into 0..45 degrees, then about 22.5
    m = TWO * max(f32(-0.382683) * x + f32(0.92388) * y, ZERO)
    x = x + m * f32(0.382683)
    y = y - m * f32(0.92388)
    tooth = rectangle(x - f32(0.56), y, f32(0.13), f32(0.095))
    wheel = min(r - f32(0.52), tooth)
    return slab(max(wheel, f32(0.24) - r), z, f32(0.13), f32(0.03))


@scene
def crescent(x, y, z):
    """A sickle moon, open to the right."""
    d = max(length2(x, y) - f32(0.66), f32(0.52) - length2(x - f32(0.3), y - f32(0.12)))
    return slab(d, z, f32(0.12), f32(0.04))


@scene
def arch(x, y, z):
    """A gate with a round top."""
    block = rectangle(x, y, f32(0.58), f32(0.56))
    hole = min(length2(x, y - f32(0.02)) - f32(0.3), rectangle(x, y + f32(0.4), f32(0.3), f32(0.42)))
    return slab(max(block, -hole), z, f32(0.18), f32(0.03))


@scene
def cone(x, y, z):
    """A traffic cone on its foot."""
    body = taper(x, y, z, f32(-0.55), f32(0.68), f32(0.42), f32(0.07))
    return min(body, box(x, y + f32(0.57), z, f32(0.5), f32(0.03), f32(0.5), f32(0.03)))


@scene
def pawn(x, y, z):
    """A piece of a board game."""
    head = length3(x, y - f32(0.42), z) - f32(0.25)
    body = taper(x, y, z, f32(-0.55), f32(0.3), f32(0.34), f32(0.12))
    collar = pillar(x, y - f32(0.19), z, f32(0.23), f32(0.02)) - f32(0.03)
    foot = pillar(x, y + f32(0.58), z, f32(0.42), f32(0.05)) - f32(0.04)
    return min(min(blend(head, body, f32(0.1)), collar), foot)


@scene
def house(x, y, z):
    """A house with a door and a chimney."""
    walls = box(x, y + f32(0.25), z, f32(0.44), f32(0.33), f32(0.38), f32(0.01))
    door = box(x, y + f32(0.38), z - f32(0.4), f32(0.11), f32(0.2), f32(0.1), f32(0.0))
    roof = max(abs(x) * f32(0.6) + (y - f32(0.6)) * f32(0.8), max(f32(0.06) - y, abs(z) - f32(0.46)))
    chimney = box(x - f32(0.28), y - f32(0.45), z, f32(0.08), f32(0.22), f32(0.08), f32(0.01))
    return min(max(walls, -door), min(roof, chimney))


@scene
def hammer(x, y, z):
    """A hammer, its head on top."""
    handle = rod(x, y, z, f32(-0.66), f32(0.4), f32(0.09))
    head = pillar(y - f32(0.42), x, z, f32(0.2), f32(0.42)) - f32(0.03)
    return min(handle, head)


@scene
def key(x, y, z):
    """A key, its bow on top."""
    bow = abs(length2(x, y - f32(0.42)) - f32(0.24)) - f32(0.08)
    shaft = rectangle(x, y + f32(0.25), f32(0.07), f32(0.47))
    teeth = min(
        rectangle(x - f32(0.17), y + f32(0.62), f32(0.15), f32(0.07)),
        rectangle(x - f32(0.14), y + f32(0.38), f32(0.12), f32(0.07)),
    )
    return slab(min(bow, min(shaft, teeth)), z, f32(0.07), f32(0.03))


@scene
def snowman(x, y, z):
    """Three balls of snow and a nose."""
    low = length3(x, y + f32(0.36), z) - f32(0.4)
    middle = length3(x, y - f32(0.14), z) - f32(0.28)
    head = length3(x, y - f32(0.52), z) - f32(0.2)
    nose = taper(x, z, y - f32(0.52), f32(0.15), f32(0.42), f32(0.07), f32(0.01))
    return min(min(low, middle), min(head, nose))


@scene
def bottle(x, y, z):
    """A bottle with a narrow neck."""
    body = pillar(x, y + f32(0.26), z, f32(0.28), f32(0.42)) - f32(0.04)
    shoulder = taper(x, y, z, f32(0.16), f32(0.42), f32(0.31), f32(0.11))
    neck = pillar(x, y - f32(0.5), z, f32(0.1), f32(0.2)) - f32(0.01)
    lip = pillar(x, y - f32(0.68), z, f32(0.12), f32(0.03)) - f32(0.02)
    return min(blend(body, shoulder, f32(0.08)), min(neck, lip))


@scene
def cactus(x, y, z):
    """A column with two arms."""
    trunk = rod(x, y, z, f32(-0.6), f32(0.5), f32(0.18))
    left = min(
        rod(y + f32(0.12), x, z, f32(-0.42), f32(0), f32(0.11)), rod(x + f32(0.42), y, z, f32(-0.12), f32(0.28), f32(0.11))
    )
    right = min(
        rod(y - f32(0.1), x, z, f32(0), f32(0.42), f32(0.11)), rod(x - f32(0.42), y, z, f32(0.1), f32(0.42), f32(0.11))
    )
    return min(trunk, min(left, right))


@called
def distance(shape, melt, x, y, z):
    """How far the point is from the shape, or from a ball the more it is melted."""
    if shape == 0:
        d = mug(x, y, z)
    elif shape == 1:
        d = heart(x, y, z)
    elif shape == 2:
        d = star(x, y, z)
    elif shape == 3:
        d = chair(x, y, z)
    elif shape == 4:
        d = dumbbell(x, y, z)
    elif shape == 5:
        d = mushroom(x, y, z)
    elif shape == 6:
        d = hourglass(x, y, z)
    elif shape == 7:
        d = arrow(x, y, z)
    elif shape == 8:
        d = hoop(x, z, y, f32(0.46), f32(0.2))
    elif shape == 9:
        d = jack(x, y, z)
    elif shape == 10:
        d = gear(x, y, z)
    elif shape == 11:
        d = crescent(x, y, z)
    elif shape == 12:
        d = arch(x, y, z)
    elif shape == 13:
        d = cone(x, y, z)
    elif shape == 14:
        d = pawn(x, y, z)
    elif shape == 15:
        d = house(x, y, z)
    elif shape == 16:
        d = hammer(x, y, z)
    elif shape == 17:
        d = key(x, y, z)
    elif shape == 18:
        d = snowman(x, y, z)
    elif shape == 19:
        d = bottle(x, y, z)
    elif shape == 20:
        d = cactus(x, y, z)
    elif shape == 21:
        d = box(x, y, z, f32(0.44), f32(0.44), f32(0.44), f32(0.05))
    elif shape == 22:
        d = length3(x, y, z) - f32(0.6)
    else:
        d = pillar(x, y, z, f32(0.4), f32(0.52)) - f32(0.04)
    if melt > ZERO:
        d = mix(d, length3(x, y, z) - f32(0.55), melt)
    return d


@called
def normal(shape, melt, x, y, z):
    """The unit vector that points away from the shape, from four distances."""
    e = f32(0.003)
    a = distance(shape, melt, x + e, y - e, z - e)
    b = distance(shape, melt, x - e, y - e, z + e)
    c = distance(shape, melt, x - e, y + e, z - e)
    d = distance(shape, melt, x + e, y + e, z + e)
    nx = a - b - c + d
    ny = -a - b + c + d
    nz = -a + b - c + d
    shorten = ONE / sqrt(dot(nx, ny, nz, nx, ny, nz) + f32(1e-20))
    return nx * shorten, ny * shorten, nz * shorten
