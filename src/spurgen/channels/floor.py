"""What the object stands on."""

from __future__ import annotations

from spurgen.parts import Channel, Value

CHANNEL = Channel(
    name="floor",
    about="what the object stands on",
    values={
        "none": Value("in front of a wall", {"floor": "none"}),
        "wood": Value("on a wooden floor", {"floor": "wood"}),
        "tiles": Value("on a tiled floor", {"floor": "tiles"}),
        "concrete": Value("on a concrete floor", {"floor": "concrete"}),
        "carpet": Value("on a carpet", {"floor": "carpet"}),
    },
    says="phrase",
    touches={"image": "surroundings"},
)
