"""Which rows stand in which batch: a pure function of the seed and the step, so that any step can be gone back to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from spurgen import seeds
from spurgen.errors import SpurgenError
from spurgen.learning import Positions, Sampling

Codes = NDArray[np.int64]


class Shuffled:
    """Pass after pass over positions, each pass in another order; what is left of a pass after its last batch waits."""

    def __init__(self, positions: Positions, batch_size: int, seed: int, stream: str, what: str):
        if len(positions) < batch_size:
            raise SpurgenError(
                f"{what} has {len(positions)} rows, fewer than the {batch_size} of a batch that are to come from it; "
                "take a smaller batch_size"
            )
        self.positions = positions
        self.size = batch_size
        self.seed, self.stream = seed, stream
        self.per_pass = len(positions) // batch_size
        self._latest: tuple[int, Positions] | None = None  # only spares work

    def at(self, step: int) -> Positions:
        """The positions of one batch."""
        turn, within = divmod(step, self.per_pass)
        if self._latest is None or self._latest[0] != turn:
            n = len(self.positions)
            order = seeds.permute(self.seed, f"{self.stream}/{turn}", 0, np.arange(n), n)
            self._latest = (turn, self.positions[order])
        return self._latest[1][within * self.size : (within + 1) * self.size]


class ByEnvironment:
    """As many rows of each environment in every batch, environment by environment."""

    def __init__(self, positions: Positions, codes: Codes, names: Sequence[str], size: int, seed: int, stream: str):
        each = size // len(names)
        if each < 1:
            raise SpurgenError(
                f"a batch of {size} cannot hold rows of all {len(names)} environments; take a larger batch_size"
            )
        self.parts = [
            Shuffled(positions[codes[positions] == i], each, seed, f"{stream}/{name}", f"environment {name!r}")
            for i, name in enumerate(names)
        ]

    def at(self, step: int) -> Positions:
        """The positions of one batch."""
        return np.concatenate([part.at(step) for part in self.parts])


class Balanced:
    """For every place in a batch a group, each as often, and then one of its rows, with replacement."""

    def __init__(self, positions: Positions, codes: Codes, size: int, seed: int, stream: str):
        mine = codes[positions]
        order = np.argsort(mine, kind="stable")
        self.rows = positions[order]
        present, self.first, self.sizes = np.unique(mine[order], return_index=True, return_counts=True)
        self.count = len(present)
        self.size = size
        self.seed, self.stream = seed, stream

    def at(self, step: int) -> Positions:
        """The positions of one batch."""
        places = np.arange(step * self.size, (step + 1) * self.size)
        group = seeds.integers(self.seed, f"{self.stream}/group", places, self.count)
        row = seeds.integers(self.seed, f"{self.stream}/row", places, self.sizes[group])
        return self.rows[self.first[group] + row]


Sampler = Shuffled | ByEnvironment | Balanced


def sampler(
    how: Sampling,
    y: Codes,
    group: Codes,
    environment: Codes,
    environments: Sequence[str],
    batch_size: int,
    seed: int,
    stage: int,
) -> Sampler:
    """The sampler that a method asks for."""
    positions = np.arange(len(y)) if how.rows is None else np.asarray(how.rows, np.int64)
    stream = f"train/sampling/{stage}"
    if how.kind == "by_environment":
        return ByEnvironment(positions, environment, environments, batch_size, seed, stream)
    if how.kind == "balanced":
        return Balanced(positions, group if how.over == "group" else y, batch_size, seed, stream)
    return Shuffled(positions, batch_size, seed, stream, "the training split")
