"""The colour of the object."""

from __future__ import annotations

from spurgen.parts import Channel, Value

CHANNEL = Channel(
    name="hue",
    about="colour of the object",
    values={
        "red": Value("red", {"hue_degrees": 0}),
        "orange": Value("orange", {"hue_degrees": 27}),
        "yellow": Value("yellow", {"hue_degrees": 53}),
        "lime": Value("lime", {"hue_degrees": 84}),
        "green": Value("green", {"hue_degrees": 128}),
        "teal": Value("teal", {"hue_degrees": 163}),
        "cyan": Value("cyan", {"hue_degrees": 188}),
        "blue": Value("blue", {"hue_degrees": 217}),
        "indigo": Value("indigo", {"hue_degrees": 246}),
        "violet": Value("violet", {"hue_degrees": 274}),
        "magenta": Value("magenta", {"hue_degrees": 304}),
        "pink": Value("pink", {"hue_degrees": 335}),
    },
    says="adjective",
    touches={"image": "object"},
)
