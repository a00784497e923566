"""The block that transformers of pictures and of texts are made of: attention, then two layers for each token."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention


class Block(nn.Module):
    """A pre-norm block: what is normalised goes through attention and is added, then the same for the two layers."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        if width % heads:
            raise ValueError(f"a width of {width} cannot be shared by {heads} heads")
        self.heads = heads
        self.before_attention = nn.LayerNorm(width, eps=1e-6)
        self.query_key_value = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.before_layers = nn.LayerNorm(width, eps=1e-6)
        self.layers = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, states: Tensor, bias: Tensor | None = None) -> Tensor:
        """New states of (rows, tokens, width); `bias` is added to how much tokens attend to tokens."""
        states = states + self.attend(self.before_attention(states), bias)
        after: Tensor = states + self.layers(self.before_layers(states))
        return after

    def attend(self, states: Tensor, bias: Tensor | None) -> Tensor:
        """What each token takes from all of them."""
        rows, tokens, width = states.shape
        parts = self.query_key_value(states).view(rows, tokens, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        # Under autocast the query has fewer bits than the bias, and the two must agree.
        bias = None if bias is None else bias.to(query.dtype)
        taken = scaled_dot_product_attention(query, key, value, attn_mask=bias)
        mixed: Tensor = self.out(taken.transpose(1, 2).reshape(rows, tokens, width))
        return mixed


def small_weights(module: nn.Module) -> None:
    """The initialisation of transformers, for `Module.apply`: small normal weights, no bias."""
    if isinstance(module, nn.Linear):
        nn.init.trunc_normal_(module.weight, std=0.02)
        nn.init.zeros_(module.bias)


def positions(count: int, width: int) -> nn.Parameter:
    """A learned vector for each position, for all rows."""
    return nn.Parameter(nn.init.trunc_normal_(torch.empty(1, count, width), std=0.02))
