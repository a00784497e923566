"""The shapes: how far a point is from each (signed-distance functions, never more than the true distance)."""

from __future__ import annotations

from spurgen.render.image.sdf.arithmetic import (
    HALF,
    ONE,
    TWO,
    ZERO,
    called,
    clamp,
    dot,
    f32,
    length2,
    length3,
    mix,
    scene,
    sqrt,
)  # fmt: skip
from spurgen.render.image.sdf.lanes import apart, select

# ------------------------------------------------------------------------------------------------- solids


@scene
def box(x, y, z, a, b, c):
    """A box of half sizes a, b, c. Its distance is too short beside edges, which costs less than a root."""
    return max(abs(x) - a, max(abs(y) - b, abs(z) - c))


@scene
def pillar(x, y, z, r, h):
    """A cylinder along y of radius r and half height h."""
    return max(length2(x, z) - r, abs(y) - h)


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
def slab(d, z, h):
    """A flat figure at distance d, drawn out to half thickness h."""
    return max(d, abs(z) - h)


@scene
def cushion(d, z, h, r):
    """The same with its edges rounded by r."""
    w = abs(z) - h
    return min(max(d, w), ZERO) + length2(max(d, ZERO), max(w, ZERO)) - r


@scene
def rectangle(x, y, a, b):
    """A rectangle of half sizes a, b."""
    return max(abs(x) - a, abs(y) - b)


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
    h = max(k - abs(a - b), ZERO)
    return min(a, b) - h * h * (f32(0.25) / k)


# ------------------------------------------------------------------------------------------------- shapes


@scene
def mug(x, y, z):
    """A mug with its handle to the right."""
    r = length2(x, z)
    body = max(max(r - f32(0.45), abs(y) - f32(0.52)), -max(r - f32(0.36), abs(y - f32(0.12)) - f32(0.52)))
    handle = max(hoop(x - f32(0.45), z, y, f32(0.27), f32(0.09)), f32(0.4) - x)
    return min(body, handle)


@scene
def heart(x, y, z):
    """A heart, drawn out."""
    s = f32(1.12)
    x = abs(x) / s
    y = (y + f32(0.62)) / s
    lobe = x + y > ONE
    m = HALF * max(x + y, ZERO)
    flank = min(x * x + (y - ONE) * (y - ONE), (x - m) * (x - m) + (y - m) * (y - m))
    a, b = x - f32(0.25), y - f32(0.75)
    root = sqrt(select(lobe, a * a + b * b, flank))
    d = select(lobe, root - f32(0.35355), select(x > y, root, -root))
    return cushion(d * s, z, f32(0.1), f32(0.12))


@scene
def star(x, y, z):
    """A five-pointed star, drawn out."""
    return slab(pentagram(x, y, f32(0.74), f32(0.45)), z, f32(0.15))


@scene
def chair(x, y, z):
    """A chair that faces the viewer."""
    ax, az = abs(x), abs(z)
    seat = box(x, y + f32(0.02), z, f32(0.4), f32(0.07), f32(0.4))
    back = max(ax - f32(0.4), max(abs(y - f32(0.4)) - f32(0.38), abs(z + f32(0.34)) - f32(0.07)))
    gap = max(ax - f32(0.24), abs(y - f32(0.36)) - f32(0.13))
    legs = max(max(abs(ax - f32(0.32)) - f32(0.08), abs(az - f32(0.32)) - f32(0.08)), abs(y + f32(0.38)) - f32(0.38))
    return min(min(seat, max(back, -gap)), legs)


@scene
def dumbbell(x, y, z):
    """Two weights on a bar that lies along x."""
    r = length2(y, z)
    ax = abs(x)
    return min(max(r - f32(0.38), abs(ax - f32(0.52)) - f32(0.19)), max(r - f32(0.1), ax - f32(0.6)))


