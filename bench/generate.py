"""How long a whole dataset takes, step by step, beside what the disk and an ordinary PNG encoder would need.

python bench/generate.py                      20,000 rows of SpurGen-Image at 224 px, into a temporary directory
python bench/generate.py --million            one million rows at 32 px, for the memory
python bench/generate.py --rows 5000 --set image.size_px=64 --runs 3
"""

from __future__ import annotations

import argparse
import io
import json
import os
import platform
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any


def main() -> None:
    options = arguments()
    from spurgen.spec import load

    spec = load(options.preset, options.set)
    folder = Path(tempfile.mkdtemp(prefix="spurgen-bench-", dir=options.dir))
    try:
        warm_up(spec, folder / "warm")
        results = [measure(spec, folder / "data", options, run) for run in range(options.runs)]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    best = min(results, key=lambda r: r["seconds"])
    found = json.dumps({"machine": machine(), "runs": [r["seconds"] for r in results], "best": best}, indent=1)
    print(found)
    if options.json:
        options.json.write_text(found)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="spurgen-image/v1")
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--dir", help="where to write; a temporary directory unless given")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--million", action="store_true", help="one million rows at 32 px")
    options = parser.parse_args()
    if options.million:
        options.rows = 1_000_000
        options.set.append("image.size_px=32")
    return options


def warm_up(spec: Any, out: Path) -> None:
    """Compile once, so that the figures are those of every later build."""
    from spurgen.store.writer import build

    build(spec, out, rows=2000)
    shutil.rmtree(out)


def measure(spec: Any, out: Path, options: argparse.Namespace, run: int) -> dict[str, Any]:
    from spurgen.store.writer import build

    before = time.process_time()
    done = build(spec, out, rows=options.rows, seed=run, workers=options.workers)
    processor = time.process_time() - before
    result = {
        "rows": done.rows,
        "seconds": round(done.seconds, 2),
        "processor_seconds": round(processor, 2),  # of all threads: tells a busy machine from a slow program
        "cores_busy": round(processor / done.seconds, 2),  # of those that "machine" has, by this build alone
        "rows_per_second": round(done.rows / done.seconds),
        "megabytes": round(done.bytes / 1e6, 1),
        "steps_seconds": {k: round(v, 2) for k, v in done.steps.items()},
        "disk_alone_seconds": round(disk(done.bytes, out.parent), 2),
        "peak_memory_megabytes": peak_memory(),
        "digest": done.digest,
    }
    if "image" in spec.modalities:
        result["pillow_png_seconds_one_core"] = round(pillow(out) * done.rows, 1)
    result["one_row_milliseconds"] = round(one_row(out), 2)
    shutil.rmtree(out)
    return result


def disk(size: int, folder: Path) -> float:
    """Seconds to write and sync as many bytes as the dataset has."""
    block = os.urandom(4 << 20)
    began = time.perf_counter()
    with open(folder / "raw", "wb", buffering=0) as file:
        for _ in range(-(-size // len(block))):
            file.write(block)
        os.fsync(file.fileno())
    took = time.perf_counter() - began
    (folder / "raw").unlink()
    return took


def pillow(out: Path, pictures: int = 100) -> float:
    """Seconds per picture for the PNG encoder that everyone has, at its default level."""
    from PIL import Image

    from spurgen.store.reader import open as open_dataset

    batch = open_dataset(out).batch("image", None, 0, pictures)
    began = time.thread_time()
    for picture in batch:
        Image.fromarray(picture).save(io.BytesIO(), "png")
    return (time.thread_time() - began) / len(batch)


def one_row(out: Path, rows: int = 50) -> float:
    """Milliseconds to read and decode one row somewhere, once the dataset is open."""
    import numpy as np

    from spurgen.store.reader import open as open_dataset

    dataset = open_dataset(out)
    modality = dataset.modalities[0]
    ids = np.random.default_rng(0).integers(0, len(dataset), rows + 1)
    dataset.batch(modality, ids[:1])
    began = time.perf_counter()
    for row_id in ids[1:]:
        dataset.batch(modality, [row_id])
    return (time.perf_counter() - began) / rows * 1000


def peak_memory() -> int | None:
    """The most memory this process has held, where the system says so."""
    status = Path("/proc/self/status")
    if not status.is_file():
        return None
    line = next(x for x in status.read_text().splitlines() if x.startswith("VmHWM"))
    return int(line.split()[1]) // 1024


def machine() -> str:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{platform.machine()}, {cores} cores, Python {platform.python_version()}"


if __name__ == "__main__":
    main()
