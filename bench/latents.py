"""Latents per second, for worlds of a few and of many channels, next to NumPy's own generator in the same run.

python bench/latents.py [--rows 1000000] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from spurgen.latents.audit import audit
from spurgen.latents.sample import Plan
from spurgen.spec import load


def best_of(times: int, work: Callable[[], Any]) -> float:
    """Seconds of the fastest run."""
    seconds = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def measure(rows: int) -> list[dict[str, Any]]:
    """One entry per world and mode."""
    out = []
    for name in ("quick/v1", "shortcut-soup/v1"):
        for mode in ("quota", "iid"):
            spec = load(name, [f"sampling={mode}", f"rows={rows}"])
            plan = Plan(spec)
            columns = plan.table([0]).num_columns
            draws = (rows, columns)
            yardstick = best_of(2, lambda shape=draws: np.random.default_rng(0).random(shape, np.float32))
            seconds = best_of(2, lambda plan=plan: plan.table(np.arange(rows, dtype=np.uint64)))
            out.append(
                {"what": f"{name} {mode}", "columns": columns, "seconds": seconds, "yardstick_seconds": yardstick}
            )
    table = plan.table(np.arange(rows, dtype=np.uint64))
    out.append(
        {
            "what": "audit",
            "columns": columns,
            "seconds": best_of(1, lambda: audit(table, spec)),
            "yardstick_seconds": yardstick,
        }
    )
    return out


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found = measure(options.rows)
    print(f"{options.rows:,} rows")
    print(f"{'what':<24}{'columns':>8}{'seconds':>10}{'rows/s':>14}{'NumPy draws of that shape':>28}{'ratio':>8}")
    for f in found:
        ratio = f["seconds"] / f["yardstick_seconds"]
        print(
            f"{f['what']:<24}{f['columns']:>8}{f['seconds']:>10.2f}{options.rows / f['seconds']:>14,.0f}"
            f"{f['yardstick_seconds']:>26.2f} s{ratio:>8.1f}"
        )
    print(f"largest resident size: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")
    if options.json:
        options.json.write_text(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
