"""Latents and predictions for tests of scores: no picture is drawn."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa

from spurgen.latents.sample import sample
from spurgen.spec import World
from tests.worlds import world

UNCOUPLED = {"strong": {}, "weak": {}, "even": {}}


def one_channel(**changes: Any) -> World:
    """Two classes and a hue: red belongs to mugs, green to hearts, blue to nobody."""
    known = {"classes": ["mug", "heart"], "channels": {"hue": {"values": ["red", "green", "blue"]}}}
    return world(**known, environments=UNCOUPLED, **changes)


def by_hand(*rows: tuple[str, str]) -> pa.Table:
    """Rows of that world, each a label and a hue."""
    label, hue = zip(*rows, strict=True)
    return pa.table({"row_id": pa.array(range(len(rows)), pa.uint64()), "label": label, "hue": hue})


def split_of(spec: World, split: str, rows: int | None = None) -> pa.Table:
    """The latents of one split."""
    table = sample(spec, rows)
    return table.filter(pa.compute.equal(table["split"].cast(pa.string()), split))


def quarters(rows: int, classes: int, seed: int = 0) -> np.ndarray:
    """Probabilities in whole quarters: exact in every precision, and with ties."""
    counts = np.random.default_rng(seed).multinomial(4, np.full(classes, 1 / classes), size=rows)
    return counts / 4


def without_places(scores: dict[str, Any]) -> dict[str, Any]:
    """Scores without what says where predictions came from."""
    about = ("key", "method", "settings", "model", "seed", "predictions", "directory")
    return {name: value for name, value in scores.items() if name not in about}


def strict_json(data: Any) -> Any:
    """Data there and back again through JSON as the standard has it, without NaN."""
    return json.loads(json.dumps(data, allow_nan=False))
