"""A figure of the page: a chart, how to read it, the numbers behind it, and how to make it again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from spurgen.report import reproduce
from spurgen.report.charts import Bar
from spurgen.report.seeds import Estimate
from spurgen.report.summarize import ScopeSummary, Summary
from spurgen.report.tables import Table


@dataclass(frozen=True)
class Figure:
    """A chart with what it says, how to read it, the numbers behind it, and how to make it again."""

    title: str
    chart: str = ""
    about: str = ""
    legend: str = ""
    table: Table | None = None
    again: Sequence[str] = field(default_factory=tuple)
    open: bool = False  # whether the numbers are shown at once
    wide: bool = False  # whether the chart scrolls by itself where the page is narrow


def kind(scope: ScopeSummary, method: str) -> str:
    """How a method is drawn: the reference and the best remedy stand out."""
    return "reference" if method == scope.reference else "best" if method == scope.best else "plain"


def ordered(scope: ScopeSummary, methods: Sequence[str]) -> list[str]:
    """The reference first, then the best remedy, then the others as they come."""
    known = list(scope.methods)
    return sorted(methods, key=lambda m: (m != scope.reference, m != scope.best, known.index(m) if m in known else 0))


def bar_of(label: str, e: Estimate, kind: str) -> Bar:
    """A bar of a mean over seeds; a single seed needs no dot."""
    return Bar(label, e.mean, e.low, e.high, e.values if e.n > 1 else (), kind)


def interval_words(seeds: int) -> str:
    """What whiskers and dots mean."""
    if seeds > 1:
        return f"Dots are seeds, whiskers the 95% interval of the mean over {seeds} seeds."
    return (
        "One seed only: whiskers, where there are some, tell how sure its rows make it, and nothing about other seeds."
    )


def again_numbers(summary: Summary, scope: ScopeSummary, path: str) -> str:
    """The numbers behind a figure of a scope, in Python."""
    at = next(i for i, s in enumerate(summary.scopes) if s is scope)
    return reproduce.numbers(summary.name, f".scopes[{at}]{path}")


def again_trial(summary: Summary, scope: ScopeSummary, method: str) -> list[str]:
    """The commands that score once more the trial of a method whose pictures are shown."""
    key = scope.trial_of.get(method, "")
    trial = next((t for t in summary.settled if t["key"] == key), None)
    return [] if trial is None else reproduce.scoring(summary.name, trial)
