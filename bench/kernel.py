"""Pictures per second of the built-in engine, next to a plain numba ray marcher in the same run.

python bench/kernel.py [--sizes 32 64 128 224 512] [--repeats 5] [--workers N] [--json FILE]

`three channels`: background, hue, light and soft shadows vary. `all channels`: everything a picture can show varies.
The yardstick (bench/scalar_yardstick.py) draws a simpler scene: ten shapes, four patterns, soft shadows. Runs are
interleaved, so that a busy machine slows all of them; the best of the repeats counts, by wall clock, and by CPU time
(pictures per second of CPU time times workers), which a busy machine disturbs less.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import scalar_yardstick
import spurgen
from spurgen.classes import DEFAULT_CLASSES
from spurgen.latents.traits import rows as resolve
from spurgen.parts import Rows
from spurgen.render.image import MODALITY, Options, draw
from spurgen.render.image.sdf.cpu import worker_count

THREE = ("background", "hue", "light")
ALL = (
    *THREE,
    "material",
    "floor",
    "shadow",
    "elevation",
    "size",
    "position",
    "watermark",
    "frame",
    "sensor",
    "companion",
)


def drawn_rows(count: int, channels: tuple[str, ...]) -> Rows:
    """Rows whose channels are all independent of the label."""
    spec = spurgen.World.from_dict(
        {
            "id": "kernel/v1",
            "classes": list(DEFAULT_CLASSES),
            "rows": count,
            "modalities": ["image"],
            "splits": {"test": {"share": 1.0, "environments": ["even"]}},
            "channels": {name: {} for name in channels},
            "environments": {"even": {}},
        }
    )
    return resolve(spurgen.sample(spec), spec, MODALITY)


def contenders(size: int, workers: int) -> dict[str, tuple[int, Callable[[], Any]]]:
    """Name -> (pictures, a function that draws them)."""
    count = max(32, 2048 * 64 * 64 // (size * size) // 2)
    shapes, scenes = scalar_yardstick.scenes(max(16, count // 4))
    out = np.empty((len(shapes), size, size, 3), np.uint8)
    found: dict[str, tuple[int, Callable[[], Any]]] = {
        "scalar numba": (len(shapes), lambda: scalar_yardstick.draw(shapes, scenes, out, workers))
    }
    for name, channels in (("three channels", THREE), ("all channels", ALL)):
        rows = drawn_rows(count, channels)
        found[name] = (count, lambda rows=rows: draw(rows, Options(size_px=size), workers=workers))
    return found


def measure(size: int, repeats: int, workers: int) -> dict[str, dict[str, float]]:
    """Best pictures per second of each, by wall clock and by CPU time."""
    best: dict[str, dict[str, float]] = {}
    runs = contenders(size, workers)
    for _, run in runs.values():
        run()
    for _ in range(repeats):
        for name, (count, run) in runs.items():
            wall, cpu = time.perf_counter(), time.process_time()
            run()
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            rates = {"wall": count / wall, "cpu": count * workers / cpu}
            best[name] = {key: max(rate, best.get(name, rates)[key]) for key, rate in rates.items()}
    return best


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[32, 64, 128, 224, 512])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--workers", type=int, default=worker_count())
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    results = {}
    print(f"{asked.workers} workers; pictures per second by wall clock (by CPU time), times scalar numba by CPU time")
    for size in asked.sizes:
        results[size] = best = measure(size, asked.repeats, asked.workers)
        base = best["scalar numba"]["cpu"]
        cells = (f"{n} {b['wall']:9,.0f} ({b['cpu']:9,.0f}) {b['cpu'] / base:5.1f}x" for n, b in best.items())
        print(f"{size:4} px  " + "   ".join(cells), flush=True)
    if asked.json:
        asked.json.write_text(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
