"""Charts as inline SVG, by pure functions: bars, points with intervals, lines, a heat table, a map of two measures.

Places across are shares of the width and places down are pixels, so that a chart fills whatever width it is given and
its letters keep their size, also on a phone. Colours are classes that the page's style sheet fills in.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

from spurgen.report.axes import Scale, labels, number, percent, spread, ticks

ROW_PX, PAIR_PX, TOP_PX, AXIS_PX = 46, 13, 4, 22
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

Text = Callable[[float], str]


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


@dataclass(frozen=True)
class Series:
    """One line of a line chart; low and high make its band."""

    name: str
    xs: Sequence[float]
    ys: Sequence[float]
    lows: Sequence[float] = field(default=())
    highs: Sequence[float] = field(default=())


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
        parts.append(f'<rect class="bar" x="{_p(left)}" width="{_p(wide)}" y="{y:g}" height="10" rx="2"/>')
        parts.append(_whisker(scale, row, y + 5))
        parts += [f'<circle class="dot" cx="{_p(scale.at(v))}" cy="{y + 5:g}" r="2.500"/>' for v in _finite(row.dots)]
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
            parts.append(f'<circle class="{mark}" cx="{_p(scale.at(row.value))}" cy="{y + 28}" r="5.500"/>')
        drawn.append(f'<g class="row {row.kind}"><title>{escape(_spoken(row, text))}</title>{"".join(parts)}</g>')
    return _rows(drawn, TOP_PX + len(rows) * ROW_PX, title, rows, scale, text, zero=low <= 0 <= high)


def _rows(
    drawn: list[str], bottom: float, title: str, rows: Sequence[Bar], scale: Scale, text: Text, zero: bool = False
) -> str:
    height = bottom + AXIS_PX
    grid = []
    for tick, name in _ticks(scale.low, scale.high, text):
        x = scale.at(tick)
        grid.append(f'<line class="grid" x1="{_p(x)}" x2="{_p(x)}" y1="{TOP_PX}" y2="{bottom}"/>')
        grid.append(f'<text class="tick" x="{_p(x)}" y="{bottom + 16}"{_anchor(x)}>{escape(name)}</text>')
    if zero:
        x = _p(scale.at(0.0))
        grid.append(f'<line class="zero" x1="{x}" x2="{x}" y1="{TOP_PX}" y2="{bottom}"/>')
    spoken = "; ".join(_spoken(row, text) for row in rows) or "nothing to show"
    return _svg("".join(grid + drawn), height, title, spoken, "bars")


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
    low, high = _p(scale.at(row.low)), _p(scale.at(row.high))
    ends = "".join(f'<line x1="{x}" x2="{x}" y1="{y - 5}" y2="{y + 5}"/>' for x in (low, high))
    return f'<g class="whisker"><line x1="{low}" x2="{high}" y1="{y}" y2="{y}"/>{ends}</g>'


def _spoken(row: Bar, text: Text) -> str:
    known = math.isfinite(row.low) and math.isfinite(row.high)
    between = f", from {text(row.low)} to {text(row.high)}" if known else ""
    also = f"; {_spoken(row.second, text)}" if row.second is not None else ""
    return f"{row.label}: {text(row.value)}{between}{'' if row.solid else ', not decided'}{also}"


# ------------------------------------------------------------------------------------------------------- lines


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
    for tick, name in _ticks(low, high, text):
        y = down.at(tick)
        parts.append(f'<line class="grid" x1="0" x2="100%" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="tick" x="0" y="{y - 4:.1f}">{escape(name)}</text>')
    for x in _known(x_ticks, left, right):
        at = across.at(x)
        parts.append(f'<text class="tick" x="{_p(at)}" y="{height - 26}"{_anchor(at)}>{escape(x_text(x))}</text>')
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
    return _svg("".join(parts), height, title, spoken, "lines")


def key(names: Iterable[tuple[str, str]]) -> str:
    """What the two bars of each row are: (name, kind), in their order from above."""
    items = "".join(
        f'<li><span class="swatch {kind}" aria-hidden="true"></span>{escape(name)}</li>' for name, kind in names
    )
    return f'<ul class="legend">{items}</ul>'


def legend(names: Iterable[str]) -> str:
    """What the lines of a chart are called, each with its colour, dash and mark."""
    items = "".join(
        f'<li><svg class="key {_kind(i)}" width="28" height="12" aria-hidden="true" focusable="false">'
        f'<line x1="0" x2="28" y1="6" y2="6"/><svg class="marker" x="14" y="6" overflow="visible">{_shape(i)}</svg></svg>'
        f"{escape(name)}</li>"
        for i, name in enumerate(names)
    )
    return f'<ul class="legend">{items}</ul>'


def _path(series: Series, i: int, across: Scale, down: Scale) -> str:
    points = [(across.at(x), down.at(y)) for x, y in zip(series.xs, series.ys, strict=True) if _both(x, y)]
    if not points:
        return ""
    band = ""
    if series.lows and series.highs:
        edge = list(zip(series.xs, series.lows, series.highs, strict=True))
        edge = [(x, a, b) for x, a, b in edge if _both(a, b)]
        around = [(across.at(x), down.at(b)) for x, _, b in edge] + [
            (across.at(x), down.at(a)) for x, a, _ in edge[::-1]
        ]
        band = f'<path class="band" d="M{_joined(around)}z"/>' if len(edge) > 1 else ""
    return f'<g class="{_kind(i)}">{band}<path class="line" d="M{_joined(points)}"/></g>'


def _marks(series: Series, i: int, across: Scale, down: Scale, text: Text, x_text: Text) -> str:
    found = [
        f'<svg class="marker" x="{_p(across.at(x))}" y="{down.at(y):.1f}" overflow="visible">'
        f"<title>{escape(f'{series.name}, {x_text(x)}: {text(y)}')}</title>{_shape(i)}</svg>"
        for x, y in zip(series.xs, series.ys, strict=True)
        if _both(x, y)
    ]
    return f'<g class="{_kind(i)}">{"".join(found)}</g>'


def _told(series: Series, text: Text, x_text: Text) -> str:
    there = [(x, y) for x, y in zip(series.xs, series.ys, strict=True) if _both(x, y)]
    if not there:
        return f"{series.name}: nothing"
    (x0, y0), (x1, y1) = there[0], there[-1]
    return f"{series.name}: {text(y0)} at {x_text(x0)}, {text(y1)} at {x_text(x1)}"


def _known(x_ticks: Sequence[float] | None, left: float, right: float) -> list[float]:
    return [x for x in (ticks(left, right) if x_ticks is None else x_ticks) if left <= x <= right]


def _extent(xs: Sequence[float]) -> tuple[float, float]:
    there = _finite(xs) or [0.0, 1.0]
    low, high = min(there), max(there)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _joined(points: Sequence[tuple[float, float]]) -> str:
    return "L".join(f"{x:.2f} {y:.1f}" for x, y in points)


def _shape(i: int) -> str:
    return _SHAPES[i % MARKS]


def _kind(i: int) -> str:
    return f"s{i % MARKS}" + (f" again{i // MARKS}" if i >= MARKS else "")


# ------------------------------------------------------------------------------------------- two measures, tables


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
    there = [i for i, (x, y) in enumerate(zip(xs, ys, strict=True)) if _both(x, y)]
    (left, right), (low, high) = (_within(spread([v[i] for i in there], least=0.1)) for v in (xs, ys))
    across, down = Scale(left, right, 5.0, 88.0), Scale(low, high, height - 52.0, 36.0)
    parts = [f'<text class="axis" x="0" y="12">{escape(y_title)} ↑</text>']
    for tick, name in _ticks(low, high, text):
        y = down.at(tick)
        parts.append(f'<line class="grid" x1="0" x2="100%" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="tick" x="0" y="{y - 4:.1f}">{escape(name)}</text>')
    for tick, name in _ticks(left, right, text):
        at = across.at(tick)
        parts.append(f'<text class="tick" x="{_p(at)}" y="{height - 28}"{_anchor(at)}>{escape(name)}</text>')
    parts.append(f'<text class="axis" x="100%" y="{height - 6}" text-anchor="end">{escape(x_title)} →</text>')
    marks = [(across.at(xs[i]), down.at(ys[i])) for i in there]
    for i, (x, y), beside in zip(there, marks, _beside(marks, [names[i] for i in there]), strict=True):
        what = f"{names[i]}: {x_title} {text(xs[i])}, {y_title} {text(ys[i])}"
        parts.append(
            f'<g class="row {kinds[i]}"><title>{escape(what)}</title><circle class="mark" cx="{_p(x)}" cy="{y:.1f}" '
            f'r="5.500"/><text class="label" x="{_p(x)}" y="{y:.1f}" {beside}>{escape(names[i])}</text></g>'
        )
    spoken = "; ".join(f"{names[i]}: {x_title} {text(xs[i])}, {y_title} {text(ys[i])}" for i in there)
    return _svg("".join(parts), height, title, spoken or "nothing to show", "scatter")


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


def _beside(marks: Sequence[tuple[float, float]], names: Sequence[str]) -> list[str]:
    """Where each name stands, so that it covers no mark and no other name, as far as that can be had."""
    taken: list[Box] = [(x * _NARROW_PX / 100 - 6, y - 6, x * _NARROW_PX / 100 + 6, y + 6) for x, y in marks]
    found = []
    for (x, y), name in zip(marks, names, strict=True):
        wide = _LETTER_PX * len(name)
        boxes: dict[str, Box] = {}
        for place, (share, dx, dy) in _PLACES.items():
            left = x * _NARROW_PX / 100 + share * wide + dx
            boxes[place] = (left, y + dy - 11, left + wide, y + dy + 3)
        free = (p for p, b in boxes.items() if 0 <= b[0] and b[2] <= _NARROW_PX and not any(_meet(b, t) for t in taken))
        place = next(free, next(iter(boxes)))
        taken.append(boxes[place])
        found.append(place)
    return found


def _meet(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def heat(
    cells: Sequence[Sequence[float]],
    rows: Sequence[str],
    columns: Sequence[str],
    title: str,
    *,
    text: Text = number,
    row_title: str = "",
    column_title: str = "",
    diagonal: bool = False,
) -> str:
    """A table of numbers, the larger the darker, each row by its sum; the diagonal has a colour of its own if asked."""
    gutter = min(34.0, 6.0 + 1.15 * max((len(r) for r in rows), default=0))
    wide = (100.0 - gutter) / max(len(columns), 1)
    tall, head = 28, 46
    parts = [f'<text class="axis" x="{_p(gutter)}" y="12">{escape(column_title)} →</text>' if column_title else ""]
    parts.append(f'<text class="axis" x="0" y="{head - 8}">{escape(row_title)} ↓</text>' if row_title else "")
    for j, name in enumerate(columns):
        x = gutter + (j + 0.5) * wide
        parts.append(f'<text class="tick" x="{_p(x)}" y="{head - 8}" text-anchor="middle">{escape(name)}</text>')
    for i, row in enumerate(rows):
        y = head + i * tall
        parts.append(f'<text class="label" x="0" y="{y + 18}">{escape(row)}</text>')
        total = sum(_finite(cells[i])) or 1.0
        for j, value in enumerate(cells[i]):
            share = value / total if math.isfinite(value) else 0.0
            kind = "cell right" if diagonal and i == j else "cell"
            shown = text(value) if value else "·"
            parts.append(
                f"<g><title>{escape(f'{row}, {columns[j]}: {text(value)}')}</title>"
                f'<rect class="{kind}" x="{_p(gutter + j * wide)}" y="{y}" width="{_p(wide)}" height="{tall}" '
                f'fill-opacity="{0.6 * share:.3f}"/><text class="count{"" if value else " none"}" '
                f'x="{_p(gutter + (j + 0.5) * wide)}" y="{y + 18}" text-anchor="middle">{escape(shown)}</text></g>'
            )
    spoken = "; ".join(
        f"{row}: " + ", ".join(f"{text(v)} {columns[j]}" for j, v in enumerate(cells[i]) if v)
        for i, row in enumerate(rows)
    )
    return _svg("".join(parts), head + len(rows) * tall + 4, title, spoken or "nothing to show", "heat")


# ------------------------------------------------------------------------------------------------------- parts


def _svg(inside: str, height: float, title: str, description: str, kind: str) -> str:
    """The whole: named and described for those who do not see it."""
    return (
        f'<svg class="chart {kind}" role="img" width="100%" height="{height:g}" xmlns="http://www.w3.org/2000/svg" '
        f'aria-label="{escape(title)}"><title>{escape(title)}</title><desc>{escape(description)}</desc>{inside}</svg>'
    )


def _ticks(low: float, high: float, text: Text) -> list[tuple[float, str]]:
    places = ticks(low, high)
    return list(zip(places, labels([text(place) for place in places]), strict=True))


def _anchor(x: float) -> str:
    if x < 4:
        return ""
    return ' text-anchor="end"' if x > 96 else ' text-anchor="middle"'


def _p(place: float) -> str:
    """A share of the width."""
    return f"{place:.2f}%"


def _both(*values: float) -> bool:
    return all(math.isfinite(v) for v in values)


def _finite(values: Iterable[float]) -> list[float]:
    return [v for v in values if math.isfinite(v)]
