"""A short time series per row: each class beats at a rate of its own. A whole modality in one file.

It knows two traits that pictures know too: `shape` (set by the class) and `light_intensity` (set by the channel
`light`), so that channel works here at once. `pulse_phase` and `pulse_seed` are its own; no channel sets them, so they
become nuisances with a column each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from spurgen import seeds
from spurgen.parts import Constant, Integers, Modality, Rows, Trait, Uniform
from spurgen.spec.known import classes


class Options(BaseModel):
    """The [pulse] table of a spec."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    steps: int = Field(64, ge=8, le=4096, description="Length of the series.")


def draw(rows: Rows, options: Options, **how: Any) -> NDArray[np.float32]:
    """A triangle wave whose rate is the class, whose height is the light, plus noise that depends on the row alone."""
    rate = rows.traits["shape"].lookup({name: 2 + i for i, name in enumerate(classes())}, np.float64)
    time = np.arange(options.steps) / options.steps
    turns = rate[:, None] * time + rows.traits["pulse_phase"][:, None].astype(np.float64)
    wave = np.abs(turns % 1 - 0.5) * 4 - 1
    counter = rows.traits["pulse_seed"][:, None].astype(np.uint64) * np.uint64(4096) + np.arange(
        options.steps, dtype=np.uint64
    )
    noise = seeds.uniform(0, "pulse/noise", counter) - 0.5
    return (rows.traits["light_intensity"][:, None] * wave + 0.2 * noise).astype(np.float32)


def encode(batch: NDArray[np.float32]) -> Mapping[str, Any]:
    """One list of numbers per row."""
    import pyarrow as pa

    return {"pulse": pa.array(list(batch), pa.list_(pa.float32()))}


def decode(columns: Mapping[str, Any]) -> NDArray[np.float32]:
    """Back to what was drawn."""
    return np.array(columns["pulse"].to_pylist(), np.float32)


MODALITY = Modality(
    name="pulse",
    about="a short time series",
    version=1,
    traits=(
        Trait("shape", Constant("mug"), "the class", names=tuple(classes())),
        Trait("light_intensity", Constant(1.0), "height of the wave", bounds=(0, 2)),
        Trait("pulse_phase", Uniform(0, 1), "where the wave begins"),
        Trait("pulse_seed", Integers(0, 2**31 - 1), "seed of the noise"),
    ),
    options=Options,
    columns={"pulse": {"_type": "List", "feature": {"_type": "Value", "dtype": "float32"}}},
    draw=draw,
    encode=encode,
    decode=decode,
    content=lambda batch, i: batch[i].tobytes(),
)
