"""Digests of every preset: latents, and what each modality draws of them.

    python -m tests.golden                   write the file
    python -m tests.golden --check           compare this machine with it
    python -m tests.golden --check cuda      the same with pictures drawn on the GPU

The file changes only when a version does: a preset's, a modality's, or spurgen's own.
"""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from pathlib import Path

import numpy as np

from spurgen.errors import SpurgenError
from spurgen.latents.sample import Plan
from spurgen.render import MODALITIES, draw
from spurgen.spec import load, presets

FILE = Path(__file__).with_name("golden.json")
ROWS = 48


def latents(table) -> str:
    """A digest of names and cells, whatever the chunks and dictionaries."""
    out = hashlib.sha256()
    for name in table.column_names:
        column = table.column(name)
        coded = hasattr(column.type, "index_type")
        cells = "\n".join(map(str, column.to_pylist())).encode() if coded else column.to_numpy().tobytes()
        out.update(name.encode() + b"\0" + cells)
    return out.hexdigest()[:24]


def digests(name: str, device: str = "cpu") -> dict[str, str]:
    """The digests of one preset: rows from all of its range, so that every split is among them."""
    spec = load(name, ["image.size_px=64"] if "image" in load(name).modalities else [])
    plan = Plan(spec)
    table = plan.table(np.linspace(0, plan.rows - 1, ROWS).astype(np.uint64))
    out = {"spec": load(name).digest(), "latents": latents(table)}
    for modality in spec.modalities:
        part = MODALITIES.get(modality)
        batch = draw(table, spec, modality, **({"device": device} if modality == "image" else {}))
        batch = batch.cpu().numpy() if hasattr(batch, "cpu") else batch
        content = hashlib.sha256()
        for i in range(ROWS):
            content.update(part.content(batch, i))
        out[modality] = content.hexdigest()[:24]
    return out


def check(device: str) -> None:
    """Say which digests this machine gives again; exit 1 where one differs."""
    golden = json.loads(FILE.read_text())
    try:
        apart = [
            f"{name} {key}" for name in presets() for key, d in digests(name, device).items() if d != golden[name][key]
        ]
    except SpurgenError as error:
        sys.exit(f"nothing was compared on {device}: {error}")
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, {device}: {len(golden)} presets", end=", ")
    print(f"differing: {', '.join(apart)}" if apart else "every digest as in golden.json")
    sys.exit(bool(apart))


if __name__ == "__main__":
    if "--check" in sys.argv:
        check((*sys.argv[2:], "cpu")[0])
    FILE.write_text(json.dumps({name: digests(name) for name in presets()}, indent=1) + "\n")
