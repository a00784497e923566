"""A second, small object beside the first."""

from __future__ import annotations

from spurgen.parts import Channel, Value

CHANNEL = Channel(
    name="companion",
    about="a second, small object beside the first",
    values={
        "none": Value("all alone", {"companion": "none"}),
        "ball": Value("next to a small ball", {"companion": "ball"}),
        "cube": Value("next to a small cube", {"companion": "cube"}),
        "cone": Value("next to a small cone", {"companion": "cone"}),
        "torus": Value("next to a small ring", {"companion": "torus"}),
        "can": Value("next to a small can", {"companion": "can"}),
    },
    says="phrase",
    touches={"image": "surroundings"},
)
