"""Tables of a page: what stands in a cell, and the number behind it, which sorting and downloads use."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from spurgen.report.axes import change, number, percent, points


@dataclass(frozen=True)
class Cell:
    """Text, the value behind it, and how strongly it is tinted (0 to 1; below 0 not at all)."""

    text: str
    value: str = ""
    tint: float = -1.0
    strong: bool = False


@dataclass(frozen=True)
class Table:
    """Columns, rows, and the name of the file that it can be downloaded as."""

    name: str
    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    numeric: frozenset[int] = field(default_factory=frozenset)


def table(name: str, caption: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Table:
    """A table from cells or plain values; columns in which every cell has a number are set to the right."""
    made = [[cell if isinstance(cell, Cell) else plain(cell) for cell in row] for row in rows]
    numeric = frozenset(
        i for i in range(len(columns)) if made and all(_is_number(r[i]) for r in made) and any(r[i].value for r in made)
    )
    return Table(name, caption, columns, made, numeric)


def plain(value: Any) -> Cell:
    """Any value as a cell."""
    if value is None:
        return Cell("–")
    if isinstance(value, bool):
        return Cell("yes" if value else "no", str(value).lower())
    if isinstance(value, int):
        return Cell(f"{value:,}", str(value))
    if isinstance(value, float):
        return Cell(_short(value), repr(value)) if math.isfinite(value) else Cell("–")
    return Cell(str(value), str(value))


def share(value: float, tint: float = -1.0, strong: bool = False, digits: int = 1) -> Cell:
    """A share, in percent."""
    return _cell(value, percent, digits, tint, strong)


def difference(value: float, strong: bool = False) -> Cell:
    """A difference of shares, in points."""
    return _cell(value, points, 1, -1.0, strong)


def decimal(value: float, digits: int = 3, tint: float = -1.0) -> Cell:
    """A number with so many digits."""
    return _cell(value, number, digits, tint, False)


def signed(value: float, digits: int = 2) -> Cell:
    """A difference with its sign."""
    return _cell(value, change, digits, -1.0, False)


def _cell(value: float, text: Callable[[float, int], str], digits: int, tint: float, strong: bool) -> Cell:
    if not math.isfinite(value):
        return Cell("–")
    return Cell(text(value, digits), repr(float(value)), tint, strong)


def _short(value: float) -> str:
    return f"{value:.4g}".replace("-", "−")


def _is_number(cell: Cell) -> bool:
    if not cell.value:
        return cell.text in ("–", "")
    try:
        float(cell.value)
    except ValueError:
        return False
    return True
