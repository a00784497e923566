"""The pattern of the wall behind the object."""

from __future__ import annotations

from spurgen.parts import Channel, Value

CHANNEL = Channel(
    name="background",
    about="pattern of the wall behind the object",
    values={
        "stripes": Value("striped", {"background_texture": "stripes"}),
        "checker": Value("checked", {"background_texture": "checker"}),
        "dots": Value("dotted", {"background_texture": "dots"}),
        "clouds": Value("cloudy", {"background_texture": "clouds"}),
        "bricks": Value("brick", {"background_texture": "bricks"}),
        "waves": Value("wavy", {"background_texture": "waves"}),
        "rings": Value("ringed", {"background_texture": "rings"}),
        "grid": Value("grid", {"background_texture": "grid"}),
        "zigzag": Value("zigzag", {"background_texture": "zigzag"}),
        "diamonds": Value("diamond", {"background_texture": "diamonds"}),
        "crosses": Value("crossed", {"background_texture": "crosses"}),
        "hexagons": Value("honeycomb", {"background_texture": "hexagons"}),
        "plaid": Value("plaid", {"background_texture": "plaid"}),
        "scales": Value("scaly", {"background_texture": "scales"}),
        "plain": Value("plain", {"background_texture": "plain"}),
    },
    says="background",
    touches={"image": "surroundings"},
)
