"""How a channel goes along with the label: each coupling is a few checked fields and one table of probabilities.

`table(frame)` gives P(attribute | context) as rows that sum to one. The context is the label, or for `given` the
attribute of another channel. How rows are drawn from these tables is `latents/coupling.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from spurgen.errors import SpecError, unknown

Table = NDArray[np.float64]
Probability = Annotated[float, Field(ge=0.0, le=1.0)]
PerClass = Probability | list[Probability] | dict[str, Probability]


@dataclass(frozen=True)
class Frame:
    """What a coupling needs to know of the spec: the names it may use and where its fields stand."""

    path: str
    classes: tuple[str, ...]
    values: tuple[str, ...]
    aligned: tuple[int, ...]  # for each class the position of its aligned attribute
    parent: tuple[str, ...] = ()  # the values of the channel that a `given` follows

    def position(self, kind: str, name: str, known: tuple[str, ...], field: str) -> int:
        """Where `name` stands among `known`; an unknown one is an error at `field`."""
        if name not in known:
            raise SpecError(f"{self.path}.{field}", unknown(kind, name, known))
        return known.index(name)

    def per_class(self, field: str, p: Any) -> NDArray[np.float64]:
        """One probability for each class, from a number, a list or a table by class."""
        if isinstance(p, list):
            if len(p) != len(self.classes):
                raise SpecError(
                    f"{self.path}.{field}",
                    f"has {len(p)} entries for {len(self.classes)} classes; give one number or one per class",
                )
            return np.array(p, np.float64)
        if isinstance(p, dict):
            for name in p:
                self.position("class", name, self.classes, field)
            missing = [c for c in self.classes if c not in p]
            if missing:
                raise SpecError(f"{self.path}.{field}", f"has no entry for class {missing[0]!r}; give one per class")
            return np.array([p[c] for c in self.classes], np.float64)
        return np.full(len(self.classes), p, np.float64)

    def favour(self, rows: NDArray[np.float64], chosen: list[set[int]], field: str = "p") -> Table:
        """Probability `rows[i]` shared by the chosen values of context i, the rest shared by the others."""
        out = np.zeros((len(rows), len(self.values)))
        for i, (p, favoured) in enumerate(zip(rows, chosen, strict=True)):
            others = [v for v in range(len(self.values)) if v not in favoured]
            if not others and p < 1:
                raise SpecError(
                    f"{self.path}.{field}",
                    f"{p:g} leaves no other value to share the rest; add a value to the channel or use p = 1",
                )
            for v in favoured:
                out[i, v] = p / len(favoured)
            for v in others:
                out[i, v] = (1 - p) / len(others)
        return out


class _Coupling(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    def table(self, frame: Frame) -> Table:
        """P(attribute | context), one row per class, or per parent value for `given`."""
        raise NotImplementedError

    @property
    def follows(self) -> str | None:
        """The channel that the context is taken from; None for the label."""
        return None


class Aligned(_Coupling):
    """The aligned attribute of the label with probability p, otherwise any other attribute equally often."""

    coupling: Literal["aligned"]
    p: PerClass = Field(description="P(aligned attribute | label): one number, a list, or a table by class.")
    map: dict[str, str] = Field({}, description="Class -> attribute, where it differs from the channel's own map.")

    def table(self, frame: Frame) -> Table:
        """See the class."""
        aligned = list(frame.aligned)
        for name, value in self.map.items():
            where = frame.position("class", name, frame.classes, "map")
            aligned[where] = frame.position("value", value, frame.values, f"map.{name}")
        return frame.favour(frame.per_class("p", self.p), [{a} for a in aligned])


class Positive(_Coupling):
    """One positive attribute for all classes, with probability p(label): the classic p_c(y)."""

    coupling: Literal["positive"]
    p: PerClass = Field(description="P(positive attribute | label): one number, a list, or a table by class.")
    value: str | None = Field(None, description="The positive attribute; the channel's first value unless given.")

    def table(self, frame: Frame) -> Table:
        """See the class."""
        chosen = 0 if self.value is None else frame.position("value", self.value, frame.values, "value")
        return frame.favour(frame.per_class("p", self.p), [{chosen}] * len(frame.classes))


class OneToOne(_Coupling):
    """Every class has an attribute that no other class has, as in Spawrious O2O; the rest goes to a filler."""

    coupling: Literal["one_to_one"]
    p: PerClass = Field(1.0, description="P(own attribute | label).")
    map: dict[str, str] = Field({}, description="Class -> attribute, one-to-one; the channel's own map unless given.")
    filler: str | None = Field(None, description="Where the rest goes; all other attributes equally unless given.")

    def table(self, frame: Frame) -> Table:
        """See the class."""
        own = list(frame.aligned)
        for name, value in self.map.items():
            where = frame.position("class", name, frame.classes, "map")
            own[where] = frame.position("value", value, frame.values, f"map.{name}")
        taken: dict[int, str] = {}
        for name, v in zip(frame.classes, own, strict=True):
            if v in taken:
                raise SpecError(
                    f"{frame.path}.map",
                    f"classes {taken[v]!r} and {name!r} share the attribute {frame.values[v]!r}; "
                    "one_to_one needs a different attribute for every class (add values to the channel, or give a map)",
                )
            taken[v] = name
        p = frame.per_class("p", self.p)
        if self.filler is None:
            return frame.favour(p, [{v} for v in own])
        filler = frame.position("value", self.filler, frame.values, "filler")
        out = np.zeros((len(own), len(frame.values)))
        out[np.arange(len(own)), own] = p
        out[:, filler] += 1 - p
        return out


class ManyToMany(_Coupling):
    """Classes of a group share the attributes of the group equally, as in Spawrious M2M."""

    coupling: Literal["many_to_many"]
    p: PerClass = Field(1.0, description="P(an attribute of the class's group | label).")
    map: dict[str, list[str]] = Field(description="Class -> the attributes it may have.")

    def table(self, frame: Frame) -> Table:
        """See the class."""
        chosen: list[set[int]] = [set() for _ in frame.classes]
        for name, values in self.map.items():
            where = frame.position("class", name, frame.classes, "map")
            chosen[where] = {frame.position("value", v, frame.values, f"map.{name}") for v in values}
        for name, values_of in zip(frame.classes, chosen, strict=True):
            if not values_of:
                raise SpecError(f"{frame.path}.map", f"gives class {name!r} no attribute; list at least one")
        return frame.favour(frame.per_class("p", self.p), chosen)


class Tabled(_Coupling):
    """Any P(attribute | label), written out."""

    coupling: Literal["table"]
    probabilities: dict[str, dict[str, Probability]] = Field(
        description="Class -> attribute -> probability; attributes left out have probability 0."
    )

    def table(self, frame: Frame) -> Table:
        """See the class."""
        return _written_out(frame, "probabilities", self.probabilities, "class", frame.classes)


class Given(_Coupling):
    """Follows another channel instead of the label: how shortcuts interact."""

    coupling: Literal["given"]
    channel: str = Field(description="The channel to follow.")
    p: Probability | None = Field(None, description="P(mapped attribute | attribute of the other channel).")
    map: dict[str, str] = Field(
        {}, description="Attribute of the other channel -> attribute; by position unless given."
    )
    probabilities: dict[str, dict[str, Probability]] = Field(
        {}, description="Instead of p and map: attribute of the other channel -> attribute -> probability."
    )

    def table(self, frame: Frame) -> Table:
        """See the class."""
        if self.probabilities:
            if self.p is not None or self.map:
                raise SpecError(frame.path, "has both probabilities and p or map; give one or the other")
            return _written_out(frame, "probabilities", self.probabilities, "value", frame.parent)
        if self.p is None:
            raise SpecError(f"{frame.path}.p", "is missing; give p, or a table of probabilities")
        follows = [i % len(frame.values) for i in range(len(frame.parent))]
        for name, value in self.map.items():
            where = frame.position("value", name, frame.parent, "map")
            follows[where] = frame.position("value", value, frame.values, f"map.{name}")
        return frame.favour(np.full(len(follows), self.p), [{v} for v in follows])

    @property
    def follows(self) -> str | None:
        """The channel that the context is taken from."""
        return self.channel


class Even(_Coupling):
    """Every attribute equally often, whatever the label."""

    coupling: Literal["uniform"]

    def table(self, frame: Frame) -> Table:
        """See the class."""
        return np.full((len(frame.classes), len(frame.values)), 1 / len(frame.values))


Coupling = Annotated[
    Aligned | Positive | OneToOne | ManyToMany | Tabled | Given | Even, Field(discriminator="coupling")
]
COUPLINGS: dict[str, type[_Coupling]] = {
    "aligned": Aligned,
    "positive": Positive,
    "one_to_one": OneToOne,
    "many_to_many": ManyToMany,
    "table": Tabled,
    "given": Given,
    "uniform": Even,
}


def _written_out(
    frame: Frame, field: str, probabilities: dict[str, dict[str, float]], kind: str, contexts: tuple[str, ...]
) -> Table:
    out = np.zeros((len(contexts), len(frame.values)))
    for name, row in probabilities.items():
        where = frame.position(kind, name, contexts, field)
        for value, p in row.items():
            out[where, frame.position("value", value, frame.values, f"{field}.{name}")] = p
    for name, total in zip(contexts, out.sum(1), strict=True):
        if abs(total - 1) > 1e-6:
            raise SpecError(f"{frame.path}.{field}.{name}", f"the probabilities sum to {total:g}; they must sum to 1")
    return out / out.sum(1, keepdims=True)
