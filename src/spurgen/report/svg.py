"""What charts are made of: the picture that is named and described, places across as shares, ticks.

Places across are shares of the width and places down are pixels, so that a chart fills whatever width it is given and
its letters keep their size, also on a phone. Colours are classes that the page's style sheet fills in.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from html import escape

from spurgen.report.axes import labels, ticks

Text = Callable[[float], str]  # a value in words


def svg(inside: str, height: float, title: str, description: str, kind: str) -> str:
    """The whole: named and described for those who do not see it."""
    return (
        f'<svg class="chart {kind}" role="img" width="100%" height="{height:g}" xmlns="http://www.w3.org/2000/svg" '
        f'aria-label="{escape(title)}"><title>{escape(title)}</title><desc>{escape(description)}</desc>{inside}</svg>'
    )


def ticked(low: float, high: float, text: Text) -> list[tuple[float, str]]:
    """Where an axis has ticks, and what stands there."""
    places = ticks(low, high)
    return list(zip(places, labels([text(place) for place in places]), strict=True))


def anchor(x: float) -> str:
    """How text is set at a place across, so that it stays inside."""
    if x < 4:
        return ""
    return ' text-anchor="end"' if x > 96 else ' text-anchor="middle"'


def length(place: float) -> str:
    """A share of the width."""
    return f"{place:.2f}%"


def all_finite(*values: float) -> bool:
    """Whether all are numbers."""
    return all(math.isfinite(v) for v in values)


def finite(values: Iterable[float]) -> list[float]:
    """Those that are numbers."""
    return [v for v in values if math.isfinite(v)]
