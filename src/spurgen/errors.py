"""The errors a person can act on: one sentence that says what is wrong, where, and what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any


class SpurgenError(Exception):
    """Base of every error that is shown to a person as one sentence instead of a traceback."""


class UnknownName(SpurgenError):
    """A name that no registered part carries."""


class SpecError(SpurgenError):
    """A spec that cannot be used; `path` is the field at fault, as it would be written in TOML."""

    def __init__(self, path: str, message: str):
        self.path = path
        super().__init__(f"{path}: {message}" if path else message)


class DataError(SpurgenError):
    """A dataset, manifest or file that is damaged, incomplete, or not what it claims to be."""


class Busy(SpurgenError):
    """Another process holds the directory."""


class MissingExtra(SpurgenError):
    """An optional library is not installed."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that looks most like `name`, or None when nothing comes close."""
    known = list(known)
    folded = {k.casefold(): k for k in reversed(known)}
    found = difflib.get_close_matches(str(name)[:200].casefold(), list(folded), n=1, cutoff=0.6)
    return folded[found[0]] if found else None


def brief(value: Any) -> str:
    """A value as a message repeats it: no longer than a line, whatever it is."""
    try:
        text = repr(value)
    except ValueError:  # Python writes out no numbers of thousands of digits
        return "a number of thousands of digits"
    return shortened(text, 60)


def shortened(text: str, most: int = 120) -> str:
    """Text that is cut where it is longer than a message should be."""
    return text if len(text) <= most else f"{text[: most - 3]}…"


def unknown(kind: str, name: str, known: Iterable[str], where: str = "") -> str:
    """The sentence for a name that is not known (in `where`): the closest match, or the whole list when it is short."""
    known = sorted(known)
    close = nearest(name, known)
    what = f"there is no {kind} {brief(name)}" + (f" in {where}" if where else "")
    if close is not None:
        return f"{what}; did you mean {close!r}?"
    if not known:
        return what
    listed = ", ".join(known[:30]) + (", …" if len(known) > 30 else "")
    return f"{what}; known: {listed}"


def missing_extra(feature: str, extra: str) -> MissingExtra:
    """The error for a feature whose optional dependency is absent, with the line that installs it."""
    return MissingExtra(f"{feature} needs an optional dependency; install it with: pip install 'spurgen[{extra}]'")
