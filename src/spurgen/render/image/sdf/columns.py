"""The numbers that packing starts from: a matrix with one row per trait and one column per picture."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spurgen.parts import Coded
from spurgen.render.image import traits as names

Traits = Mapping[str, NDArray[Any] | Coded]

# Angles come first: packing replaces them by their cosines, and writes their sines into rows below all others.
Place = namedtuple(
    "Place",
    """
    pose_yaw_degrees pose_pitch_degrees pose_roll_degrees companion_yaw_degrees
    camera_azimuth_degrees camera_elevation_degrees light_azimuth_degrees light_elevation_degrees
    background_angle_degrees
    shape shape_melt object_scale object_x object_y camera_distance light_intensity shadow
    hue_degrees saturation value material
    background_texture background_frequency background_phase_x background_phase_y background_seed
    background_saturation background_hue_degrees background_second_hue_degrees floor
    companion companion_side companion_hue_degrees watermark frame sensor sensor_seed
    """,
)
of = Place(*range(len(Place._fields)))  # of.shape is the row of the matrix that holds `shape`
ANGLES, SINES = of.background_angle_degrees + 1, len(of)
JITTERS = {  # what is added to a trait
    "object_scale": "object_scale_jitter",
    "object_x": "object_x_jitter",
    "object_y": "object_y_jitter",
    "camera_elevation_degrees": "camera_elevation_jitter_degrees",
    "light_azimuth_degrees": "light_azimuth_jitter_degrees",
    "light_elevation_degrees": "light_elevation_jitter_degrees",
    "light_intensity": "light_intensity_jitter",
    "hue_degrees": "hue_jitter_degrees",
}
SHADOW_HARDNESS = {"none": 0.0, "soft": 9.0, "hard": 60.0}


def positions(known: tuple[str, ...]) -> dict[str, int]:
    """Each name's place in the list: its code in the kernel."""
    return {name: i for i, name in enumerate(known)}


# The number that stands for each name of a textual trait.
NUMBERS: dict[str, Mapping[str, float]] = {
    "shape": positions(names.SHAPES),
    "shadow": SHADOW_HARDNESS,
    "material": positions(names.MATERIALS),
    "background_texture": positions(names.TEXTURES),
    "floor": positions(names.FLOORS),
    "companion": {name: -1 if name == "none" else names.SHAPES.index(name) for name in names.COMPANIONS},
    "watermark": positions(names.WATERMARKS),
    "frame": positions(names.FRAMES),
    "sensor": positions(names.SENSORS),
}


def cut(traits: Traits, rows: slice) -> dict[str, NDArray[Any] | Coded]:
    """The traits of some of the rows."""
    return {
        name: Coded(column.codes[rows], column.names) if isinstance(column, Coded) else column[rows]
        for name, column in traits.items()
    }


def gather(traits: Traits) -> NDArray[np.float64]:
    """The matrix, with jitters added.

    It has a few columns more than there are pictures: were its rows a power of two apart, the numbers of one picture
    would compete for the same places in the processor's cache.
    """
    n = len(traits["pose_yaw_degrees"])
    out = np.empty((SINES + ANGLES, n + 24))
    for row, name in zip(out[:SINES, :n], Place._fields, strict=True):
        column = traits[name]
        row[:] = column.lookup(NUMBERS[name], np.float64) if isinstance(column, Coded) else column
        if name in JITTERS:
            row += traits[JITTERS[name]]
    return out
