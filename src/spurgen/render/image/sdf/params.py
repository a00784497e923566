"""From traits to the numbers the kernel reads: cameras, turns, colours, materials. One row of float32 per picture.

Everything is float64 with + - * / sqrt until the last step, so the numbers are the same on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spurgen.parts import Coded
from spurgen.render.image import traits as names
from spurgen.render.image.sdf import layout as at
from spurgen.render.image.sdf.hulls import HULLS, bounds, reach
from spurgen.render.image.sdf.trigonometry import F64, cos_sin

Traits = Mapping[str, NDArray[Any] | Coded]
Vector = tuple[F64, F64, F64]

# ambient, diffuse, specular, squarings (the highlight is cos ** (2 ** squarings)), tint, rim, mirror, glow
MATERIALS: dict[str, tuple[float, ...]] = {
    "matte": (0.36, 0.78, 0.0, 0, 0.0, 0.0, 0.0, 0.0),
    "plastic": (0.32, 0.72, 0.3, 5, 0.0, 0.0, 0.0, 0.0),
    "glossy": (0.28, 0.62, 0.95, 8, 0.0, 0.12, 0.16, 0.0),
    "metal": (0.1, 0.3, 0.9, 5, 0.8, 0.0, 1.15, 0.0),
    "velvet": (0.16, 0.34, 0.0, 0, 0.0, 1.3, 0.0, 0.0),
    "glowing": (0.3, 0.22, 0.0, 0, 0.0, 0.5, 0.0, 0.62),
}
SHADOW_HARDNESS = {"none": 0.0, "soft": 9.0, "hard": 60.0}
FLOOR_COLOURS = {  # bright and dark, display levels
    "none": ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    "wood": ((0.82, 0.62, 0.42), (0.38, 0.23, 0.13)),
    "tiles": ((0.93, 0.93, 0.9), (0.36, 0.4, 0.45)),
    "concrete": ((0.78, 0.77, 0.75), (0.52, 0.52, 0.53)),
    "carpet": ((0.9, 0.8, 0.66), (0.5, 0.13, 0.16)),
}
COMPANION_SCALE = 0.34
WALL_Z = -1.3


def positions(known: tuple[str, ...]) -> dict[str, int]:
    """Each name's place in the list: its code in the kernel."""
    return {name: i for i, name in enumerate(known)}


def colour(hue_degrees: F64, saturation: F64, value: F64) -> Vector:
    """HSV to linear red, green, blue (display levels are square roots of linear light)."""
    h = hue_degrees / 60
    out = []
    for first in (5.0, 3.0, 1.0):
        k = h + first
        k = k - np.floor(k / 6) * 6
        level = value * (1 - saturation * np.minimum(np.maximum(np.minimum(k, 4 - k), 0), 1))
        out.append(level * level)
    return out[0], out[1], out[2]


def direction(azimuth_degrees: F64, elevation_degrees: F64) -> Vector:
    """The unit vector with that azimuth (0 toward the viewer, 90 to the right) and elevation."""
    ca, sa = cos_sin(azimuth_degrees)
    ce, se = cos_sin(elevation_degrees)
    return sa * ce, se, ca * ce


def product(a: Vector, b: Vector) -> F64:
    """Inner product, row by row."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    """Cross product, row by row."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def turned(yaw: F64, pitch: F64, roll: F64) -> tuple[Vector, Vector, Vector]:
    """The axes of an object, seen from the world, after rolling, pitching and yawing it."""
    cy, sy = cos_sin(yaw)
    cp, sp = cos_sin(pitch)
    cr, sr = cos_sin(roll)
    return (
        (cy * cr + sy * sp * sr, cp * sr, cy * sp * sr - sy * cr),
        (sy * sp * cr - cy * sr, cp * cr, sy * sr + cy * sp * cr),
        (sy * cp, -sp, cy * cp),
    )


