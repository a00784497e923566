"""Reading for training: batches, single rows and drawing on the fly, each next to its yardstick in the same run.

python bench/load.py [--preset quick/v1 --rows 3000 --batch 128 --seconds 1.0 --set KEY=VALUE … --json FILE]
"""

from __future__ import annotations

import argparse
import io
import json
import os
import platform
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset

from spurgen.load import cache
from spurgen.load import fly as numpy_fly
from spurgen.load.batches import Batches as ArrayBatches
from spurgen.load.rows import open_rows
from spurgen.load.torch import Batches, OnTheFly, SpurgenDataset, collate
from spurgen.render import draw
from spurgen.spec import load
from spurgen.store import reader
from spurgen.store.writer import build


class Line(NamedTuple):
    """One figure beside its yardstick."""

    what: str
    value: float
    unit: str
    yardstick: str
    against: float

    @property
    def times(self) -> float:
        """How often the yardstick fits in, above 1 when we are better."""
        return self.value / self.against if self.unit.endswith("/s") else self.against / self.value


class Naive(Dataset[Any]):
    """How it is usually done: PNG bytes in memory, decoded by Pillow one at a time."""

    def __init__(self, files: list[bytes], y: np.ndarray):
        self.files = files
        self.y = y

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, i: int) -> Any:
        picture = np.array(Image.open(io.BytesIO(self.files[i])).convert("RGB"))
        return torch.from_numpy(picture).permute(2, 0, 1), int(self.y[i])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="quick/v1")
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--seconds", type=float, default=1.0, help="how long each figure is measured")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="spurgen-bench-"))
    try:
        lines = measure(options, folder / "data")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{options.preset}, {options.rows} rows, batches of {options.batch}, {os.cpu_count()} cores")
    for x in lines:
        print(f"{x.what:46} {x.value:12,.3g} {x.unit:10} {x.yardstick:44} {x.against:12,.3g}   {x.times:7.2f}×")
    if options.json:
        about = {"machine": platform.platform(), "cores": os.cpu_count(), "options": vars(options) | {"json": None}}
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(about | {"lines": [x._asdict() for x in lines]}, indent=1))