@scene
def mushroom(x, y, z):
    """A cap on a stem."""
    cap = max(length3(x, (y + f32(0.02)) * f32(1.15), z) - f32(0.64), f32(0.02) - y) * f32(0.87)
    return min(cap, taper(x, y, z, f32(-0.64), f32(0.1), f32(0.28), f32(0.19)))


@scene
def hourglass(x, y, z):
    """Two cones, tip to tip, between two plates."""
    h = abs(y)
    r = length2(x, z)
    glass = max((r - f32(0.62) * h - f32(0.06)) * f32(0.85), h - f32(0.6))
    return min(glass, max(r - f32(0.48), abs(h - f32(0.6)) - f32(0.07)))


@scene
def arrow(x, y, z):
    """An arrow that points up."""
    shaft = rectangle(x, y + f32(0.3), f32(0.17), f32(0.42))
    head = max((abs(x) * f32(0.77) + (y - f32(0.7)) * f32(0.64)), f32(-0.04) - y)
    return slab(min(shaft, head), z, f32(0.15))


@scene
def jack(x, y, z):
    """Three crossed bars."""
    x, y, z = abs(x), abs(y), abs(z)
    long, thin = f32(0.7), f32(0.17)
    a = max(x - long, max(y, z) - thin)
    b = max(y - long, max(x, z) - thin)
    return min(a, min(b, max(z - long, max(x, y) - thin)))


@scene
def gear(x, y, z):
    """A wheel with eight teeth and a hole."""
    r = length2(x, y)
    a, b = abs(x), abs(y)
    x, y = max(a, b), min(a, b)  # folded into 0..45 degrees, then about 22.5
    m = TWO * max(f32(-0.382683) * x + f32(0.92388) * y, ZERO)
    x = x + m * f32(0.382683)
    y = y - m * f32(0.92388)
    tooth = rectangle(x - f32(0.56), y, f32(0.16), f32(0.11))
    return slab(max(min(r - f32(0.54), tooth), f32(0.22) - r), z, f32(0.16))


@scene
def crescent(x, y, z):
    """A sickle moon, open to the right."""
    d = max(length2(x, y) - f32(0.7), f32(0.5) - length2(x - f32(0.32), y - f32(0.12)))
    return slab(d, z, f32(0.16))


@scene
def arch(x, y, z):
    """A gate with a round top."""
    block = rectangle(x, y, f32(0.6), f32(0.58))
    hole = min(length2(x, y - f32(0.02)) - f32(0.29), rectangle(x, y + f32(0.4), f32(0.29), f32(0.42)))
    return slab(max(block, -hole), z, f32(0.21))


@scene
def cone(x, y, z):
    """A traffic cone on its foot."""
    body = taper(x, y, z, f32(-0.58), f32(0.7), f32(0.42), f32(0.07))
    return min(body, box(x, y + f32(0.6), z, f32(0.53), f32(0.06), f32(0.53)))


@scene
def pawn(x, y, z):
    """A piece of a board game."""
    r = length2(x, z)
    head = length3(x, y - f32(0.42), z) - f32(0.27)
    body = taper(x, y, z, f32(-0.6), f32(0.3), f32(0.36), f32(0.12))
    collar = max(r - f32(0.27), abs(y - f32(0.17)) - f32(0.05))
    foot = max(r - f32(0.46), abs(y + f32(0.6)) - f32(0.09))
    return min(min(blend(head, body, f32(0.1)), collar), foot)


@scene
def house(x, y, z):
    """A house with a door and a chimney."""
    ax, az = abs(x), abs(z)
    walls = max(max(ax - f32(0.47), az - f32(0.4)), abs(y + f32(0.25)) - f32(0.37))
    door = max(max(abs(x + f32(0.12)) - f32(0.13), abs(y + f32(0.38)) - f32(0.23)), f32(0.3) - z)
    roof = max(ax * f32(0.62) + (y - f32(0.62)) * f32(0.78), max(f32(0.04) - y, az - f32(0.48)))
    chimney = box(x - f32(0.28), y - f32(0.45), z, f32(0.1), f32(0.24), f32(0.1))
    return min(max(walls, -door), min(roof, chimney))


