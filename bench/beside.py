"""Several trials side by side in one process, each step in turn: rows a second beside one trial alone, in the same run.

python bench/beside.py [--device cuda] [--model resnet18] [--size 64] [--batch 64] [--widths 1 2 4 8 15] [--json FILE]

On a GPU every trial has a captured step and a stream of its own, and one trial without captured steps is the yardstick;
on a processor turns can gain nothing, and the yardstick is one trial after the other.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import spurgen
from spurgen.train.run import training
from spurgen.train.turns import beside

WARM = 20  # steps before the clock starts: they compile, capture and fill caches


def rows_per_second(data: Path, asked: argparse.Namespace, width: int, graphs: str) -> float:
    """Rows that `width` trials learn from in a second, checks left out."""
    options = {"steps": WARM + asked.steps, "batch_size": asked.batch, "checks": 1}
    work = [
        training(data, "erm", asked.model, seed=seed, options=options, device=asked.device, graphs=graphs)
        for seed in range(width)
    ]
    for one in work:
        for _ in range(WARM):
            next(one)
    _wait(asked.device)
    began = time.perf_counter()
    for _ in range(asked.steps - 1):  # the last step of a trial is followed by its check
        for one in work:
            next(one)
    _wait(asked.device)
    seconds = time.perf_counter() - began
    list(beside(work, width))
    return width * (asked.steps - 1) * asked.batch / seconds


def _wait(device: str) -> None:
    if device == "cuda":
        import torch

        torch.cuda.synchronize()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--model", default="small_cnn")
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--widths", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    lines: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="spurgen-bench-") as folder:
        data = Path(folder) / "data"
        spurgen.build(spurgen.load_spec("quick/v1", ["rows=3000", f"image.size_px={asked.size}"]), data)
        alone = rows_per_second(data, asked, 1, "off" if asked.device == "cuda" else "auto")
        print(f"{asked.model} {asked.size}², batch {asked.batch}, {asked.device}; yardstick {alone:,.0f} rows/s")
        for width in asked.widths:
            found = rows_per_second(data, asked, width, "auto")
            lines.append({"width": width, "rows_per_second": found, "yardstick": alone})
            print(f"{width:>3} side by side: {found:>10,.0f} rows/s, {found / alone:.2f}×", flush=True)
    if asked.json:
        asked.json.write_text(json.dumps({**vars(asked), "json": str(asked.json), "lines": lines}, indent=1))


if __name__ == "__main__":
    main()
