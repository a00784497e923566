"""Where the light comes from and how bright it is."""

from __future__ import annotations

from spurgen.parts import Channel, Value

DIRECTIONS = {"left": ("the left", -42, 38), "right": ("the right", 42, 38), "above": ("above", 0, 68)}
INTENSITIES = {"bright": 1.2, "dim": 0.5}


def light(direction: str, intensity: str) -> Value:
    """Light of one intensity from one direction."""
    where, azimuth, elevation = DIRECTIONS[direction]
    traits = {
        "light_azimuth_degrees": azimuth,
        "light_elevation_degrees": elevation,
        "light_intensity": INTENSITIES[intensity],
    }
    return Value(f"in {intensity} light from {where}", traits)


CHANNEL = Channel(
    name="light",
    about="direction and brightness of the light",
    values={f"{i}_{d}": light(d, i) for i in INTENSITIES for d in DIRECTIONS},
    says="phrase",
    touches={"image": "everywhere"},
)
