"""How large the object is."""

from __future__ import annotations

from spurgen.parts import Channel, Value

CHANNEL = Channel(
    name="size",
    about="size of the object",
    values={
        "small": Value("small", {"object_scale": 0.62}),
        "medium": Value("medium-sized", {"object_scale": 0.86}),
        "large": Value("large", {"object_scale": 1.1}),
    },
    says="adjective",
    touches={"image": "everywhere"},
)
