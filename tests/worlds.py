"""Small worlds that tests share."""

from __future__ import annotations

import copy
from typing import Any

from spurgen.spec import World

SMALL: dict[str, Any] = {
    "id": "small/v1",
    "classes": ["mug", "heart", "star"],
    "rows": 240,
    "modalities": ["image"],
    "image": {"size_px": 32},
    "splits": {
        "train": {"share": 0.75, "environments": {"strong": 2.0, "weak": 1.0}},
        "test": {"share": 0.25, "environments": ["even"]},
    },
    "channels": {
        "background": {"values": ["stripes", "dots", "bricks"]},
        "hue": {"values": ["red", "green", "blue", "pink"]},
    },
    "environments": {
        "strong": {
            "background": {"coupling": "aligned", "p": 0.9},
            "hue": {"coupling": "given", "channel": "background", "p": 0.8},
        },
        "weak": {"background": {"coupling": "positive", "p": [0.2, 0.5, 0.7]}},
        "even": {},
    },
}


def small(**changes: Any) -> dict[str, Any]:
    """A copy of SMALL; `a__b=value` sets the field a.b."""
    data = copy.deepcopy(SMALL)
    for path, value in changes.items():
        *tables, last = path.split("__")
        table = data
        for name in tables:
            table = table.setdefault(name, {})
        table[last] = value
    return data


def world(**changes: Any) -> World:
    """The small world, checked."""
    return World.from_dict(small(**changes))
