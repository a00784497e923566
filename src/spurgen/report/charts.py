"""Bars, and points with intervals, as inline SVG by pure functions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from spurgen.report.axes import Scale, percent, spread
from spurgen.report.svg import Text, anchor, finite, length, svg, ticked

ROW_PX, PAIR_PX, TOP_PX, AXIS_PX = 46, 13, 4, 22


@dataclass(frozen=True)
class Bar:
    """One line of a bar chart: a value with its interval, and what single seeds gave."""

    label: str
    value: float
    low: float = math.nan
    high: float = math.nan
    dots: Sequence[float] = ()
    kind: str = "plain"  # reference, best, or plain
    note: str = ""  # what stands at the right; the value unless given
    solid: bool = True  # points only: filled where something is decided
    second: Bar | None = None  # drawn below it, for what it is compared with


def bars(rows: Sequence[Bar], title: str, *, low: float = 0.0, high: float = 1.0, text: Text = percent) -> str:
    """Horizontal bars from 0 with whiskers and a dot per seed; the label stands above its bar.

    A row may have a second bar below the first, named by its own label.
    """
    scale = Scale(low, high)
    drawn, y = [], float(TOP_PX)
    for row in rows:
        parts = [_heading(row, y, text), _bar(row, y + 23, scale)]
        if row.second is not None:
            parts.append(f'<g class="{row.second.kind}">{_bar(row.second, y + 23 + PAIR_PX, scale)}</g>')
        drawn.append(f'<g class="row {row.kind}"><title>{escape(_spoken(row, text))}</title>{"".join(parts)}</g>')
        y += ROW_PX if row.second is None else ROW_PX + PAIR_PX
    return _rows(drawn, y, title, rows, scale, text)


def _bar(row: Bar, y: float, scale: Scale) -> str:
    parts = [f'<rect class="track" x="0" width="100%" y="{y:g}" height="10" rx="2"/>']
    if math.isfinite(row.value):
        left, right = sorted((scale.at(0.0), scale.at(row.value)))
        wide = max(right - left, 0.3)
        parts.append(f'<rect class="bar" x="{length(left)}" width="{length(wide)}" y="{y:g}" height="10" rx="2"/>')
        parts.append(_whisker(scale, row, y + 5))
        parts += [
            f'<circle class="dot" cx="{length(scale.at(v))}" cy="{y + 5:g}" r="2.500"/>' for v in finite(row.dots)
        ]
    return "".join(parts)


def intervals(rows: Sequence[Bar], title: str, *, text: Text, limits: tuple[float, float] | None = None) -> str:
    """Differences as points with intervals around a line at 0; hollow where nothing is decided."""
    ends = [v for row in rows for v in (row.value, row.low, row.high)]
    low, high = limits or spread(ends, around=(0.0,))
    scale = Scale(low, high, 1.5, 98.5)
    drawn = []
    for i, row in enumerate(rows):
        y = TOP_PX + i * ROW_PX
        parts = [_heading(row, y, text)]
        if math.isfinite(row.value):
            mark = "mark" if row.solid else "mark hollow"
            parts.append(_whisker(scale, row, y + 28))
            parts.append(f'<circle class="{mark}" cx="{length(scale.at(row.value))}" cy="{y + 28}" r="5.500"/>')
        drawn.append(f'<g class="row {row.kind}"><title>{escape(_spoken(row, text))}</title>{"".join(parts)}</g>')
    return _rows(drawn, TOP_PX + len(rows) * ROW_PX, title, rows, scale, text, zero=low <= 0 <= high)


def _rows(
    drawn: list[str], bottom: float, title: str, rows: Sequence[Bar], scale: Scale, text: Text, zero: bool = False
) -> str:
    height = bottom + AXIS_PX
    grid = []
    for tick, name in ticked(scale.low, scale.high, text):
        x = scale.at(tick)
        grid.append(f'<line class="grid" x1="{length(x)}" x2="{length(x)}" y1="{TOP_PX}" y2="{bottom}"/>')
        grid.append(f'<text class="tick" x="{length(x)}" y="{bottom + 16}"{anchor(x)}>{escape(name)}</text>')
    if zero:
        zero_at = length(scale.at(0.0))
        grid.append(f'<line class="zero" x1="{zero_at}" x2="{zero_at}" y1="{TOP_PX}" y2="{bottom}"/>')
    spoken = "; ".join(_spoken(row, text) for row in rows) or "nothing to show"
    return svg("".join(grid + drawn), height, title, spoken, "bars")


def _heading(row: Bar, y: float, text: Text) -> str:
    both = row.second is not None and math.isfinite(row.second.value)
    note = row.note or (f"{text(row.value)} → {text(row.second.value)}" if both and row.second else text(row.value))
    return (
        f'<text class="label" x="0" y="{y + 16}">{escape(row.label)}</text>'
        f'<text class="value" x="100%" y="{y + 16}" text-anchor="end">{escape(note)}</text>'
    )


def _whisker(scale: Scale, row: Bar, y: float) -> str:
    if not (math.isfinite(row.low) and math.isfinite(row.high)):
        return ""
    low, high = length(scale.at(row.low)), length(scale.at(row.high))
    ends = "".join(f'<line x1="{x}" x2="{x}" y1="{y - 5}" y2="{y + 5}"/>' for x in (low, high))
    return f'<g class="whisker"><line x1="{low}" x2="{high}" y1="{y}" y2="{y}"/>{ends}</g>'


def _spoken(row: Bar, text: Text) -> str:
    known = math.isfinite(row.low) and math.isfinite(row.high)
    between = f", from {text(row.low)} to {text(row.high)}" if known else ""
    also = f"; {_spoken(row.second, text)}" if row.second is not None else ""
    return f"{row.label}: {text(row.value)}{between}{'' if row.solid else ', not decided'}{also}"


def key(names: Iterable[tuple[str, str]]) -> str:
    """What the two bars of each row are: (name, kind), in their order from above."""
    items = "".join(
        f'<li><span class="swatch {kind}" aria-hidden="true"></span>{escape(name)}</li>' for name, kind in names
    )
    return f'<ul class="legend">{items}</ul>'
