"""Where in the picture the object is."""

from __future__ import annotations

from spurgen.parts import Channel, Value

CHANNEL = Channel(
    name="position",
    about="place of the object in the picture",
    values={
        "centre": Value("in the centre", {"object_x": 0.0, "object_y": 0.0}),
        "left": Value("on the left", {"object_x": -0.38, "object_y": 0.0}),
        "right": Value("on the right", {"object_x": 0.38, "object_y": 0.0}),
        "top": Value("at the top", {"object_x": 0.0, "object_y": 0.36}),
        "bottom": Value("at the bottom", {"object_x": 0.0, "object_y": -0.36}),
    },
    says="phrase",
    touches={"image": "everywhere"},
)