def lowest(shape: Coded, axes: tuple[Vector, Vector, Vector]) -> F64:
    """The height of the lowest point of each turned shape of scale 1."""
    low = np.empty(len(shape))
    for code, name in enumerate(shape.names):
        rows = np.flatnonzero(shape.codes == code)
        if rows.size:
            hull = HULLS[name]
            x, y, z = (axis[1][rows, None] for axis in axes)
            low[rows] = (x * hull[:, 0] + y * hull[:, 1] + z * hull[:, 2] - hull[:, 3]).min(1)
    return low


def put(out: NDArray[np.float32], offset: int, *columns: Any) -> None:
    """Write columns side by side from `offset` on."""
    for i, column in enumerate(columns):
        out[:, offset + i] = column


def pack(traits: Traits) -> NDArray[np.float32]:
    """One row of parameters per picture; `layout` says what stands where."""

    def number(name: str) -> F64:
        return np.asarray(traits[name], np.float64)

    def names_of(name: str) -> Coded:
        coded = traits[name]
        assert isinstance(coded, Coded)
        return coded

    n = len(traits["pose_yaw_degrees"])
    out = np.zeros((n, at.PARAMETERS), np.float32)
    camera = _camera(out, number)
    light = _light(out, number, names_of)
    _wall_and_floor(out, number, names_of)
    axes = turned(number("pose_yaw_degrees"), number("pose_pitch_degrees"), number("pose_roll_degrees"))
    shape = names_of("shape")
    scale = number("object_scale") + number("object_scale_jitter")
    height = scale * lowest(shape, axes)
    put(out, at.FLOOR_HEIGHT, height)
    paint = colour(number("hue_degrees") + number("hue_jitter_degrees"), number("saturation"), number("value"))
    materials = names_of("material").lookup(MATERIALS, np.float64)
    here = np.zeros(n)
    put(out, at.OBJECT + at.MELT, number("shape_melt"))
    _body(out, at.OBJECT, camera, light, shape, axes, scale, (here, here, here), paint, materials)
    _companion(out, camera, light, number, names_of("companion"), scale, height)
    for offset, name, known in (
        (at.WATERMARK, "watermark", names.WATERMARKS),
        (at.FRAME, "frame", names.FRAMES),
        (at.SENSOR, "sensor", names.SENSORS),
    ):
        put(out, offset, names_of(name).lookup(positions(known), np.float32))
    put(out, at.SENSOR_SEED, number("sensor_seed"))
    return out


def _camera(out: NDArray[np.float32], number: Any) -> tuple[Vector, Vector, Vector, Vector]:
    """Eye, forward, right, up: a camera that looks at the object."""
    elevation = number("camera_elevation_degrees") + number("camera_elevation_jitter_degrees")
    azimuth = number("camera_azimuth_degrees")
    back = direction(azimuth, elevation)
    distance = number("camera_distance")
    ca, sa = cos_sin(azimuth)
    right = (ca, np.zeros_like(ca), -sa)
    up = cross(back, right)
    eye = (back[0] * distance, back[1] * distance, back[2] * distance)
    forward = (-back[0], -back[1], -back[2])
    put(out, at.EYE, *eye, *forward, *right, *up)
    put(out, at.SHIFT_X, number("object_x") + number("object_x_jitter"), number("object_y") + number("object_y_jitter"))
    return eye, forward, right, up


def _light(out: NDArray[np.float32], number: Any, names_of: Any) -> Vector:
    azimuth = number("light_azimuth_degrees") + number("light_azimuth_jitter_degrees")
    elevation = number("light_elevation_degrees") + number("light_elevation_jitter_degrees")
    light = direction(azimuth, elevation)
    intensity = np.maximum(number("light_intensity") + number("light_intensity_jitter"), 0)
    put(out, at.LIGHT, *light, intensity, names_of("shadow").lookup(SHADOW_HARDNESS, np.float32))
    return light


