"""How a trial is trained, whatever the method: steps, optimiser, precision, device."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch

from spurgen.errors import SpurgenError
from spurgen.settings import Even, OneOf, Power, setting


@dataclass(frozen=True)
class Options:
    """Options of the trainer."""

    epochs: float = setting(10.0, "passes over the training rows, unless steps are given", least=1e-6, most=1e6)
    steps: int = setting(0, "steps of descent; 0: as many as the epochs make", least=0, most=10**9)
    batch_size: int = setting(64, "rows in a batch", OneOf((32, 64, 128)), least=1, most=65536)
    optimiser: str = setting("adamw", "what turns gradients into steps", choices=("adamw", "sgd"))
    learning_rate: float = setting(
        0.0, "the largest step size; 0: what the model starts from", Power(-4, -2), least=0, most=100
    )
    weight_decay: float = setting(
        0.01, "pull of weights (not of biases and norms) to 0", Power(-6, -1), least=0, most=10
    )
    momentum: float = setting(0.9, "of SGD", Even(0.8, 0.95), least=0, most=0.9999)
    schedule: str = setting(
        "cosine", "how the step size goes on after the warm-up", choices=("cosine", "constant", "linear")
    )
    warmup: float = setting(0.05, "share of a stage's steps in which the step size grows from 0", least=0, most=1)
    clip: float = setting(1.0, "longest gradient; 0: any", least=0)
    shift_px: int = setting(0, "pictures of a batch are moved by up to so many pixels", least=0, most=64)
    precision: str = setting(
        "auto", "numbers of the forward pass", choices=("auto", "float32", "bfloat16")
    )  # auto: bfloat16 on a GPU
    checks: int = setting(10, "how often validation rows are scored during training", least=1, most=10_000)
    keep: str = setting(
        "last",
        "which weights a run ends with: the last, or those of the check with the best validation accuracy",
        choices=("last", "average", "worst_group"),
    )


def resolve_device(device: str) -> torch.device:
    """The device that is meant; "auto" takes a GPU where there is one."""
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        found = torch.device(device)
    except RuntimeError:
        found = None
    if found is None or found.type not in ("cpu", "cuda"):
        raise SpurgenError(f"there is no device {device!r}; take auto, cpu or cuda")
    if found.type == "cuda" and (not torch.cuda.is_available() or (found.index or 0) >= torch.cuda.device_count()):
        raise SpurgenError(f"there is no GPU {device!r} here; take --device cpu")
    return found


def rate_at(options: Options, step: int, steps: int) -> float:
    """The step size as a share of the largest, at a step of a stage of so many."""
    warm = options.warmup * steps
    if step < warm:
        return (step + 1) / (math.ceil(warm) + 1)
    if options.schedule == "constant":
        return 1.0
    gone = (step - warm) / max(steps - warm, 1)
    return 1 - gone if options.schedule == "linear" else 0.5 * (1 + math.cos(math.pi * gone))


def stage_steps(shares: list[float], total: int) -> list[int]:
    """Steps of each stage; together exactly the total, at least one wherever the share is not 0."""
    ends = [round(total * sum(shares[: i + 1]) / max(sum(shares), 1e-9)) for i in range(len(shares))]
    counts = [end - start for start, end in zip([0, *ends], ends, strict=False)]
    if any(share > 0 and count == 0 for share, count in zip(shares, counts, strict=True)):
        raise SpurgenError(f"{total} steps are too few for {sum(s > 0 for s in shares)} stages; train for more steps")
    return counts


def autocast(options: Options, device: torch.device) -> Any:
    """The context of forward passes."""
    wanted = options.precision == "bfloat16" or (options.precision == "auto" and device.type == "cuda")
    return torch.autocast(device.type, torch.bfloat16, enabled=wanted, cache_enabled=False)