def measure(options: Any, out: Path) -> list[Line]:
    """Every line of the table."""
    spec = load(options.preset, options.set)
    build(spec, out, rows=options.rows)
    dataset = reader.open(out)
    split, size = "train", options.batch
    files = [f["bytes"] for f in dataset.table(split, ["image"])["image"].to_pylist()]
    y = open_rows(dataset, split).y
    naive = Naive(files, y)

    began = time.perf_counter()
    pixels = cache.decoded(dataset, split, "image", out / "again")
    first_use = len(files) / (time.perf_counter() - began)
    assert pixels is not None
    began = time.perf_counter()
    for i in range(len(naive)):
        naive[i]
    looped = len(naive) / (time.perf_counter() - began)
    rows = open_rows(dataset, split)
    rows.take([0])  # makes the copy that everything below reads
    ds = SpurgenDataset(rows)

    def speed(batches: Callable[[], Iterable[Any]]) -> float:
        return rate(batches, options.seconds) * size

    decoded = speed(lambda: DataLoader(naive, size, shuffle=True, drop_last=True))
    decoded_in_two = speed(lambda: DataLoader(naive, size, shuffle=True, drop_last=True, num_workers=2))
    copied = speed(lambda: repeat(lambda: pixels[:size].copy()))
    gathered = speed(lambda: repeat(lambda: pixels[np.random.default_rng(0).permutation(len(pixels))[:size]]))

    def stored(**how: Any) -> float:
        return speed(lambda: Batches(ds, size, shuffle=True, drop_last=True, **how))

    pillow, two = "DataLoader over PNG, Pillow, 0 workers", "DataLoader over PNG, Pillow, 2 workers"
    lines = [
        Line(
            "decoded copy, first use",
            first_use,
            "rows/s",
            "Pillow in a loop",
            looped,
        ),
        Line(
            "Batches, arrays as stored",
            speed(lambda: ArrayBatches(rows, size, True, 0, True)),
            "rows/s",
            "copy of a batch",
            copied,
        ),
        Line(
            "Batches, arrays as stored",
            speed(lambda: ArrayBatches(rows, size, True, 0, True)),
            "rows/s",
            "numpy shuffle and gather",
            gathered,
        ),
        Line("Batches, tensors NCHW", stored(), "rows/s", pillow, decoded),
        Line("Batches, tensors NCHW", stored(), "rows/s", two, decoded_in_two),
        Line("Batches, tensors channels_last", stored(channels_last=True), "rows/s", pillow, decoded),
        Line("Batches, tensors NCHW float", stored(scale=True), "rows/s", pillow, decoded),
        Line("DataLoader, examples, 0 workers", speed(lambda: loader(ds, size)), "rows/s", pillow, decoded),
        Line(
            "DataLoader, (x, y), 0 workers",
            speed(lambda: loader(SpurgenDataset(rows, as_tuple=True), size)),
            "rows/s",
            pillow,
            decoded,
        ),
        Line(
            "DataLoader, (x, y), 2 workers",
            speed(lambda: loader(SpurgenDataset(rows, as_tuple=True), size, 2)),
            "rows/s",
            two,
            decoded_in_two,
        ),
    ]
    ids = rows.row_id
    lines += [
        Line(
            "one random row from the copy",
            1e3 * latency(lambda i: rows.content([i]), len(ids)),
            "ms",
            "Pillow on bytes in memory",
            1e3 * latency(lambda i: naive[i], len(ids)),
        ),
        Line(
            "one example, ds[i]",
            1e3 * latency(lambda i: ds[i], len(ids)),
            "ms",
            "the same row from Parquet",
            1e3 * latency(lambda i: dataset.batch("image", ids[i]), len(ids), 100),
        ),
    ]
    table = rows.table.slice(0, size)
    alone = speed(lambda: repeat(lambda: draw(table, spec, "image")))
    lines += [
        Line(
            "on the fly, endless, arrays",
            speed(lambda: numpy_fly.OnTheFly(spec, size)),
            "rows/s",
            "drawing one table over and over",
            alone,
        ),
        Line(
            "on the fly, endless, tensors",
            speed(lambda: OnTheFly(spec, size)),
            "rows/s",
            "drawing one table over and over",
            alone,
        ),
        Line(
            "on the fly, passes, tensors",
            speed(lambda: OnTheFly(spec, size, rows=options.rows, drop_last=True)),
            "rows/s",
            "drawing one table over and over",
            alone,
        ),
        Line("on the fly, endless, tensors", speed(lambda: OnTheFly(spec, size)), "rows/s", pillow, decoded),
        Line(
            "a counterfactual",
            1e3 * latency(lambda i: ds.counterfactual(i, next(iter(spec.channels))), len(ids), 50),
            "ms",
            "drawing one row of a table",
            1e3 * latency(lambda i: draw(table.slice(i % size, 1), spec, "image"), len(ids), 50),
        ),
    ]
    return lines


def loader(ds: Any, size: int, workers: int = 0) -> Any:
    return DataLoader(ds, size, shuffle=True, drop_last=True, num_workers=workers, collate_fn=collate)


def repeat(work: Callable[[], Any]) -> Iterator[Any]:
    while True:
        yield work()


def rate(batches: Callable[[], Iterable[Any]], seconds: float) -> float:
    """Batches per second, passes started anew as needed; the first batch is not counted."""
    done, spent = 0, 0.0
    while spent < seconds:
        going = iter(batches())
        next(going)
        began = time.perf_counter()
        for _ in going:
            done += 1
            if spent + time.perf_counter() - began >= seconds:
                break
        spent += time.perf_counter() - began
    return done / spent


def latency(work: Callable[[int], Any], rows: int, times: int = 2000) -> float:
    """The median time of one call, over rows in random order."""
    order = np.random.default_rng(0).integers(0, rows, times)
    work(0)
    taken = []
    for i in order.tolist():
        began = time.perf_counter()
        work(i)
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


if __name__ == "__main__":
    main()
