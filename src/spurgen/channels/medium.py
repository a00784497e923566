"""What the caption calls the picture."""

from __future__ import annotations

from spurgen.parts import Channel, Value

NAMES = (
    "photo",
    "picture",
    "image",
    "snapshot",
    "photograph",
    "rendering",
    "illustration",
    "print",
    "postcard",
    "poster",
)

CHANNEL = Channel(
    name="medium",
    about="what the caption calls the picture",
    values={name: Value(name, {"medium": name}) for name in NAMES},
    touches={"caption": "medium"},
)
