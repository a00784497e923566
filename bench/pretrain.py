"""Is a pretrained start worth its minutes? Fine-tunes from one and from nothing, at the step sizes of fine-tuning.

python bench/pretrain.py [--model small_cnn] [--steps 8000] [--rows 20000] [--epochs 10] [--rates 1e-4 1e-5] [--seeds 1]
                         [--device cpu] [--work DIR] [--json FILE]

The worlds are that of spurgen-image/v1 at 64 pixels, three fifths of its rows for training. In `even` no channel goes
along with the label; in `strong` all three do, in nine of ten training rows. Validation rows are mixed evenly in both,
and their accuracy is what is printed: after a tenth, three tenths and all of training, and that of the worst group at
the end. Starts and runs are kept in --work, so that a benchmark that was stopped goes on.
"""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path
from typing import Any

import spurgen
from spurgen.train import train
from spurgen.train.pretrain import STEPS, pretrain

SHARES = (1, 3, 10)  # tenths of training


def world(strength: float, rows: int, size: int) -> Any:
    """The channels of spurgen-image/v1, each aligned in so many training rows; 0.1 is chance for two of them."""
    data = spurgen.load_spec("spurgen-image/v1", [f"rows={rows}", f"image.size_px={size}"]).dump()
    coupled = {channel: {"coupling": "aligned", "p": strength} for channel in data["channels"]}
    return spurgen.World.from_dict(
        data
        | {
            "id": f"{'strong' if strength else 'even'}/v1",
            "modalities": ["image"],
            "environments": {"train": coupled if strength else {}, "even": {}},
            "splits": {
                "train": {"share": 0.6, "environments": ["train"]},
                "val": {"share": 0.2, "environments": ["even"]},
                "test": {"share": 0.2, "environments": ["even"]},
            },
        }
    )


def lines(asked: argparse.Namespace) -> list[dict[str, Any]]:
    """One per world, step size and start; means over seeds."""
    made = pretrain(asked.model, asked.work / "start", asked.steps, size_px=asked.size, device=asked.device)
    print(
        f"{asked.model}, {asked.size} px: a start of {made.about['steps']:,} steps took {made.about['seconds']:.0f} s "
        f"and tells {len(made.about['classes'])} other objects apart in {100 * made.about['accuracy']:.1f}%\n\n"
        f"{'world':<9}{'step size':<12}{'start':<13}"
        + "".join(f"{f'{asked.epochs * share / 10:g} epochs':>11}" for share in SHARES)
        + f"{'worst group':>14}{'seconds':>10}",
        flush=True,
    )
    found = []
    for name, strength in (("even", 0.0), ("strong", 0.9)):
        data = asked.work / name
        spurgen.build(world(strength, asked.rows, asked.size), data)
        for rate in asked.rates:
            for start in (None, made):
                runs = [run(data, start, rate, seed, asked) for seed in range(asked.seeds)]
                mean = [statistics.fmean(column) for column in zip(*runs, strict=True)]
                what = "nothing" if start is None else "pretrained"
                found.append({"world": name, "learning_rate": rate, "start": what, "accuracy": mean[: len(SHARES)],
                              "worst_group_accuracy": mean[-2], "seconds": mean[-1]})  # fmt: skip
                print(f"{name:<9}{rate:<12g}{what:<13}" + "".join(f"{100 * value:>10.1f}%" for value in mean[:-2])
                      + f"{100 * mean[-2]:>13.1f}%{mean[-1]:>10.0f}", flush=True)  # fmt: skip
    return found


def run(data: Path, start: Any, rate: float, seed: int, asked: argparse.Namespace) -> list[float]:
    """Validation accuracy on the way, the worst group's at the end, and the seconds it took."""
    import pyarrow.parquet as pq

    out = asked.work / "runs" / f"{data.name}-{rate:g}-{'start' if start else 'nothing'}-{seed}"
    options = {"epochs": asked.epochs, "learning_rate": rate}
    done = train(data, "erm", asked.model, out, seed, options=options, device=asked.device, start=start)
    checks = pq.read_table(out / "checks.parquet").to_pandas()
    accuracy = [float(checks["accuracy"][share - 1]) for share in SHARES]
    return [*accuracy, float(checks["worst_group_accuracy"].iloc[-1]), done.about["seconds"]]


def main() -> None:
    """Pretrain, fine-tune, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="small_cnn")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--epochs", type=float, default=10)
    parser.add_argument("--rates", type=float, nargs="*", default=[1e-4, 1e-5])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--work", type=Path, default=Path("bench/results/pretrain"))
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    found = lines(asked)
    if asked.json:
        asked.json.write_text(json.dumps({"lines": found}, indent=1))


if __name__ == "__main__":
    main()
