"""Shapes and stored rows of each modality, small enough that every model can be run on them."""

from __future__ import annotations

from typing import Any

import torch

from spurgen.errors import MissingExtra
from spurgen.learning import Model, Net, Shape

WORDS, TOKENS, SIZE = 50, 12, 32
SHAPES = {
    "image": Shape(3, (3, SIZE, SIZE)),
    "caption": Shape(3, (TOKENS,), WORDS),
    "image+caption": Shape(3, (3, SIZE, SIZE, TOKENS), WORDS),
}


def pictures(n: int = 4, size: int = SIZE, seed: int = 0) -> torch.Tensor:
    """Random levels, channels last as they are stored."""
    generator = torch.Generator().manual_seed(seed)
    levels = torch.randint(0, 256, (n, size, size, 3), generator=generator, dtype=torch.uint8)
    return levels.permute(0, 3, 1, 2)


def texts(n: int = 4, tokens: int = TOKENS, words: int = WORDS, seed: int = 0) -> torch.Tensor:
    """Random words; each text is one shorter than the one before, and padded."""
    generator = torch.Generator().manual_seed(seed)
    numbers = torch.randint(1, words, (n, tokens), generator=generator)
    return numbers * (torch.arange(tokens) < tokens - torch.arange(n)[:, None] % tokens)


def raw(modality: str, n: int = 4, seed: int = 0) -> Any:
    """Stored rows of a modality."""
    if modality == "image+caption":
        return {"image": pictures(n, seed=seed), "caption": texts(n, seed=seed)}
    return pictures(n, seed=seed) if modality == "image" else texts(n, seed=seed)


def built(model: Model, seed: int = 0) -> Net | None:
    """The model for the shape above; None where its extra is not installed."""
    torch.manual_seed(seed)
    try:
        return model.build(SHAPES[model.modality])
    except MissingExtra:
        return None
