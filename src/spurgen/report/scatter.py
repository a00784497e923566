"""A map of a few things that are measured in two ways, as inline SVG; names give way to each other."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from spurgen.report.axes import Scale, percent, spread
from spurgen.report.svg import Text, all_finite, anchor, length, svg, ticked


def scatter(
    names: Sequence[str],
    xs: Sequence[float],
    ys: Sequence[float],
    kinds: Sequence[str],
    title: str,
    *,
    x_title: str,
    y_title: str,
    text: Text = percent,
    height: int = 340,
) -> str:
    """A named point for each of a few things that are measured in two ways; names give way to each other."""
    there = [i for i, (x, y) in enumerate(zip(xs, ys, strict=True)) if all_finite(x, y)]
    (left, right), (low, high) = (_within(spread([v[i] for i in there], least=0.1)) for v in (xs, ys))
    across, down = Scale(left, right, 5.0, 88.0), Scale(low, high, height - 52.0, 36.0)
    parts = [f'<text class="axis" x="0" y="12">{escape(y_title)} ↑</text>']
    for tick, name in ticked(low, high, text):
        y = down.at(tick)
        parts.append(f'<line class="grid" x1="0" x2="100%" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="tick" x="0" y="{y - 4:.1f}">{escape(name)}</text>')
    for tick, name in ticked(left, right, text):
        at = across.at(tick)
        parts.append(f'<text class="tick" x="{length(at)}" y="{height - 28}"{anchor(at)}>{escape(name)}</text>')
    parts.append(f'<text class="axis" x="100%" y="{height - 6}" text-anchor="end">{escape(x_title)} →</text>')
    marks = [(across.at(xs[i]), down.at(ys[i])) for i in there]
    places = _beside(marks, [names[i] for i in there], [kinds[i] for i in there])
    for i, (x, y), beside in zip(there, marks, places, strict=True):
        what = f"{names[i]}: {x_title} {text(xs[i])}, {y_title} {text(ys[i])}"
        name = f'<text class="label" x="{length(x)}" y="{y:.1f}" {beside}>{escape(names[i])}</text>' if beside else ""
        parts.append(
            f'<g class="row {kinds[i]}"><title>{escape(what)}</title>'
            f'<circle class="mark" cx="{length(x)}" cy="{y:.1f}" r="5.500"/>{name}</g>'
        )
    spoken = "; ".join(f"{names[i]}: {x_title} {text(xs[i])}, {y_title} {text(ys[i])}" for i in there)
    return svg("".join(parts), height, title, spoken or "nothing to show", "scatter")


def _within(ends: tuple[float, float]) -> tuple[float, float]:
    """Ends of an axis of shares: none is below 0 or above 1."""
    return max(ends[0], 0.0), min(ends[1], 1.0)


_PLACES = {  # of a name beside its mark: where its box begins, in widths of the name and in pixels, and how it is set
    'dx="9" dy="4"': (0.0, 9.0, 4.0),
    'dx="-9" dy="4" text-anchor="end"': (-1.0, -9.0, 4.0),
    'dx="0" dy="-11" text-anchor="middle"': (-0.5, 0.0, -11.0),
    'dx="0" dy="20" text-anchor="middle"': (-0.5, 0.0, 20.0),
    'dx="0" dy="-26" text-anchor="middle"': (-0.5, 0.0, -26.0),
    'dx="0" dy="35" text-anchor="middle"': (-0.5, 0.0, 35.0),
}
_NARROW_PX, _LETTER_PX = 330.0, 7.6  # names are kept apart as on a phone; wider pages have more room

Box = tuple[float, float, float, float]  # left, top, right, bottom


def _beside(marks: Sequence[tuple[float, float]], names: Sequence[str], kinds: Sequence[str]) -> list[str]:
    """Where each name stands, so that it covers no mark and no other name; "" for those that find no room.

    The reference and the best come first, and are always named.
    """
    taken: list[Box] = [(x * _NARROW_PX / 100 - 6, y - 6, x * _NARROW_PX / 100 + 6, y + 6) for x, y in marks]
    found = [""] * len(marks)
    for i in sorted(range(len(marks)), key=lambda i: kinds[i] == "plain"):
        x, y = marks[i]
        wide = _LETTER_PX * len(names[i])
        boxes: dict[str, Box] = {}
        for place, (share, dx, dy) in _PLACES.items():
            left = x * _NARROW_PX / 100 + share * wide + dx
            boxes[place] = (left, y + dy - 11, left + wide, y + dy + 3)
        free = (p for p, b in boxes.items() if b[0] >= 0 and b[2] <= _NARROW_PX and not any(_meet(b, t) for t in taken))
        found[i] = next(free, "" if kinds[i] == "plain" else next(iter(boxes)))
        if found[i]:
            taken.append(boxes[found[i]])
    return found


def _meet(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
