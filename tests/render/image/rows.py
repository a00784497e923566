"""Rows for tests: traits drawn from the modality's own declarations, some of them set by hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from spurgen import seeds
from spurgen.parts import Coded, Constant, Rows
from spurgen.render.image import MODALITY


def make_rows(n: int, seed: int = 0, **given: Any) -> Rows:
    """n rows; `given` sets traits: one value, a list of values, or ... for "any of its names"."""
    row_id = np.arange(n, dtype=np.uint64)
    traits: dict[str, Any] = {}
    for trait in MODALITY.traits:
        value = given.pop(trait.name, None)
        u = seeds.uniform(seed, f"nuisance/{trait.name}", row_id)
        if trait.names:
            if value is None and isinstance(trait.distribution, Constant):
                value = trait.distribution.value
            if value is None or value is ...:
                codes = np.floor(u * len(trait.names)).astype(np.int32)
            else:
                values = [value] * n if isinstance(value, str) else list(value)
                codes = np.array([trait.names.index(v) for v in values], np.int32)
            traits[trait.name] = Coded(codes, trait.names)
        elif value is not None:
            traits[trait.name] = np.broadcast_to(np.asarray(value, np.float32), n)
        elif isinstance(trait.distribution, Constant):
            traits[trait.name] = np.full(n, trait.distribution.value, np.float32)
        else:
            traits[trait.name] = trait.distribution.sample(u)
    assert not given, f"unknown traits: {list(given)}"
    return Rows(row_id, traits, (), (), np.zeros(n, np.int32), {})


def everything(n: int, seed: int = 0, **given: Any) -> Rows:
    """Rows in which every trait with names varies."""
    named = {trait.name: ... for trait in MODALITY.traits if trait.names}
    return make_rows(n, seed, **(named | given))
