"""Training and scoring: a step of every method, and what SSS and IG cost, each next to its yardstick in the same run.

python bench/train.py [--methods erm …] [--model small_cnn] [--size 64] [--batch 64] [--rounds 3] [--device cpu]
                      [--rows 4000] [--json FILE]

- ERM's step beside a loop written by hand for the same network, taken in turns.
- Every method's step beside ERM's, taken in turns; of a method with stages, that of the dearest stage.
- On a GPU also the captured step beside the same step without a graph.
- Predicting the edited rows that SSS and IG need, drawn on the way, beside as many forward passes on pictures that lie
  ready in memory.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn

import spurgen
from spurgen.learning import METHODS, Shape
from spurgen.train import events, train
from spurgen.train.encode import find_model

CHUNK = 50  # steps between two events, each of which waits for the device


class Line(NamedTuple):
    """One figure beside its yardstick."""

    what: str
    value: float
    unit: str
    yardstick: str
    against: float


class Clock:
    """Listens to a training and keeps the seconds per step of each stretch between two events."""

    def __init__(self) -> None:
        self.at: list[tuple[int, float]] = []

    def __call__(self, event: events.Event) -> None:
        """Note the time."""
        if isinstance(event, events.Began | events.Stepped):
            self.at.append((event.step, time.perf_counter()))

    def of_stages(self, ends: list[int]) -> list[list[float]]:
        """Seconds per step of the stretches of each stage; the first of a run warms up and does not count."""
        found: list[list[float]] = [[] for _ in ends]
        for (start, began), (end, ended) in zip(self.at[1:], self.at[2:], strict=False):
            stage = next(i for i, last in enumerate(ends) if end <= last)
            if start >= (ends[stage - 1] if stage else 0) and end - start == CHUNK:
                found[stage].append((ended - began) / (end - start))
        return found


def world(rows: int, size: int) -> Any:
    """Three coupled channels in two environments: what every method needs."""
    return spurgen.load_spec("quick/v1", [f"rows={rows}", f"image.size_px={size}"])


def seconds(method: str, data: Path, asked: argparse.Namespace, steps: int, graphs: str = "auto") -> list[list[float]]:
    """Seconds per step of each stage of one training."""
    clock = Clock()
    options = {"steps": steps, "batch_size": asked.batch, "checks": 1}
    settings = {"first_stage": 0.5} if method == "jtt" else {}
    run = train(data, method, asked.model, settings=settings, options=options, device=asked.device, graphs=graphs,
                subscribers=[clock])  # fmt: skip
    shares = [stage.share for stage in run.learner.stages()]
    ends = [round(steps * sum(shares[: i + 1])) for i, share in enumerate(shares) if share]
    return clock.of_stages(ends)


class ByHand:
    """The loop that one would write: rows by index, floats, scores, loss, gradients, a step."""

    def __init__(self, data: Path, asked: argparse.Namespace):
        from spurgen.load.torch import SpurgenDataset

        rows = SpurgenDataset(data, "train")
        self.device = torch.device(asked.device)
        self.x = torch.stack([rows[i].x for i in range(len(rows))]).to(self.device)
        self.x = self.x.contiguous(memory_format=torch.channels_last)
        self.y = torch.tensor([int(rows[i].y) for i in range(len(rows))], device=self.device)
        torch.manual_seed(0)
        net = find_model(asked.model).build(Shape(10, (3, asked.size, asked.size)))
        self.net = net.to(self.device, memory_format=torch.channels_last).train()  # type: ignore[call-overload]
        self.optimiser = torch.optim.AdamW(self.net.parameters(), lr=1e-3, weight_decay=0.01)
        self.batch = asked.batch

    def chunk(self) -> float:
        """Seconds per step of one stretch."""
        began = time.perf_counter()
        for rows in torch.randperm(len(self.x), device=self.device).repeat(8)[: CHUNK * self.batch].split(self.batch):
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
                x = self.x[rows].to(torch.float32, memory_format=torch.channels_last) / 127.5 - 1
                loss = nn.functional.cross_entropy(self.net(x), self.y[rows])
            self.optimiser.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
            self.optimiser.step()
        float(loss.detach())
        return (time.perf_counter() - began) / CHUNK


def steps(data: Path, asked: argparse.Namespace) -> Iterator[Line]:
    """ERM beside the loop by hand, then every method beside ERM."""
    by_hand = ByHand(data, asked)
    by_hand.chunk()
    ours, theirs = [], []
    for _ in range(asked.rounds):
        theirs += [by_hand.chunk() for _ in range(3)]
        ours += seconds("erm", data, asked, 4 * CHUNK)[0]
    title = f"{asked.model} {asked.size}², batch {asked.batch}"
    yield Line(f"{title}: a step of erm", 1e3 * min(ours), "ms", "a loop by hand", 1e3 * min(theirs))
    if asked.device == "cuda":
        eager = [s for _ in range(asked.rounds) for s in seconds("erm", data, asked, 4 * CHUNK, "off")[0]]
        yield Line(f"{title}: a captured step", 1e3 * min(ours), "ms", "the same step, eager", 1e3 * min(eager))
        yield Line(f"{title}: training", asked.batch / min(ours), "rows/s", "eager", asked.batch / min(eager))
    for name in asked.methods or [n for n in METHODS.names() if n != "erm"]:
        mine: list[list[float]] = []
        base: list[float] = []
        for _ in range(asked.rounds):
            base += seconds("erm", data, asked, 3 * CHUNK)[0]
            found = seconds(name, data, asked, 6 * CHUNK)
            mine = [a + b for a, b in zip(mine or [[] for _ in found], found, strict=True)]
        yield Line(f"a step of {name}", 1e3 * max(map(min, mine)), "ms", "a step of erm", 1e3 * min(base))


def scoring(data: Path, asked: argparse.Namespace) -> Iterator[Line]:
    """Predictions for the rows and all their edits, beside the forward passes alone."""
    from spurgen.evaluate.interventions import Plan, names, rows_with
    from spurgen.evaluate.predict import of_run, predict
    from spurgen.load.rows import open_rows

    run = train(data, "erm", asked.model, options={"steps": 2, "batch_size": asked.batch}, device=asked.device)
    rows = open_rows(data, "test", "image", target="label")
    wanted = names(rows.spec, Plan())
    passes = sum(int(changed.sum()) for name, _, changed in rows_with(rows.table, rows.spec, wanted) if name != "none")
    passes += len(rows)
    ready = torch.from_numpy(rows.content(range(min(2048, len(rows))))).permute(0, 3, 1, 2)
    learner = run.learner.eval()

    @torch.inference_mode()
    def forward() -> None:
        done = 0
        while done < passes:
            for part in ready.split(256):
                part = part[: passes - done].to(asked.device)
                with torch.autocast(asked.device, torch.bfloat16, enabled=asked.device == "cuda"):
                    learner(learner.net.inputs(part)).float().cpu()
                done += len(part)
                if done >= passes:
                    break

    best: dict[str, float] = {}
    for _ in range(asked.rounds):
        for name, work in (("ours", lambda: predict(of_run(run), rows, wanted)), ("alone", forward)):
            best[name] = min(best.get(name, float("inf")), timed(work))
    what = f"SSS and IG of {len(rows):,} rows, {len(rows.spec.channels)} channels"
    yield Line(what, best["ours"], "s", f"{passes:,} forward passes alone", best["alone"])


def timed(work: Callable[[], Any]) -> float:
    """Seconds that it takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def main() -> None:
    """Build, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", nargs="*", help="all unless given")
    parser.add_argument("--model", default="small_cnn")
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rows", type=int, default=4000, help="test rows that are scored")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    lines = []
    with tempfile.TemporaryDirectory(prefix="spurgen-bench-") as folder:
        data, large = Path(folder) / "data", Path(folder) / "large"
        spurgen.build(world(3000, asked.size), data)
        spurgen.build(world(5 * asked.rows, asked.size), large)
        for found in (steps(data, asked), scoring(large, asked)):
            for line in found:
                lines.append(line)
                times = line.value / line.against if line.unit in ("ms", "s") else line.against / line.value
                print(f"{line.what:<52}{line.value:>10,.4g} {line.unit:<7}{line.yardstick:<38}{line.against:>10,.4g}"
                      f"{times:>8.2f}×", flush=True)  # fmt: skip
    if asked.json:
        asked.json.write_text(json.dumps({"lines": [line._asdict() for line in lines]}, indent=1))


if __name__ == "__main__":
    main()
