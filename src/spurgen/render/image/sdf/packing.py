"""One picture's parameters from the numbers its traits come to. Plain Python that compiled functions can call.

`t` holds the numbers (`columns`), `out` the parameters (`layout`); both are pointers, as is all that is looked up.
Everything is float64 with + - * / until it is written, so the parameters are the same on every machine.
"""

from __future__ import annotations

import numpy as np

from spurgen.render.image.sdf import layout as at
from spurgen.render.image.sdf.columns import SINES, of
from spurgen.render.image.sdf.trigonometry import exact
from spurgen.render.image.sdf.vectors import along, cross, direction, local, minus, product, times, turned

COMPANION_SCALE = 0.34
WALL_Z = -1.3
UPRIGHT = 1.0, 0.0  # cosine and sine of no turn
PLASTIC = 1  # the material of companions
# Columns of the table of shapes: the first ball of the shape's hull and the one after its last, then as in `layout`.
FIRST_BALL, END_BALL, REACH, BOX = 0, 1, 2, 3


@exact
def angle(t, place):
    """(cosine, sine) of one of the angles."""
    return t[place], t[SINES + place]


@exact
def put(out, offset, v):
    """Write a vector."""
    out[offset], out[offset + 1], out[offset + 2] = v


@exact
def put_all(out, offset, numbers, start, end):
    """Write a part of the numbers."""
    for i in range(start, end):
        out[offset + i - start] = numbers[i]


@exact
def read(out, offset):
    """A vector as it was written: rounded to float32."""
    return np.float64(out[offset]), np.float64(out[offset + 1]), np.float64(out[offset + 2])


@exact
def level(k, saturation, value):
    """Linear light of one of red, green, blue, k sixths of the circle of hues from where it is weakest."""
    k = k - np.floor(k / 6.0) * 6.0
    shown = value * (1.0 - saturation * min(max(min(k, 4.0 - k), 0.0), 1.0))
    return shown * shown


@exact
def colour(hue_degrees, saturation, value):
    """HSV to linear red, green, blue (display levels are square roots of linear light)."""
    h = hue_degrees / 60.0
    return level(h + 5.0, saturation, value), level(h + 3.0, saturation, value), level(h + 1.0, saturation, value)


@exact
def lowest(shape, balls, axes):
    """The height of the lowest point of a turned shape of scale 1, from the balls of its hull."""
    x, y, z = axes[0][1], axes[1][1], axes[2][1]
    low = np.inf
    for i in range(np.int64(shape[FIRST_BALL]), np.int64(shape[END_BALL])):
        j = 4 * i
        low = min(low, x * balls[j] + y * balls[j + 1] + z * balls[j + 2] - balls[j + 3])
    return low


@exact
def pack_camera(t, out):
    """(eye, forward, right, up) of a camera that looks at the object."""
    azimuth = angle(t, of.camera_azimuth_degrees)
    back = direction(azimuth, angle(t, of.camera_elevation_degrees))
    ca, sa = azimuth
    right = (ca, 0.0, -sa)
    up = cross(back, right)
    eye = times(back, t[of.camera_distance])
    forward = (-back[0], -back[1], -back[2])
    put(out, at.EYE, eye)
    put(out, at.FORWARD, forward)
    put(out, at.RIGHT, right)
    put(out, at.UP, up)
    out[at.SHIFT_X], out[at.SHIFT_Y] = t[of.object_x], t[of.object_y]
    return eye, forward, right, up


@exact
def pack_light(t, out):
    """The direction toward the light."""
    light = direction(angle(t, of.light_azimuth_degrees), angle(t, of.light_elevation_degrees))
    put(out, at.LIGHT, light)
    out[at.INTENSITY] = max(t[of.light_intensity], 0.0)
    out[at.HARDNESS] = t[of.shadow]
    return light


