"""All benchmarks as one table: every figure next to a yardstick from the same run. Writes bench/results/all.json.

python bench/run.py [--quick] [--only kernel png latents generate million load train blender gpu]

Each benchmark is a script of its own and runs in a process of its own; one whose library or device is missing is named
and left out. On a busy machine look at the ratios, not at the figures.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent


class Line(NamedTuple):
    """A figure and what it is compared with; `ratio` is how many times better the figure is."""

    what: str
    value: float
    unit: str
    yardstick: str
    against: float
    ratio: float


def of_kernel(found: dict[str, Any]) -> Iterator[Line]:
    """Drawing alone."""
    for size, best in found.items():
        base = best["scalar numba"]["wall"]
        for name in ("three channels", "all channels"):
            value = best[name]["wall"]
            yield Line(f"draw {size}², {name}", value, "pictures/s", "scalar numba tracer", base, value / base)


def of_png(found: dict[str, Any]) -> Iterator[Line]:
    """Encoding alone."""
    rates = {(f["pictures"], f["coder"]): f for f in found["figures"]}
    for (pictures, coder), f in rates.items():
        if coder == "spurgen":
            pillow = rates[pictures, "Pillow level 1"]
            rate, base = f["per_second"], pillow["per_second"]
            title = f"PNG {found['size_px']}² {pictures}, one core"
            yield Line(title, rate, "pictures/s", "Pillow level 1", base, rate / base)
            yield Line(title, f["bytes"], "bytes", "Pillow level 1", pillow["bytes"], pillow["bytes"] / f["bytes"])


def of_latents(found: list[dict[str, Any]]) -> Iterator[Line]:
    """A million rows of latents."""
    for f in found:
        seconds, base = f["seconds"], f["yardstick_seconds"]
        yield Line(f"1,000,000 rows: {f['what']}", seconds, "s", "NumPy draws that many numbers", base, base / seconds)


def of_generate(found: dict[str, Any]) -> Iterator[Line]:
    """A whole dataset."""
    best = found["best"]
    title = f"generate {best['rows']:,} rows, {best['megabytes']:,.0f} MB"
    disk = best["disk_alone_seconds"]
    yield Line(title, best["seconds"], "s", "write and sync those bytes", disk, disk / best["seconds"])
    pillow = best["pillow_png_seconds_one_core"]
    yield Line(
        title, best["processor_seconds"], "CPU s", "Pillow's PNG alone", pillow, pillow / best["processor_seconds"]
    )
    steps = ", ".join(f"{name} {seconds:.1f}" for name, seconds in best["steps_seconds"].items())
    yield Line(f"  its steps in seconds: {steps}", float("nan"), "", "", float("nan"), float("nan"))
    yield Line(
        f"{title}: memory", best["peak_memory_megabytes"], "MB", "bound", 1000, 1000 / best["peak_memory_megabytes"]
    )


def of_lines(found: dict[str, Any]) -> Iterator[Line]:
    """Reading, training, scoring: lines that stand as they are."""
    for x in found["lines"]:
        faster = x["value"] / x["against"] if "/s" in x["unit"] else x["against"] / x["value"]
        yield Line(x["what"], x["value"], x["unit"], x["yardstick"], x["against"], faster)


def of_blender(found: dict[str, Any]) -> Iterator[Line]:
    """Another renderer."""
    title = f"the same scenes at {found['size_px']}²"
    yield Line(
        title, found["spurgen"], "pictures/s", f"Cycles, Blender {found['blender']}", found["cycles"], found["ratio"]
    )


def of_gpu(found: dict[str, Any]) -> Iterator[Line]:
    """Drawing on a GPU."""
    for f in found["sizes"]:
        yield Line(
            f"GPU {f['size_px']}², {f['world']} ({f['differing_pixels']:.2g} of pixels differ)",
            f["gpu"],
            "pictures/s",
            f"{found['workers']} CPU threads",
            f["cpu"],
            f["gpu"] / f["cpu"],
        )


class Script(NamedTuple):
    """How a benchmark is called and how its findings are read."""

    file: str
    words: list[str]
    quick: list[str]
    lines: Callable[[Any], Iterator[Line]]
    needs: str = ""


SCRIPTS = {
    "kernel": Script("kernel.py", [], ["--sizes", "64", "224", "--repeats", "3"], of_kernel),
    "png": Script("png.py", [], ["--count", "32"], of_png),
    "latents": Script("latents.py", [], [], of_latents),
    "generate": Script("generate.py", ["--runs", "2"], ["--rows", "2000"], of_generate),
    "million": Script("generate.py", ["--million"], ["--rows", "50000", "--set", "image.size_px=32"], of_generate),
    "load": Script("load.py", [], [], of_lines),
    "train": Script("train.py", [], ["--methods", "group_dro", "--rounds", "1", "--rows", "1000"], of_lines),
    "blender": Script("blender.py", [], ["--count", "4"], of_blender, needs="bpy"),
    "gpu": Script("gpu.py", [], [], of_gpu, needs="numba_cuda"),
}


def run(name: str, quick: bool) -> list[Line]:
    """Call one script and read what it found."""
    script = SCRIPTS[name]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "found.json"
        words = [
            sys.executable,
            str(HERE / script.file),
            *(script.quick if quick else script.words),
            "--json",
            str(out),
        ]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode or not out.exists():
            reason = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()[-1]
            print(f"left out: {name}: {reason}", file=sys.stderr, flush=True)
            return []
        return list(script.lines(json.loads(out.read_text())))


def show(lines: list[Line]) -> None:
    """Print lines as one table."""
    for x in lines:
        if not x.unit:
            print(x.what)
            continue
        print(
            f"{x.what:<58}{x.value:>12,.4g} {x.unit:<11} {x.yardstick:<38}{x.against:>12,.4g}{x.ratio:>9,.3g}×",
            flush=True,
        )


def main() -> None:
    """Run, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller runs, for a first look")
    parser.add_argument("--only", nargs="+", choices=list(SCRIPTS), default=list(SCRIPTS))
    parser.add_argument("--json", type=Path, default=HERE / "results" / "all.json")
    asked = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    every: list[Line] = []
    for name in asked.only:
        lines = run(name, asked.quick)
        show(lines)
        every += lines
    asked.json.parent.mkdir(parents=True, exist_ok=True)
    asked.json.write_text(json.dumps([x._asdict() for x in every], indent=1))


if __name__ == "__main__":
    main()
