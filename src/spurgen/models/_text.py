"""Token numbers as numbers that networks read: embeddings, and beside them which tokens are there.

The inputs of a text are (rows, tokens, width + 1). The last column is 1 where a token is and 0 where there is
padding. Two texts can then be mixed like two pictures, and the column of the mixture says how much of each token is
there: attention and means are weighted by it.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from spurgen.models._attention import Block, positions, small_weights

PADDING = 0


def with_presence(embeddings: Tensor, there: Tensor) -> Tensor:
    """Embeddings (rows, tokens, width) with a last column for which tokens are there."""
    return torch.cat([embeddings, there.unsqueeze(-1).to(embeddings.dtype)], -1)


def parted(inputs: Tensor) -> tuple[Tensor, Tensor]:
    """Embeddings, and how much of each token is there, which nobody can learn."""
    return inputs[..., :-1], inputs[..., -1].detach()


def attention_bias(there: Tensor) -> Tensor:
    """What is added to attention so that it is weighted by `there`: its logarithm, (rows, 1, 1, tokens).

    A token that is not there gets −10,000 rather than −∞: no score outweighs it, and a text without a single token
    does not become NaN.
    """
    bias = there.clamp_min(torch.finfo(torch.float32).tiny).log().masked_fill(there <= 0, -1e4)
    return bias[:, None, None, :]


def weighted_mean(states: Tensor, there: Tensor) -> Tensor:
    """The mean over the tokens that are there; zeros for a text without any."""
    weight = there.unsqueeze(-1)
    return (states * weight).sum(1) / weight.sum(1).clamp_min(1e-6)


def embedding(words: int, width: int) -> nn.Embedding:
    """A table of small random vectors; that of the padding is and stays zero."""
    if words < 2:
        raise ValueError("a text model needs the size of the vocabulary: Shape.words")
    table = nn.Embedding(words, width, padding_idx=PADDING)
    nn.init.trunc_normal_(table.weight, std=0.02)
    with torch.no_grad():
        table.weight[PADDING].zero_()
    return table


class TextTower(nn.Module):
    """A pre-norm transformer with learned positions; its features are the mean of the last states."""

    def __init__(self, words: int, tokens: int, width: int = 128, depth: int = 4, heads: int = 4):
        super().__init__()
        self.width = width
        self.positions = positions(tokens, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(depth))
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.apply(small_weights)
        self.table = embedding(words, width)

    def inputs(self, raw: Tensor) -> Tensor:
        """Embeddings of token numbers, and which of them are no padding."""
        return with_presence(self.table(raw), raw != PADDING)

    def forward(self, inputs: Tensor) -> Tensor:
        """One vector per text."""
        states, there = parted(inputs)
        states, bias = states + self.positions, attention_bias(there)
        for block in self.blocks:
            states = block(states, bias)
        return weighted_mean(self.norm(states), there)
