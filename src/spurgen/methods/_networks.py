"""Small networks that methods put beside a model, and one held still while another learns through it."""

from __future__ import annotations

from itertools import pairwise

from torch import Tensor, nn
from torch.func import functional_call


def mlp(inputs: int, outputs: int, width: int, depth: int) -> nn.Sequential:
    """`depth` linear layers, `width` wide inside, with ReLU between them."""
    sizes = [inputs, *[width] * (depth - 1), outputs]
    layers: list[nn.Module] = []
    for before, after in pairwise(sizes):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def held(module: nn.Module, inputs: Tensor) -> Tensor:
    """The module's outputs, with gradients for the inputs and none for its parameters."""
    outputs: Tensor = functional_call(module, {name: p.detach() for name, p in module.named_parameters()}, (inputs,))
    return outputs
