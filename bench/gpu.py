"""Pictures per second on a GPU, and how far its bytes are from the CPU's, next to the CPU in the same run.

python bench/gpu.py [--sizes 64 224] [--seconds 3] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from spurgen.errors import SpurgenError
from spurgen.latents.sample import Plan
from spurgen.latents.traits import rows as resolve
from spurgen.render.image import MODALITY
from spurgen.spec import load

WORLDS = {"three channels": "spurgen-image/v1", "ten channels": "shortcut-soup/v1"}


def measure(world: str, size_px: int, seconds: float) -> dict[str, Any]:
    """Draw the same rows on both; time the GPU until it is done, pictures left in its memory."""
    import torch

    spec = load(WORLDS[world], [f"image.size_px={size_px}"])
    count = 8192 if size_px <= 64 else 1024
    rows = resolve(Plan(spec).table(np.arange(count)), spec, MODALITY)
    options = spec.options("image")
    ours = MODALITY.draw(rows, options)
    theirs = MODALITY.draw(rows, options, device="cuda").cpu().numpy()
    apart = np.abs(ours.astype(np.int16) - theirs).max(-1)
    began = time.perf_counter()
    MODALITY.draw(rows, options)
    cpu = count / (time.perf_counter() - began)
    torch.cuda.synchronize()
    began, drawn = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        MODALITY.draw(rows, options, device="cuda")
        drawn += count
    torch.cuda.synchronize()
    return {
        "world": world,
        "size_px": size_px,
        "gpu": drawn / (time.perf_counter() - began),
        "cpu": cpu,
        "differing_pixels": float((apart > 0).mean()),
        "differing_by_more_than_3": float((apart > 3).mean()),
        "largest_difference": int(apart.max()),
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[64, 224])
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    try:
        found = [measure(world, size, options.seconds) for size in options.sizes for world in WORLDS]
    except (SpurgenError, ImportError) as error:
        sys.exit(str(error))
    for f in found:
        print(
            f"{f['size_px']}², {f['world']}: GPU {f['gpu']:,.0f} pictures/s, CPU {f['cpu']:,.0f}; of the pixels "
            f"{f['differing_pixels']:.2g} differ, {f['differing_by_more_than_3']:.2g} by more than 3 levels"
        )
    if options.json:
        options.json.write_text(json.dumps({"workers": os.cpu_count(), "sizes": found}, indent=2))


if __name__ == "__main__":
    main()
