"""Captions per second, next to a plain Python loop that formats the simplest of them and marks nothing.

python bench/caption.py [--rows 1000000] [--preset spurgen-text/v1] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import spurgen


def seconds(function: Callable[[], Any], times: int = 3) -> float:
    """The shortest of several calls."""
    spent = []
    for _ in range(times):
        start = time.perf_counter()
        function()
        spent.append(time.perf_counter() - start)
    return min(spent)


def main() -> None:
    """Print one table; write it as JSON when asked."""
    ask = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ask.add_argument("--rows", type=int, default=1_000_000)
    ask.add_argument("--preset", default="spurgen-text/v1")
    ask.add_argument("--json", type=Path)
    given = ask.parse_args()

    spec = spurgen.load_spec(given.preset)
    table = spurgen.sample(spec, rows=given.rows, seed=0)
    captions = spurgen.render(table, spec, "caption")
    pairs = list(zip(table.column("hue").to_pylist(), table.column("label").to_pylist(), strict=True))
    figures = {
        "captions with marks": seconds(lambda: spurgen.render(table, spec, "caption")),
        "their digests' content": seconds(lambda: captions[:].contents),
        "plain loop, one template": seconds(lambda: [f"A photo of a {hue} {label}." for hue, label in pairs]),
    }
    print(f"{given.rows:,} captions of {given.preset}, one thread")
    for name, spent in figures.items():
        print(f"{name:26} {spent:7.2f} s {given.rows / spent:>12,.0f} per second")
    if given.json:
        given.json.write_text(json.dumps({"rows": given.rows, "preset": given.preset, "seconds": figures}, indent=1))


if __name__ == "__main__":
    main()
