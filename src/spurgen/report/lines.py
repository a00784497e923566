"""Line charts as inline SVG: series told apart by colour, dashes and the shape of their marks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

from spurgen.report.axes import Scale, number, percent, spread, ticks
from spurgen.report.svg import Text, all_finite, anchor, finite, length, svg, ticked

MARKS = 8  # kinds of series; more than that start again, with other dashes
_SHAPES = (
    '<circle r="4"/>',
    '<path d="M-4-4h8v8h-8z"/>',
    '<path d="M0-5L5 4H-5z"/>',
    '<path d="M0-5.5L5.5 0 0 5.5-5.5 0z"/>',
    '<path d="M0 5L5-4H-5z"/>',
    '<path d="M-1.5-5h3v3.500h3.500v3h-3.500v3.500h-3v-3.500h-3.500v-3h3.500z"/>',
    '<path d="M-5-2L0-5.500 5-2 3 4.500H-3z"/>',
    '<path d="M-4-4L4 4M4-4L-4 4" class="open"/>',
)


@dataclass(frozen=True)
class Series:
    """One line of a line chart; low and high make its band."""

    name: str
    xs: Sequence[float]
    ys: Sequence[float]
    lows: Sequence[float] = field(default=())
    highs: Sequence[float] = field(default=())


def lines(
    series: Sequence[Series],
    title: str,
    *,
    text: Text = percent,
    x_text: Text = number,
    x_title: str = "",
    limits: tuple[float, float] | None = None,
    x_ticks: Sequence[float] | None = None,
    height: int = 260,
    marks: bool = True,
) -> str:
    """A line for each series, told apart by colour, dashes and the shape of its marks."""
    given = [v for s in series for v in (*s.ys, *s.lows, *s.highs)]
    low, high = limits or spread(given)
    left, right = _extent([x for s in series for x in s.xs])
    across, down = Scale(left, right, 4.0, 97.0), Scale(low, high, height - 46.0, 16.0)
    parts = []
    for tick, name in ticked(low, high, text):
        y = down.at(tick)
        parts.append(f'<line class="grid" x1="0" x2="100%" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="tick" x="0" y="{y - 4:.1f}">{escape(name)}</text>')
    for x in _known(x_ticks, left, right):
        at = across.at(x)
        parts.append(f'<text class="tick" x="{length(at)}" y="{height - 26}"{anchor(at)}>{escape(x_text(x))}</text>')
    parts.append(
        f'<text class="axis" x="50%" y="{height - 6}" text-anchor="middle">{escape(x_title)}</text>' if x_title else ""
    )
    drawn = "".join(_path(s, i, across, down) for i, s in enumerate(series))
    parts.append(
        f'<svg width="100%" height="{height}" viewBox="0 0 100 {height}" preserveAspectRatio="none">{drawn}</svg>'
    )
    if marks:
        parts += [_marks(s, i, across, down, text, x_text) for i, s in enumerate(series)]
    spoken = "; ".join(_told(s, text, x_text) for s in series) or "nothing to show"
    return svg("".join(parts), height, title, spoken, "lines")


def legend(names: Iterable[str]) -> str:
    """What the lines of a chart are called, each with its colour, dash and mark."""
    items = "".join(
        f'<li><svg class="key {_kind(i)}" width="28" height="12" aria-hidden="true" focusable="false">'
        '<line x1="0" x2="28" y1="6" y2="6"/>'
        f'<svg class="marker" x="14" y="6" overflow="visible">{_shape(i)}</svg></svg>'
        f"{escape(name)}</li>"
        for i, name in enumerate(names)
    )
    return f'<ul class="legend">{items}</ul>'


def _path(series: Series, i: int, across: Scale, down: Scale) -> str:
    points = [(across.at(x), down.at(y)) for x, y in zip(series.xs, series.ys, strict=True) if all_finite(x, y)]
    if not points:
        return ""
    band = ""
    if series.lows and series.highs:
        edge = list(zip(series.xs, series.lows, series.highs, strict=True))
        edge = [(x, a, b) for x, a, b in edge if all_finite(a, b)]
        around = [(across.at(x), down.at(b)) for x, _, b in edge] + [
            (across.at(x), down.at(a)) for x, a, _ in edge[::-1]
        ]
        band = f'<path class="band" d="M{_joined(around)}z"/>' if len(edge) > 1 else ""
    return f'<g class="{_kind(i)}">{band}<path class="line" d="M{_joined(points)}"/></g>'


def _marks(series: Series, i: int, across: Scale, down: Scale, text: Text, x_text: Text) -> str:
    found = [
        f'<svg class="marker" x="{length(across.at(x))}" y="{down.at(y):.1f}" overflow="visible">'
        f"<title>{escape(f'{series.name}, {x_text(x)}: {text(y)}')}</title>{_shape(i)}</svg>"
        for x, y in zip(series.xs, series.ys, strict=True)
        if all_finite(x, y)
    ]
    return f'<g class="{_kind(i)}">{"".join(found)}</g>'


def _told(series: Series, text: Text, x_text: Text) -> str:
    there = [(x, y) for x, y in zip(series.xs, series.ys, strict=True) if all_finite(x, y)]
    if not there:
        return f"{series.name}: nothing"
    (x0, y0), (x1, y1) = there[0], there[-1]
    return f"{series.name}: {text(y0)} at {x_text(x0)}, {text(y1)} at {x_text(x1)}"


def _known(x_ticks: Sequence[float] | None, left: float, right: float) -> list[float]:
    return [x for x in (ticks(left, right) if x_ticks is None else x_ticks) if left <= x <= right]


def _extent(xs: Sequence[float]) -> tuple[float, float]:
    there = finite(xs) or [0.0, 1.0]
    low, high = min(there), max(there)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _joined(points: Sequence[tuple[float, float]]) -> str:
    return "L".join(f"{x:.2f} {y:.1f}" for x, y in points)


def _shape(i: int) -> str:
    return _SHAPES[i % MARKS]


def _kind(i: int) -> str:
    return f"s{i % MARKS}" + (f" again{i // MARKS}" if i >= MARKS else "")