def _wall_and_floor(out: NDArray[np.float32], number: Any, names_of: Any) -> None:
    frequency = number("background_frequency")
    cos, sin = cos_sin(number("background_angle_degrees"))
    kind = names_of("background_texture").lookup(positions(names.TEXTURES), np.float32)
    phases = (number("background_phase_x"), number("background_phase_y"), number("background_seed"))
    put(out, at.WALL_KIND, kind, cos * frequency, sin * frequency, frequency, *phases)
    saturation = number("background_saturation")
    put(out, at.WALL_BRIGHT, *colour(number("background_hue_degrees"), saturation, 0.93 - 0.15 * saturation))
    put(out, at.WALL_DARK, *colour(number("background_second_hue_degrees"), 0.1 + saturation, 0.66 - 0.3 * saturation))
    floor = names_of("floor")
    put(out, at.FLOOR_KIND, floor.lookup(positions(names.FLOORS), np.float32))
    colours = floor.lookup(FLOOR_COLOURS, np.float64)
    put(out, at.FLOOR_BRIGHT, *(colours[:, 0] * colours[:, 0]).T, *(colours[:, 1] * colours[:, 1]).T)


def _body(
    out: NDArray[np.float32], base: int, camera: tuple[Vector, ...], light: Vector, shape: Coded,
    axes: tuple[Vector, Vector, Vector], scale: F64, centre: Vector, paint: Vector, materials: F64,
) -> None:  # fmt: skip
    """Write one body's block. Row i of `axes` is where the object's axis i points in the world."""

    def local(v: Vector) -> Vector:
        return product(axes[0], v), product(axes[1], v), product(axes[2], v)

    eye, forward, right, up = camera
    seen_from = local((eye[0] - centre[0], eye[1] - centre[1], eye[2] - centre[2]))
    put(out, base + at.SHAPE, shape.lookup(positions(names.SHAPES), np.float32))
    put(out, base + at.SCALE, scale, *centre)
    put(out, base + at.REACH, shape.lookup({name: reach(name) + 0.01 for name in shape.names}, np.float64))
    put(out, base + at.BOX_CENTRE, *shape.lookup({name: bounds(name) for name in shape.names}, np.float64).T)
    melted = out[:, base + at.MELT] > 0  # a box for shape and ball alike
    out[melted, base + at.BOX_CENTRE : base + at.BOX_CENTRE + 3] = 0
    out[melted, base + at.BOX_HALF : base + at.BOX_HALF + 3] = out[melted, base + at.REACH, None]
    put(out, base + at.B_EYE, *(v / scale for v in seen_from))
    put(out, base + at.B_FORWARD, *local(forward), *local(right), *local(up), *local(light))
    put(out, base + at.B_SKY, axes[0][1], axes[1][1], axes[2][1])
    put(out, base + at.TURN, *axes[0], *axes[1], *axes[2])
    put(out, base + at.COLOUR, *paint, *materials.T)
    _rectangles(out, base, camera, light)


def _rectangles(out: NDArray[np.float32], base: int, camera: tuple[Vector, ...], light: Vector) -> None:
    """Where in the picture a body and its shadow can be, from the box that holds it."""

    def read(offset: int) -> Vector:
        x, y, z = (out[:, base + offset + i].astype(np.float64) for i in range(3))
        return x, y, z

    scale = out[:, base + at.SCALE].astype(np.float64)
    centre, middle, half = read(at.CENTRE), read(at.BOX_CENTRE), read(at.BOX_HALF)
    axes = tuple(read(at.TURN + 3 * i) for i in range(3))
    x, y, z = (scale * (axes[0][i] * middle[0] + axes[1][i] * middle[1] + axes[2][i] * middle[2]) for i in range(3))
    here = (centre[0] + x, centre[1] + y, centre[2] + z)
    hardness = out[:, at.HARDNESS].astype(np.float64)
    soft = np.where(hardness > 0, 3.2 / np.maximum(hardness, 1.0), 0.0) + 0.04  # room for half shadows
    steep, high = np.maximum(light[2], 0.05), np.maximum(light[1], 0.05)
    spans = [scale * (half[i] + 0.06) for i in range(3)]
    put(out, base + at.SEEN_IN, *_rectangle(camera, here, [_times(axes[i], spans[i]) for i in range(3)]))
    spans = [scale * (half[i] + soft) for i in range(3)]
    sides = [_times(axes[i], spans[i]) for i in range(3)]
    wall = _rectangle(camera, _along(here, light, (here[2] - WALL_Z) / steep),
                      [_along(side, light, side[2] / steep) for side in sides])  # fmt: skip
    if out[:, at.FLOOR_KIND].any():
        down = (here[1] - out[:, at.FLOOR_HEIGHT]) / high
        fallen = [_along(side, light, side[1] / high) for side in sides]
        floor = _rectangle(camera, _along(here, light, down), fallen)
        there = out[:, at.FLOOR_KIND] > 0
        wall = [np.where(there, (np.minimum, np.maximum)[i % 2](wall[i], floor[i]), wall[i]) for i in range(4)]
    put(out, base + at.SHADOW_IN, *wall)


