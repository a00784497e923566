"""What a part of SpurGen declares about itself: distributions, traits, classes, channels, modalities.

A *channel* gives each of its values a set of named *traits* (a hue in degrees, a kind of texture). A *modality*
says which traits it consumes and how each varies when no channel sets it. Neither knows the other: a new channel
works in old modalities, a new modality serves old channels. A trait that varies and that no channel sets is a
*nuisance*: it gets a column and a random stream of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa
    from pydantic import BaseModel

    from spurgen.spec.world import World

# ------------------------------------------------------------------------------------------------ distributions


@dataclass(frozen=True)
class Uniform:
    """Real numbers spread evenly over [low, high]; stored as float32."""

    low: float
    high: float

    def sample(self, u: NDArray[np.float64]) -> NDArray[np.float32]:
        """Turn numbers in [0, 1) into values."""
        return (self.low + (self.high - self.low) * u).astype(np.float32)

    def contains(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Which values this distribution could have given."""
        return (values >= np.float32(self.low)) & (values <= np.float32(self.high))


@dataclass(frozen=True)
class Integers:
    """Whole numbers from low to high, both included; stored as int32."""

    low: int
    high: int

    def sample(self, u: NDArray[np.float64]) -> NDArray[np.int32]:
        """Turn numbers in [0, 1) into values."""
        return (self.low + np.floor(u * (self.high - self.low + 1))).astype(np.int32)

    def contains(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Which values this distribution could have given."""
        return (values >= self.low) & (values <= self.high) & (values == np.floor(values))


@dataclass(frozen=True)
class Choice:
    """One of a list of names, each equally often; stored as a dictionary-coded string."""

    names: tuple[str, ...]

    def sample(self, u: NDArray[np.float64]) -> NDArray[np.int32]:
        """Turn numbers in [0, 1) into positions in `names`."""
        return np.floor(u * len(self.names)).astype(np.int32)

    def contains(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Which names this distribution could have given."""
        return np.isin(np.asarray(values, object), list(self.names))


@dataclass(frozen=True)
class Constant:
    """Always the same; needs no column."""

    value: float | str

    def contains(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Which values equal the constant."""
        return np.asarray(values) == self.value


Distribution = Uniform | Integers | Choice | Constant

# ------------------------------------------------------------------------------------------------------- traits


@dataclass(frozen=True)
class Trait:
    """Something a modality can show, and how it varies when no channel sets it.

    `names` lists what a textual trait may be; `bounds` what a numeric one may be. Values of channels and of specs
    are checked against them, so that a misspelt texture is an error where it is written.
    """

    name: str
    distribution: Distribution
    about: str
    names: tuple[str, ...] = ()
    bounds: tuple[float, float] | None = None


@dataclass(frozen=True)
class Coded:
    """A textual trait of many rows: positions in a vocabulary."""

    codes: NDArray[np.int32]
    names: tuple[str, ...]

    def lookup(self, table: Mapping[str, Any], dtype: Any = None) -> NDArray[Any]:
        """For each row the entry of `table` under the row's name."""
        return np.array([table[name] for name in self.names], dtype)[self.codes]

    def __len__(self) -> int:
        return len(self.codes)


# ------------------------------------------------------------------------------------- classes, channels, values


@dataclass(frozen=True)
class Class:
    """A label: what it is called and which traits make it what it is (the core signal)."""

    words: tuple[str, ...]
    traits: Mapping[str, float | str]


@dataclass(frozen=True)
class Value:
    """An attribute: how captions call it and the traits it sets."""

    word: str
    traits: Mapping[str, float | str] = field(default_factory=dict)


@dataclass(frozen=True)
class Channel:
    """A factor that a spec may tie to the label.

    `says` tells captions where the word goes: "adjective" before the object, "background" after "with a … background",
    "phrase" for words that stand on their own ("in bright light from the left"), "" when captions keep silent.
    `touches` names the region of a modality that may change with the channel: for pictures "object", "surroundings",
    "corner" (one of the four, the same in every row), "border" or "everywhere".
    `overlays` holds drawings of the channel's own: modality -> function(batch, names, codes, row_ids) that edits the
    drawn batch in place.
    """

    name: str
    about: str
    values: Mapping[str, Value]
    says: str = ""
    touches: Mapping[str, str] = field(default_factory=dict)
    overlays: Mapping[str, Callable[[Any, Sequence[str], NDArray[np.int32], NDArray[np.uint64]], None]] = field(
        default_factory=dict
    )


# --------------------------------------------------------------------------------------------------- modalities


@dataclass(frozen=True)
class Word:
    """What a caption may say about one channel, row by row."""

    says: str
    words: tuple[str, ...]
    names: tuple[str, ...]
    codes: NDArray[np.int32]


@dataclass(frozen=True)
class Rows:
    """Everything a modality may look at: rows of the table with their traits resolved."""

    row_id: NDArray[np.uint64]
    traits: Mapping[str, NDArray[Any] | Coded]
    classes: Sequence[Class]
    class_names: tuple[str, ...]
    label: NDArray[np.int32]
    channels: Mapping[str, Word]

    def __len__(self) -> int:
        return len(self.row_id)


@dataclass(frozen=True)
class Modality:
    """A pure function of the table: rows -> pictures, captions, sounds, …

    `draw(rows, options, device=…)` returns a batch that supports len() and slicing by row. `columns` are the
    Hugging Face features of what is stored; `encode(batch)` gives one pyarrow array per column, `decode(columns)`
    turns them back into a batch equal to what was drawn, `content(batch, i)` gives the bytes that digests are made
    of. `version` changes whenever any row would be drawn differently. `check(spec)` raises a SpecError for a world that
    cannot be drawn.
    """

    name: str
    about: str
    version: int
    traits: tuple[Trait, ...]
    options: type[BaseModel]
    columns: Mapping[str, Any]
    draw: Callable[..., Any]
    encode: Callable[..., Mapping[str, pa.Array]]
    decode: Callable[[Mapping[str, pa.Array]], Any]
    content: Callable[[Any, int], bytes]
    check: Callable[[World], None] | None = None