@scene
def hammer(x, y, z):
    """A hammer, its head on top."""
    handle = max(length2(x, z) - f32(0.1), max(y - f32(0.5), f32(-0.76) - y))
    return min(handle, max(length2(y - f32(0.42), z) - f32(0.25), abs(x) - f32(0.52)))


@scene
def key(x, y, z):
    """A key, its bow on top."""
    bow = abs(length2(x, y - f32(0.4)) - f32(0.26)) - f32(0.11)
    shaft = rectangle(x, y + f32(0.28), f32(0.1), f32(0.5))
    teeth = max(abs(x - f32(0.2)) - f32(0.2), abs(abs(y + f32(0.53)) - f32(0.15)) - f32(0.09))
    return slab(min(bow, min(shaft, teeth)), z, f32(0.12))


@scene
def snowman(x, y, z):
    """Three balls of snow and a nose."""
    low = length3(x, y + f32(0.36), z) - f32(0.42)
    middle = length3(x, y - f32(0.16), z) - f32(0.3)
    head = length3(x, y - f32(0.56), z) - f32(0.22)
    nose = taper(x, z, y - f32(0.56), f32(0.15), f32(0.5), f32(0.08), f32(0.01))
    return min(min(low, middle), min(head, nose))


@scene
def bottle(x, y, z):
    """A bottle with a narrow neck."""
    r = length2(x, z)
    body = max(r - f32(0.34), abs(y + f32(0.28)) - f32(0.46))
    shoulder = taper(x, y, z, f32(0.16), f32(0.42), f32(0.34), f32(0.12))
    neck = max(r - f32(0.12), abs(y - f32(0.5)) - f32(0.22))
    lip = max(r - f32(0.16), abs(y - f32(0.7)) - f32(0.06))
    return min(blend(body, shoulder, f32(0.08)), min(neck, lip))


@scene
def cactus(x, y, z):
    """A column with two arms."""
    zz = z * z
    a = y - clamp(y, f32(-0.62), f32(0.5))
    trunk = sqrt(x * x + a * a + zz) - f32(0.2)
    b, c = y + f32(0.14), x - clamp(x, f32(-0.42), ZERO)
    left = b * b + c * c
    b, c = x + f32(0.42), y - clamp(y, f32(-0.14), f32(0.28))
    left = min(left, b * b + c * c)
    b, c = y - f32(0.08), x - clamp(x, ZERO, f32(0.42))
    right = b * b + c * c
    b, c = x - f32(0.42), y - clamp(y, f32(0.08), f32(0.46))
    return min(trunk, sqrt(min(left, min(right, b * b + c * c)) + zz) - f32(0.13))


@called
def distance(shape, melt, x, y, z):
    """How far the point is from the shape, or from a ball the more it is melted."""
    apart()
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
        d = hoop(x, z, y, f32(0.48), f32(0.22))
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
        d = box(x, y, z, f32(0.48), f32(0.48), f32(0.48))
    elif shape == 22:
        d = length3(x, y, z) - f32(0.6)
    else:
        d = pillar(x, y, z, f32(0.44), f32(0.56))
    if melt > ZERO:
        d = mix(d, length3(x, y, z) - f32(0.55), melt)
    return d


@called
def normal(shape, melt, x, y, z):
    """The unit vector that points away from the shape, from four distances."""
    apart()
    e = f32(0.0004)  # a wider cross would see both sides of more sharp edges, which then shine as dots
    a = distance(shape, melt, x + e, y - e, z - e)
    b = distance(shape, melt, x - e, y - e, z + e)
    c = distance(shape, melt, x - e, y + e, z - e)
    d = distance(shape, melt, x + e, y + e, z + e)
    nx = a - b - c + d
    ny = -a - b + c + d
    nz = -a + b - c + d
    shorten = ONE / sqrt(dot(nx, ny, nz, nx, ny, nz) + f32(1e-20))
    return nx * shorten, ny * shorten, nz * shorten
