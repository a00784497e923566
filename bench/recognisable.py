"""Can a small network tell the default classes apart when no channel goes along with the label?

python bench/recognisable.py [--rows 16000] [--epochs 8] [--size 64] [--everything] [--json FILE]

Trains a network of four blocks (32 to 256 wide) on pictures with uniform background, hue and light (with --everything
also floors, frames, sensors, …) and prints its accuracy on unseen rows, per class. This measures the shapes and poses
of the image modality, not a method.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

import spurgen
from spurgen.classes import DEFAULT_CLASSES

CHANNELS = ("background", "hue", "light")
MORE = ("material", "floor", "shadow", "elevation", "size", "position", "watermark", "frame", "sensor", "companion")


def world(classes: tuple[str, ...], rows: int, size: int, channels: tuple[str, ...]) -> Any:
    """A spec whose channels are all independent of the label."""
    return spurgen.World.from_dict(
        {
            "id": "recognisable/v1",
            "classes": list(classes),
            "rows": rows,
            "modalities": ["image"],
            "image": {"size_px": size},
            "splits": {
                "train": {"share": 0.8, "environments": ["even"]},
                "test": {"share": 0.2, "environments": ["even"]},
            },
            "channels": {name: {} for name in channels},
            "environments": {"even": {}},
        }
    )


def pictures(spec: Any, seed: int) -> dict[str, tuple[torch.Tensor, torch.Tensor]]:
    """Pictures and labels of each split."""
    table = spurgen.sample(spec, seed=seed)
    drawn = torch.from_numpy(spurgen.render(table, spec, "image")).permute(0, 3, 1, 2)
    label = torch.tensor([spec.classes.index(name) for name in table["label"].to_pylist()])
    split = np.array(table["split"].to_pylist())
    return {name: (drawn[split == name], label[split == name]) for name in ("train", "test")}


def network(classes: int) -> nn.Module:
    """Four blocks, 32 to 256 wide."""
    layers: list[nn.Module] = []
    wide = 3
    for width in (32, 64, 128, 256):
        layers += [nn.Conv2d(wide, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(2)]
        wide = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(wide, classes))


def ready(batch: torch.Tensor) -> torch.Tensor:
    """Levels to numbers around zero."""
    return (batch.float() / 127.5 - 1).contiguous(memory_format=torch.channels_last)


def fit(net: nn.Module, x: torch.Tensor, y: torch.Tensor, epochs: int, batch: int = 64) -> None:
    """AdamW with a one-cycle learning rate; pictures shifted by up to 4 pixels."""
    optimiser = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=0.05)
    steps = epochs * (len(x) // batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 3e-3, total_steps=steps, pct_start=0.2)
    for epoch in range(epochs):
        start, total = time.perf_counter(), 0.0
        for rows in torch.randperm(len(x))[: len(x) // batch * batch].split(batch):
            down, right = (int(n) for n in torch.randint(-4, 5, (2,)))
            with torch.autocast("cpu", torch.bfloat16):
                said = net(ready(x[rows].roll((down, right), (2, 3))))
            loss = nn.functional.cross_entropy(said.float(), y[rows])
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()
            schedule.step()
            total += float(loss.detach()) * batch
        print(f"epoch {epoch + 1}: loss {total / len(x):.3f}, {time.perf_counter() - start:.0f} s", flush=True)


def main() -> None:
    """Draw, train, test, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=16_000)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--everything", action="store_true", help="all channels of the image modality, not three")
    parser.add_argument("--classes", nargs="*", default=DEFAULT_CLASSES)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    torch.manual_seed(asked.seed)
    spec = world(tuple(asked.classes), asked.rows, asked.size, CHANNELS + (MORE if asked.everything else ()))
    data = pictures(spec, asked.seed)
    net = network(len(spec.classes)).to(memory_format=torch.channels_last)
    fit(net, *data["train"], asked.epochs)
    net.eval()
    x, y = data["test"]
    with torch.inference_mode():
        said = torch.cat([net(ready(part)).argmax(1) for part in x.split(256)])
    right = (said == y).double()
    accuracy = {name: float(right[y == i].mean()) for i, name in enumerate(spec.classes)}
    for i, (name, share) in enumerate(accuracy.items()):
        wrong = said[(y == i) & (said != y)]
        taken_for = spec.classes[int(wrong.bincount(minlength=1).argmax())] if len(wrong) else "-"
        print(f"{name:12} {100 * share:6.1f}%   most often taken for {taken_for}")
    print(f"all of {len(y)} {100 * float(right.mean()):.2f}%")
    if asked.json:
        asked.json.write_text(json.dumps({"accuracy": float(right.mean()), "classes": accuracy}, indent=2))


if __name__ == "__main__":
    main()
