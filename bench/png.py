"""Pictures per second and bytes per picture of the PNG coder, next to Pillow and a memory copy in the same run.

python bench/png.py [--size 224] [--count 128] [--workers 1] [--json FILE]
"""

from __future__ import annotations

import argparse
import io
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from spurgen.render.image import png


def rendered(count: int, size: int) -> np.ndarray:
    """Pictures as the engine draws them."""
    import spurgen

    data = spurgen.load_spec("quick/v1").dump()
    spec = spurgen.World.from_dict(data | {"image": {"size_px": size}})
    return spurgen.render(spurgen.sample(spec, rows=count, seed=0), spec, "image")


def painted(count: int, size: int) -> np.ndarray:
    """Stand-ins: a shaded disc before stripes, checks or soft clouds."""
    y, x = np.mgrid[:size, :size].astype(np.float64) / size
    out = np.empty((count, size, size, 3), np.uint8)
    for i, rng in enumerate(np.random.default_rng(0).spawn(count)):
        angle, waves = rng.uniform(0, np.pi), rng.uniform(4, 14)
        along, across = x * np.cos(angle) + y * np.sin(angle), y * np.cos(angle) - x * np.sin(angle)
        stripes, checks = np.sin(2 * np.pi * waves * along), np.sin(2 * np.pi * waves * across)
        kind = i % 3
        pattern = [np.clip(20 * stripes, -1, 1), np.clip(20 * stripes * checks, -1, 1), 0.5 * stripes + 0.5 * checks]
        colours = rng.uniform(80, 230, (3, 3))
        back = colours[0] + (colours[1] - colours[0]) * (pattern[kind][..., None] + 1) / 2
        cx, cy, radius = *rng.uniform(0.3, 0.7, 2), rng.uniform(0.15, 0.3)
        height = np.sqrt(np.clip(1 - ((x - cx) ** 2 + (y - cy) ** 2) / radius**2, 0, 1))[..., None]
        out[i] = np.where(height > 0, colours[2] * (0.4 + 0.6 * height), back)
    return out


def pillow(level: int) -> Callable[[np.ndarray], list[bytes]]:
    """Pillow's PNG at a compression level."""

    def encode(pictures: np.ndarray) -> list[bytes]:
        blobs = []
        for picture in pictures:
            stream = io.BytesIO()
            Image.fromarray(picture).save(stream, "png", compress_level=level)
            blobs.append(stream.getvalue())
        return blobs

    return encode


def best(function: Callable[[], Any], budget_seconds: float = 2.0) -> tuple[float, Any]:
    """The shortest time of several calls, and what the last one gave."""
    function()
    shortest, started, result = float("inf"), time.perf_counter(), None
    while time.perf_counter() - started < budget_seconds:
        start = time.perf_counter()
        result = function()
        shortest = min(shortest, time.perf_counter() - start)
    return shortest, result


def main() -> None:
    """Print one table; write it as JSON when asked."""
    ask = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ask.add_argument("--size", type=int, default=224)
    ask.add_argument("--count", type=int, default=128)
    ask.add_argument("--workers", type=int, default=1)
    ask.add_argument("--pictures", choices=("rendered", "painted"), default="rendered")
    ask.add_argument("--json", type=Path)
    given = ask.parse_args()

    clean = (rendered if given.pictures == "rendered" else painted)(given.count, given.size)
    grain = np.random.default_rng(0).integers(0, 8, clean.shape, dtype=np.uint8)
    figures: list[dict[str, Any]] = []
    for pictures, what in ((clean, given.pictures), (clean // 2 + grain, "with grain of 3 bits")):
        coders = {
            "spurgen": lambda pictures: png.encode(pictures, given.workers),
            "Pillow level 1": pillow(1),
            "Pillow level 6": pillow(6),
            "memory copy": lambda pictures: pictures.copy(),
        }
        for name, coder in coders.items():
            seconds, blobs = best(lambda coder=coder, pictures=pictures: coder(pictures))
            size = int(np.mean([memoryview(blob).nbytes for blob in blobs]))
            figures.append({"pictures": what, "coder": name, "per_second": round(given.count / seconds), "bytes": size})
        blobs = png.encode(pictures)
        seconds, _ = best(lambda blobs=blobs: png.decode(blobs, given.workers))
        figures.append({"pictures": what, "coder": "decode", "per_second": round(given.count / seconds), "bytes": 0})
    print(f"{given.size} x {given.size} RGB, {given.count} pictures, {given.workers} thread(s) for spurgen and decode")
    for row in figures:
        print(f"{row['pictures']:22} {row['coder']:16} {row['per_second']:>9,} pictures/s {row['bytes']:>9,} bytes")
    if given.json:
        given.json.write_text(
            json.dumps({"size_px": given.size, "workers": given.workers, "figures": figures}, indent=1)
        )


if __name__ == "__main__":
    main()
