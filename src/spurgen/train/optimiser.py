"""The optimiser of a stage: which parameters decay, and forgetting."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from spurgen.train.options import Options


def optimiser(parameters: Iterable[nn.Parameter], options: Options, device: torch.device) -> torch.optim.Optimizer:
    """AdamW or SGD; weights decay, biases and norms do not. On a GPU it can be captured in a graph."""
    wanted = [p for p in parameters if p.requires_grad]
    groups = [
        {"params": [p for p in wanted if p.ndim > 1], "weight_decay": options.weight_decay},
        {"params": [p for p in wanted if p.ndim <= 1], "weight_decay": 0.0},
    ]
    groups = [group for group in groups if group["params"]]
    on_gpu = device.type == "cuda"
    rate = torch.tensor(0.0, device=device) if on_gpu else 0.0
    if options.optimiser == "sgd":
        return torch.optim.SGD(groups, lr=rate, momentum=options.momentum, fused=on_gpu or None)
    if on_gpu:
        found = torch.optim.AdamW(groups, lr=rate, capturable=True, fused=True)
        found._warned_capturable_if_run_uncaptured = True  # steps before the capture are meant to be uncaptured
        return found
    return torch.optim.AdamW(groups, lr=rate)


def set_rate(optimiser: torch.optim.Optimizer, rate: float) -> None:
    """The step size of the next step; a number on the device is overwritten where it is, so that graphs see it."""
    for group in optimiser.param_groups:
        if isinstance(group["lr"], Tensor):
            group["lr"].fill_(rate)
        else:
            group["lr"] = rate


def forget(optimiser: torch.optim.Optimizer) -> None:
    """Averages and counts of steps as if none had been taken; in place, so that graphs see it."""
    for state in optimiser.state.values():
        for value in state.values():
            if isinstance(value, Tensor):
                value.zero_()


def tensors(optimiser: torch.optim.Optimizer) -> dict[str, Tensor]:
    """The optimiser's memory by the place of each parameter: what a checkpoint keeps."""
    found = {}
    parameters = [p for group in optimiser.param_groups for p in group["params"]]
    for i, parameter in enumerate(parameters):
        for name, value in optimiser.state.get(parameter, {}).items():
            if isinstance(value, Tensor):
                found[f"{i}.{name}"] = value
    return found


def restore(optimiser: torch.optim.Optimizer, saved: dict[str, Tensor]) -> None:
    """Put back what `tensors` gave."""
    parameters = [p for group in optimiser.param_groups for p in group["params"]]
    for key, value in saved.items():
        place, name = key.split(".", 1)
        parameter = parameters[int(place)]
        # as it lies in memory, channels last say: kernels that do all in one ask for that
        like = parameter.detach() if value.shape == parameter.shape else value
        there = torch.empty_like(like, dtype=value.dtype, device=parameter.device)
        optimiser.state[parameter][name] = there.copy_(value)
