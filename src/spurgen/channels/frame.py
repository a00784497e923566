"""A border around the picture."""

from __future__ import annotations

from spurgen.parts import Channel, Value

CHANNEL = Channel(
    name="frame",
    about="border around the picture",
    values={
        "none": Value("without a frame", {"frame": "none"}),
        "white": Value("in a white frame", {"frame": "white"}),
        "black": Value("in a black frame", {"frame": "black"}),
        "gold": Value("in a golden frame", {"frame": "gold"}),
        "dashed": Value("in a dashed frame", {"frame": "dashed"}),
        "rounded": Value("with rounded corners", {"frame": "rounded"}),
        "film": Value("on a strip of film", {"frame": "film"}),
    },
    says="phrase",
    touches={"image": "border"},
)
