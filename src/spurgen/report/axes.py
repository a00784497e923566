"""Scales of charts: where a value stands, which ticks an axis has, and how numbers are written."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Scale(NamedTuple):
    """Values from `low` to `high`, spread over places from `start` to `end`."""

    low: float
    high: float
    start: float = 0.0
    end: float = 100.0

    def at(self, value: float) -> float:
        """Where a value stands; what lies outside stands at the edge."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)


def spread(values: Iterable[float], *, around: Iterable[float] = (), least: float = 0.02) -> tuple[float, float]:
    """The range of an axis that holds all values that are numbers, and those of `around`, ends on round numbers."""
    there = [v for v in [*values, *around] if math.isfinite(v)] or [0.0, 1.0]
    low, high = min(there), max(there)
    if high - low < least:
        low, high = low - least / 2, high + least / 2
    step = _step(high - low, 4)
    return math.floor(round(low / step, 9)) * step, math.ceil(round(high / step, 9)) * step


def ticks(low: float, high: float, about: int = 4) -> list[float]:
    """Round numbers from low to high, about as many as asked for."""
    step = _step(high - low, about)
    first = math.ceil(round(low / step, 9))
    return [i * step for i in range(first, math.floor(round(high / step, 9)) + 1)]


def _step(width: float, about: int) -> float:
    """The round number (1, 2 or 5 times a power of ten) that divides a width into about so many parts."""
    rough = max(width, 1e-12) / about
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * k for k in (1, 2, 5, 10) if power * k >= rough * (1 - 1e-9))


def percent(value: float, digits: int = 0) -> str:
    """A share as people read it; a dash where there is none.

    >>> percent(0.345)
    '34%'
    """
    return f"{_plain(100 * value, digits)}%" if math.isfinite(value) else "–"


def points(value: float, digits: int = 1) -> str:
    """A difference of shares in points, with its sign."""
    return f"{_signed(100 * value, digits)} pts" if math.isfinite(value) else "–"


def number(value: float, digits: int = 2) -> str:
    """A number with a few digits; a dash where there is none."""
    return _plain(value, digits) if math.isfinite(value) else "–"


def change(value: float, digits: int = 2) -> str:
    """A difference with its sign; a dash where there is none."""
    return _signed(value, digits) if math.isfinite(value) else "–"


def labels(texts: Sequence[str]) -> list[str]:
    """The numbers of an axis: as few digits as tell them apart alike, and without naming points at every tick.

    >>> labels(["0.0 pts", "+20.0 pts"])
    ['0', '+20']
    >>> labels(["1.50", "2.00"])
    ['1.5', '2.0']
    """
    found = [text.removesuffix(" pts") for text in texts]
    while found and all(re.search(r"\.\d*0(?!\d)", text) for text in found):
        found = [re.sub(r"(\.\d*)0(?!\d)", r"\1", text) for text in found]
    return [re.sub(r"\.(?!\d)", "", text) for text in found]


def _plain(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}"
    zero = float(text) == 0
    return (text.lstrip("-") if zero else text).replace("-", "−")


def _signed(value: float, digits: int) -> str:
    text = _plain(value, digits)
    return text if text.startswith("−") or float(text) == 0 else f"+{text}"