def _times(v: Vector, factor: F64) -> Vector:
    return v[0] * factor, v[1] * factor, v[2] * factor


def _along(v: Vector, light: Vector, t: F64) -> Vector:
    """v moved with the light, t of its lengths far."""
    return v[0] - light[0] * t, v[1] - light[1] * t, v[2] - light[2] * t


def _rectangle(camera: tuple[Vector, ...], centre: Any, sides: list[Vector]) -> list[F64]:
    """Left, right, bottom, top (u and v) of what a box given by its centre and half sides can cover."""
    eye, forward, right, up = camera
    ray = (centre[0] - eye[0], centre[1] - eye[1], centre[2] - eye[2])
    depth = product(ray, forward)
    deep = sum(np.abs(product(side, forward)) for side in sides)
    near, far = depth - deep, depth + deep
    lost = near < 0.5  # behind the camera: anywhere
    near = np.maximum(near, 0.5)
    out = []
    for axis in (right, up):
        middle, span = product(ray, axis), sum(np.abs(product(side, axis)) for side in sides)
        low, high = middle - span, middle + span
        out.append(np.where(lost, -9.0, low / np.where(low < 0, near, far)))
        out.append(np.where(lost, 9.0, high / np.where(high > 0, near, far)))
    return out


def _companion(
    out: NDArray[np.float32],
    camera: tuple[Vector, ...],
    light: Vector,
    number: Any,
    kind: Coded,
    scale: F64,
    height: F64,
) -> None:
    """A small body beside and behind the object, on the side where the picture has more room, on the same ground."""
    out[:, at.COMPANION + at.SHAPE] = -1
    rows = np.flatnonzero(kind.lookup({name: name != "none" for name in kind.names}, bool))
    if rows.size == 0:
        return
    shape = Coded(kind.codes[rows], tuple("ball" if name == "none" else name for name in kind.names))
    nothing = np.zeros(rows.size)
    axes = turned(number("companion_yaw_degrees")[rows], nothing, nothing)
    small = nothing + COMPANION_SCALE
    place = (number("object_x") + number("object_x_jitter"))[rows]
    side = np.where(np.abs(place) > 0.15, -place, number("companion_side")[rows])
    aside = np.where(side < 0, -1.0, 1.0) * (0.62 + 0.5 * scale[rows])
    eye, forward, right, up = ((v[0][rows], v[1][rows], v[2][rows]) for v in camera)
    centre = (right[0] * aside, height[rows] - small * lowest(shape, axes), right[2] * aside - 0.3)
    paint = colour(number("companion_hue_degrees")[rows], nothing + 0.55, nothing + 0.85)
    plain = np.tile(np.array(MATERIALS["plastic"]), (rows.size, 1))
    some = out[rows]
    of_rows = (light[0][rows], light[1][rows], light[2][rows])
    _body(some, at.COMPANION, (eye, forward, right, up), of_rows, shape, axes, small, centre, paint, plain)
    out[rows] = some