@exact
def pack_wall_and_floor(t, out, floor):
    """Pattern and colours of the wall, colours of the floor."""
    frequency = t[of.background_frequency]
    cos, sin = angle(t, of.background_angle_degrees)
    out[at.WALL_KIND] = t[of.background_texture]
    out[at.WALL_ACROSS], out[at.WALL_ALONG], out[at.WALL_FREQUENCY] = cos * frequency, sin * frequency, frequency
    out[at.WALL_U], out[at.WALL_V] = t[of.background_phase_x], t[of.background_phase_y]
    out[at.SEED] = t[of.background_seed]
    saturation = t[of.background_saturation]
    put(out, at.WALL_BRIGHT, colour(t[of.background_hue_degrees], saturation, 0.93 - 0.15 * saturation))
    put(out, at.WALL_DARK, colour(t[of.background_second_hue_degrees], 0.1 + saturation, 0.66 - 0.3 * saturation))
    out[at.FLOOR_KIND] = t[of.floor]
    put_all(out, at.FLOOR_BRIGHT, floor, 0, 6)


@exact
def pack_body(out, base, camera, light, shape, axes, scale, centre, paint, material):
    """One body's block, but for SHAPE and MELT. Row i of `axes` is where the object's axis i points in the world."""
    eye, forward, right, up = camera
    out[base + at.SCALE] = scale
    put(out, base + at.CENTRE, centre)
    out[base + at.REACH] = shape[REACH]
    put_all(out, base + at.BOX_CENTRE, shape, BOX, BOX + 6)
    if out[base + at.MELT] > 0.0:  # a box for shape and ball alike
        reach = out[base + at.REACH]
        put(out, base + at.BOX_CENTRE, (0.0, 0.0, 0.0))
        put(out, base + at.BOX_HALF, (reach, reach, reach))
    x, y, z = local(axes, minus(eye, centre))
    put(out, base + at.B_EYE, (x / scale, y / scale, z / scale))
    put(out, base + at.B_FORWARD, local(axes, forward))
    put(out, base + at.B_RIGHT, local(axes, right))
    put(out, base + at.B_UP, local(axes, up))
    put(out, base + at.B_LIGHT, local(axes, light))
    put(out, base + at.B_SKY, (axes[0][1], axes[1][1], axes[2][1]))
    for i in range(3):
        put(out, base + at.TURN + 3 * i, axes[i])
    put(out, base + at.COLOUR, paint)
    put_all(out, base + at.AMBIENT, material, 0, 8)
    pack_rectangles(out, base, camera, light)


@exact
def pack_rectangles(out, base, camera, light):
    """Where in the picture a body and its shadow can be, from the box that holds it."""
    scale = np.float64(out[base + at.SCALE])
    middle, half = read(out, base + at.BOX_CENTRE), read(out, base + at.BOX_HALF)
    a, b, c = read(out, base + at.TURN), read(out, base + at.TURN + 3), read(out, base + at.TURN + 6)
    cx, cy, cz = read(out, base + at.CENTRE)
    here = (
        cx + scale * (a[0] * middle[0] + b[0] * middle[1] + c[0] * middle[2]),
        cy + scale * (a[1] * middle[0] + b[1] * middle[1] + c[1] * middle[2]),
        cz + scale * (a[2] * middle[0] + b[2] * middle[1] + c[2] * middle[2]),
    )
    sides = reaching_out(a, b, c, scale, half, 0.06)
    put_rectangle(out, base + at.SEEN_IN, rectangle(camera, here, sides))
    hardness = np.float64(out[at.HARDNESS])
    soft = (3.2 / max(hardness, 1.0) if hardness > 0.0 else 0.0) + 0.04  # room for half shadows
    sides = reaching_out(a, b, c, scale, half, soft)
    steep, high = max(light[2], 0.05), max(light[1], 0.05)
    p, q, r = sides
    fallen = along(p, light, p[2] / steep), along(q, light, q[2] / steep), along(r, light, r[2] / steep)
    shadow = rectangle(camera, along(here, light, (here[2] - WALL_Z) / steep), fallen)
    if out[at.FLOOR_KIND] > 0.0:
        down = (here[1] - np.float64(out[at.FLOOR_HEIGHT])) / high
        fallen = along(p, light, p[1] / high), along(q, light, q[1] / high), along(r, light, r[1] / high)
        floor = rectangle(camera, along(here, light, down), fallen)
        shadow = (
            min(shadow[0], floor[0]),
            max(shadow[1], floor[1]),
            min(shadow[2], floor[2]),
            max(shadow[3], floor[3]),
        )
    put_rectangle(out, base + at.SHADOW_IN, shadow)


