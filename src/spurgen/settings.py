"""Hyper-parameters: a default, a range to search, bounds and a sentence beside every field of a frozen dataclass."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, get_type_hints

from spurgen.errors import SpurgenError, UnknownName, unknown


@dataclass(frozen=True)
class Even:
    """Numbers spread evenly over [low, high]."""

    low: float
    high: float

    def sample(self, u: float) -> float:
        """Turn a number in [0, 1) into a value."""
        return self.low + (self.high - self.low) * u

    def contains(self, value: Any) -> bool:
        """Whether this range could have given the value."""
        return self.low <= value <= self.high

    def __str__(self) -> str:
        return f"U({self.low:g}, {self.high:g})"


@dataclass(frozen=True)
class Power:
    """`times` · base^U(low, high); whole numbers with `whole`, one minus it with `complement`."""

    low: float
    high: float
    base: int = 10
    times: float = 1.0
    whole: bool = False
    complement: bool = False

    def sample(self, u: float) -> float:
        """Turn a number in [0, 1) into a value."""
        value = self.times * self.base ** (self.low + (self.high - self.low) * u)
        value = 1 - value if self.complement else value
        return int(value) if self.whole else value

    def contains(self, value: Any) -> bool:
        """Whether this range could have given the value."""
        ends = sorted((self.sample(0.0), self.sample(1.0)))
        slack = 1e-12 * max(abs(e) for e in ends)
        return ends[0] - slack <= value <= ends[1] + slack and (not self.whole or value == int(value))

    def __str__(self) -> str:
        times = "" if self.times == 1 else f"{self.times:g}·"
        power = f"{times}{self.base}^U({self.low:g}, {self.high:g})"
        power = f"1 − {power}" if self.complement else power
        return f"int({power})" if self.whole else power


@dataclass(frozen=True)
class OneOf:
    """One of a few values."""

    values: tuple[Any, ...]

    def sample(self, u: float) -> Any:
        """Turn a number in [0, 1) into a value."""
        return self.values[min(int(u * len(self.values)), len(self.values) - 1)]

    def contains(self, value: Any) -> bool:
        """Whether it is one of them."""
        return value in self.values

    def __str__(self) -> str:
        return "{" + ", ".join(str(v) for v in self.values) + "}"


Range = Even | Power | OneOf


def setting(
    default: Any,
    about: str,
    search: Range | None = None,
    least: float | None = None,
    most: float | None = None,
    choices: tuple[str, ...] = (),
) -> Any:
    """A field of a dataclass of settings; None in `search` means that it is not searched over."""
    note = {"about": about, "search": search, "least": least, "most": most, "choices": choices}
    return field(default=default, metadata=note)


@dataclass(frozen=True)
class NoSettings:
    """A method without hyper-parameters."""


def described(kind: type[Any]) -> list[dict[str, Any]]:
    """Each setting with its default, range and sentence, as plain data."""
    return [
        {
            "name": f.name,
            "default": None if f.default is MISSING else f.default,
            "search": None if f.metadata.get("search") is None else str(f.metadata["search"]),
            "choices": list(f.metadata.get("choices", ())),
            "about": f.metadata.get("about", ""),
        }
        for f in fields(kind)
    ]


def fill(kind: type[Any], given: Mapping[str, Any], whose: str) -> Any:
    """An instance with the given values; one that is unknown, of another type or out of bounds is an error."""
    known = {f.name: f for f in fields(kind)}
    types = get_type_hints(kind)
    checked = {}
    for name, value in given.items():
        if name not in known:
            none = f"; {whose} has none" if not known else ""
            raise UnknownName(unknown(f"setting of {whose},", name, known) + none)
        checked[name] = _checked(f"{name} of {whose}", value, types[name], known[name].metadata)
    return kind(**checked)


def _checked(what: str, value: Any, kind: type[Any], note: Mapping[str, Any]) -> Any:
    value = _read(what, value, kind)
    if note.get("choices") and value not in note["choices"]:
        raise UnknownName(unknown(f"choice for {what},", str(value), note["choices"]))
    low, high = note.get("least"), note.get("most")
    if isinstance(value, int | float) and not isinstance(value, bool):
        if not math.isfinite(value):
            raise SpurgenError(f"{what} is {value}; it must be a finite number")
        if low is not None and value < low:
            raise SpurgenError(f"{what} is {value}; it must be at least {low:g}")
        if high is not None and value > high:
            raise SpurgenError(f"{what} is {value}; it must be at most {high:g}")
    return value


def _read(what: str, value: Any, kind: type[Any]) -> Any:
    """The value as its type; texts, as they come from a command line, are read as numbers where those are wanted."""
    if kind is bool:
        words = {"true": True, "false": False}
        value = words.get(value.lower(), value) if isinstance(value, str) else value
        if not isinstance(value, bool):
            raise SpurgenError(f"{what} is {value!r}; it must be true or false")
        return value
    if kind is str:
        return str(value)
    try:
        number = float(value) if not isinstance(value, bool) else None
    except (TypeError, ValueError):
        number = None
    if number is None or (kind is int and (not math.isfinite(number) or number != int(number))):
        raise SpurgenError(f"{what} is {value!r}; it must be a {'whole number' if kind is int else 'number'}")
    if kind is int:
        return int(value) if isinstance(value, str) and value.strip().lstrip("+-").isdigit() else int(number)
    return number


def assignments(words: tuple[str, ...] | list[str]) -> dict[str, str]:
    """KEY=VALUE words of a command line; the same key twice is an error."""
    found: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise SpurgenError(f"{word!r} is no KEY=VALUE; write for example eta=0.01")
        if name.strip() in found:
            raise SpurgenError(f"{name.strip()} is set twice; set it once")
        found[name.strip()] = value.strip()
    return found
