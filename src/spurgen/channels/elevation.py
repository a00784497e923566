"""How high the camera stands."""

from __future__ import annotations

from spurgen.parts import Channel, Value

CHANNEL = Channel(
    name="elevation",
    about="height of the camera",
    values={
        "low": Value("seen from a low angle", {"camera_elevation_degrees": 0}),
        "level": Value("seen from slightly above", {"camera_elevation_degrees": 16}),
        "high": Value("seen from above", {"camera_elevation_degrees": 36}),
    },
    says="phrase",
    touches={"image": "everywhere"},
)