@exact
def put_rectangle(out, offset, sides):
    """Write the four sides of a rectangle."""
    out[offset], out[offset + 1], out[offset + 2], out[offset + 3] = sides


@exact
def reaching_out(a, b, c, scale, half, margin):
    """The half sides of a turned box, widened by a margin."""
    return (
        times(a, scale * (half[0] + margin)),
        times(b, scale * (half[1] + margin)),
        times(c, scale * (half[2] + margin)),
    )


@exact
def across(sides, v):
    """How far a box with these half sides extends from its middle along v."""
    return abs(product(sides[0], v)) + abs(product(sides[1], v)) + abs(product(sides[2], v))


@exact
def rectangle(camera, centre, sides):
    """Left, right, bottom, top (u and v) of what a box given by its centre and half sides can cover."""
    eye, forward, right, up = camera
    ray = minus(centre, eye)
    depth, deep = product(ray, forward), across(sides, forward)
    near, far = depth - deep, depth + deep
    if near < 0.5:  # behind the camera: anywhere
        return -9.0, 9.0, -9.0, 9.0
    x, width = product(ray, right), across(sides, right)
    y, height = product(ray, up), across(sides, up)
    left, end, bottom, top = x - width, x + width, y - height, y + height
    return (
        left / (near if left < 0.0 else far),
        end / (near if end > 0.0 else far),
        bottom / (near if bottom < 0.0 else far),
        top / (near if top > 0.0 else far),
    )


@exact
def pack_companion(t, out, camera, light, scale, height, shape, balls, material):
    """A small body beside and behind the object, on the side where the picture has more room, on the same ground."""
    axes = turned(angle(t, of.companion_yaw_degrees), UPRIGHT, UPRIGHT)
    place = t[of.object_x]
    side = -place if abs(place) > 0.15 else t[of.companion_side]
    aside = (-1.0 if side < 0.0 else 1.0) * (0.62 + 0.5 * scale)
    right = camera[2]
    ground = height - COMPANION_SCALE * lowest(shape, balls, axes)
    centre = (right[0] * aside, ground, right[2] * aside - 0.3)
    paint = colour(t[of.companion_hue_degrees], 0.55, 0.85)
    pack_body(out, at.COMPANION, camera, light, shape, axes, COMPANION_SCALE, centre, paint, material)


@exact
def pack_picture(t, out, balls, shape, companion, floor, material, plastic):
    """All of a picture's parameters. `shape` to `plastic` are the rows of the tables (`params`) that it needs."""
    for i in range(at.PARAMETERS):
        out[i] = 0.0
    camera = pack_camera(t, out)
    light = pack_light(t, out)
    pack_wall_and_floor(t, out, floor)
    axes = turned(angle(t, of.pose_yaw_degrees), angle(t, of.pose_pitch_degrees), angle(t, of.pose_roll_degrees))
    scale = t[of.object_scale]
    height = scale * lowest(shape, balls, axes)
    out[at.FLOOR_HEIGHT] = height
    paint = colour(t[of.hue_degrees], t[of.saturation], t[of.value])
    out[at.OBJECT + at.SHAPE], out[at.OBJECT + at.MELT] = t[of.shape], t[of.shape_melt]
    pack_body(out, at.OBJECT, camera, light, shape, axes, scale, (0.0, 0.0, 0.0), paint, material)
    out[at.COMPANION + at.SHAPE] = t[of.companion]
    if t[of.companion] >= 0.0:
        pack_companion(t, out, camera, light, scale, height, companion, balls, plastic)
    out[at.WATERMARK], out[at.FRAME], out[at.SENSOR] = t[of.watermark], t[of.frame], t[of.sensor]
    out[at.SENSOR_SEED] = t[of.sensor_seed]
