"""Two modalities for tests that need no renderer: coloured tiles, and lines of text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import spurgen.render
from spurgen.spec import World
from spurgen.spec.known import MODALITIES

_PARTS = str(Path(__file__).parent / "parts")
if _PARTS not in spurgen.render.__path__:
    spurgen.render.__path__.append(_PARTS)
    MODALITIES._modules.cache_clear()

DATA: dict[str, Any] = {
    "id": "load-test/v1",
    "classes": ["mug", "heart", "star"],
    "rows": 240,
    "modalities": ["tile", "line"],
    "splits": {
        "train": {"share": 0.6, "environments": ["strong", "weak"]},
        "id_val": {"share": 0.1, "environments": ["strong"]},
        "test": {"share": 0.3, "environments": ["even"]},
    },
    "channels": {
        "hue": {"values": ["red", "green", "blue"]},
        "background": {"values": ["stripes", "dots", "grid", "waves"]},
    },
    "environments": {
        "strong": {"hue": {"coupling": "aligned", "p": 0.9}, "background": {"coupling": "aligned", "p": 0.8}},
        "weak": {"hue": {"coupling": "aligned", "p": 0.6}},
        "even": {},
    },
}


def world(**changes: Any) -> World:
    """The test world, with whole tables of it replaced."""
    return World.from_dict(DATA | changes)


def register(worker: int) -> None:
    """For workers that start afresh: importing this module is what makes tiles and lines known."""
