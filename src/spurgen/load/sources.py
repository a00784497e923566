"""Where the content of rows comes from: a finished dataset on disk, or the renderer, which draws what is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from spurgen.errors import UnknownName, unknown
from spurgen.load import cache

if TYPE_CHECKING:
    import pyarrow as pa

    from spurgen.spec import World
    from spurgen.store.reader import Dataset

Positions = NDArray[np.int64]


class Source(Protocol):
    """Gives a modality of some rows by their positions: an array, or a list of texts and the like."""

    def take(self, modality: str, positions: Positions, **how: Any) -> Any:
        """The rows at these positions, in the order given; `how` goes to the renderer, if one draws."""
        ...


class Portable:
    """A spec that can be sent to other processes, whatever functions its parts hold; it travels as text."""

    def __init__(self, spec: World):
        self._spec: World | None = spec
        self._toml = ""

    @property
    def spec(self) -> World:
        """The spec; read from its text where this object has travelled."""
        if self._spec is None:
            from spurgen.spec import World

            self._spec = World.from_toml(self._toml)
        return self._spec

    def __getstate__(self) -> dict[str, Any]:
        return {"_spec": None, "_toml": self._toml or self.spec.to_toml()}


class Stored:
    """A split of a finished dataset; arrays are read from a decoded copy, the rest is held in memory.

    Copies of this object in other processes open the files for themselves.
    """

    def __init__(self, dataset: Dataset, split: str, cache_dir: str | Path | None = None):
        self._dataset: Dataset | None = dataset
        self.directory = dataset.directory.resolve()
        self.split = split
        self.cache_dir = cache_dir
        self._content: dict[str, Any] = {}

    @property
    def dataset(self) -> Dataset:
        """The dataset, opened when first needed."""
        if self._dataset is None:
            from spurgen.store import reader

            self._dataset = reader.open(self.directory)
        return self._dataset

    def take(self, modality: str, positions: Positions, **how: Any) -> Any:
        """The rows at these positions, in the order given."""
        content = self.everything(modality)
        if isinstance(content, np.ndarray):
            return content.take(positions, 0)
        return content.take(positions).to_pylist()

    def everything(self, modality: str) -> Any:
        """The whole split: a mapped array, or an Arrow column for what does not decode to one."""
        if modality not in self._content:
            if modality not in self.dataset.modalities:
                raise UnknownName(unknown("modality", modality, self.dataset.modalities) + f" in {self.directory}")
            found: Any = cache.decoded(self.dataset, self.split, modality, self.cache_dir)
            if found is None:
                column = first_column(modality)
                found = self.dataset.table(self.split, [column])[column].combine_chunks()
            self._content[modality] = found
        return self._content[modality]

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_dataset": None, "_content": {}}


class Drawn:
    """Rows of a table that are drawn when they are asked for and kept nowhere."""

    def __init__(self, spec: World, table: pa.Table):
        self._spec = Portable(spec)
        self.table = table

    def take(self, modality: str, positions: Positions, **how: Any) -> Any:
        """The rows at these positions, in the order given."""
        return draw(self.table.take(positions), self._spec.spec, modality, **how)


def draw(table: pa.Table, spec: World, modality: str, **how: Any) -> Any:
    """A modality of all rows of a table: an array as it is, anything else as the list that would be stored."""
    from spurgen.render import MODALITIES
    from spurgen.render import draw as render

    batch = render(table, spec, modality, **how)
    if hasattr(batch, "dtype"):
        return batch
    return MODALITIES.get(modality).encode(batch)[first_column(modality)].to_pylist()


def first_column(modality: str) -> str:
    """The stored column that is the modality itself; others, such as the spans of a caption, only describe it."""
    from spurgen.render import MODALITIES

    return next(iter(MODALITIES.get(modality).columns))
