"""What the object's surface is made of."""

from __future__ import annotations

from spurgen.parts import Channel, Value

CHANNEL = Channel(
    name="material",
    about="how the object's surface answers to light",
    values={
        "matte": Value("matte", {"material": "matte"}),
        "plastic": Value("plastic", {"material": "plastic"}),
        "glossy": Value("glossy", {"material": "glossy"}),
        "metal": Value("metallic", {"material": "metal"}),
        "velvet": Value("velvet", {"material": "velvet"}),
        "glowing": Value("glowing", {"material": "glowing"}),
    },
    says="adjective",
    touches={"image": "object"},
)
