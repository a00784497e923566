"""Small worlds for tests of the store, drawn by the modality in `parts/`."""

from __future__ import annotations

from pathlib import Path

import spurgen.render
from spurgen.spec import World
from spurgen.spec.known import MODALITIES

_PARTS = str(Path(__file__).parent / "parts")
if _PARTS not in spurgen.render.__path__:
    spurgen.render.__path__.append(_PARTS)
    MODALITIES._modules.cache_clear()

TOML = """
id = "store-test/v1"
description = "A world | for tests."
classes = ["mug", "heart", "star"]
rows = 240
modalities = ["blot"]
[blot]
size_px = 16
[splits]
train = { share = 0.6, environments = ["strong"] }
test = { share = 0.4, environments = ["even"] }
[channels.hue]
values = ["red", "green", "blue"]
[channels.background]
values = ["stripes", "dots", "grid"]
[environments.strong]
hue = { coupling = "aligned", p = 0.9 }
[environments.even]
"""


def world(**changes: str) -> World:
    """The test world, with pieces of its TOML replaced."""
    text = TOML
    for old, new in changes.items():
        text = text.replace(f"{old} = {_value(text, old)}", f"{old} = {new}")
    return World.from_toml(text)


def _value(text: str, key: str) -> str:
    return next(line.split(" = ", 1)[1] for line in text.splitlines() if line.startswith(f"{key} = "))
