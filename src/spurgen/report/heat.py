"""A table of numbers as inline SVG, the larger the darker."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from spurgen.report.axes import number
from spurgen.report.svg import Text, finite, length, svg


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
    parts = [f'<text class="axis" x="{length(gutter)}" y="12">{escape(column_title)} →</text>' if column_title else ""]
    parts.append(f'<text class="axis" x="0" y="{head - 8}">{escape(row_title)} ↓</text>' if row_title else "")
    for j, name in enumerate(columns):
        x = gutter + (j + 0.5) * wide
        parts.append(f'<text class="tick" x="{length(x)}" y="{head - 8}" text-anchor="middle">{escape(name)}</text>')
    for i, row in enumerate(rows):
        y = head + i * tall
        parts.append(f'<text class="label" x="0" y="{y + 18}">{escape(row)}</text>')
        total = sum(finite(cells[i])) or 1.0
        for j, value in enumerate(cells[i]):
            share = value / total if math.isfinite(value) else 0.0
            kind = "cell right" if diagonal and i == j else "cell"
            shown = text(value) if value else "·"
            parts.append(
                f"<g><title>{escape(f'{row}, {columns[j]}: {text(value)}')}</title>"
                f'<rect class="{kind}" x="{length(gutter + j * wide)}" y="{y}" width="{length(wide)}" height="{tall}" '
                f'fill-opacity="{0.6 * share:.3f}"/><text class="count{"" if value else " none"}" '
                f'x="{length(gutter + (j + 0.5) * wide)}" y="{y + 18}" text-anchor="middle">{escape(shown)}</text></g>'
            )
    spoken = "; ".join(
        f"{row}: " + ", ".join(f"{text(v)} {columns[j]}" for j, v in enumerate(cells[i]) if v)
        for i, row in enumerate(rows)
    )
    return svg("".join(parts), head + len(rows) * tall + 4, title, spoken or "nothing to show", "heat")
