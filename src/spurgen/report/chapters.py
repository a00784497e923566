"""The figures of the details: groups, variants of worlds, learning curves, what is taken for what."""

from __future__ import annotations

import math
from dataclasses import replace

from spurgen.report import reproduce
from spurgen.report.ablations import Ablation
from spurgen.report.axes import number, percent
from spurgen.report.charts import Bar, bars, key
from spurgen.report.figure import Figure, again_numbers, again_trial, kind, ordered
from spurgen.report.heat import heat
from spurgen.report.lines import Series, legend, lines
from spurgen.report.summarize import ScopeSummary, Summary
from spurgen.report.tables import Cell, difference, plain, share, table


def strengths(summary: Summary) -> list[Figure]:
    """For each ablation whose variants have a number: worst-group accuracy against it, a line per method."""
    found = []
    for a in summary.ablations:
        if not a.has_places:
            continue
        placed = [v for v in a.variants if math.isfinite(v.place)]
        series = []
        for method in (methods := _as_elsewhere(summary, a)):
            there = [(v.place, v.scores[method]) for v in placed if method in v.scores and v.scores[method].n]
            series.append(Series(method, *([f(p, e) for p, e in there] for f in _PARTS)))
        title = f"Worst-group accuracy against {a.name}, {_model(a)} on {a.world}"
        chart = lines(
            series,
            title,
            limits=(0.0, 1.0),
            x_ticks=[v.place for v in placed],
            x_title=a.name,
            x_text=lambda x: f"{x:g}",
        )
        rows = [
            [v.name, *(share(v.scores[m].mean) if m in v.scores else plain(None) for m in methods)] for v in a.variants
        ]
        found.append(
            Figure(
                title,
                chart,
                "Means over seeds; bands reach from the lowest seed to the highest."
                + (" p is how often the shortcuts hold in training." if a.variants[-1].name.startswith("p=") else ""),
                legend([s.name for s in series]),
                table(f"{a.name}-{_model(a)}", title, ["variant", *methods], rows),
                [*reproduce.whole(summary.name), reproduce.numbers(summary.name, ".ablations")],
            )
        )
    return found


_PARTS = (
    lambda p, e: p,
    lambda p, e: e.mean,
    lambda p, e: min(e.values),
    lambda p, e: max(e.values),
)


def left_out(summary: Summary) -> list[Figure]:
    """For each ablation whose variants have names: what each changes for each method."""
    found = []
    for a in summary.ablations:
        if a.has_places:
            continue
        base, methods = next((v for v in a.variants if v.name == "as it is"), None), _as_elsewhere(summary, a)
        rows = []
        for v in a.variants:
            cells: list[object] = [v.name]
            for m in methods:
                mine = v.scores.get(m)
                before = base.scores.get(m) if base is not None else None
                cells.append(share(mine.mean) if mine is not None else plain(None))
                known = mine is not None and before is not None and v is not base
                cells.append(difference(mine.mean - before.mean) if known else plain(None))  # type: ignore[union-attr]
            rows.append(cells)
        channels = any(v.name.startswith("without ") for v in a.variants)
        title = f"Worst-group accuracy, variants of {a.name}: {_model(a)} on {a.world}"
        about = "A channel that does harm leaves a worst group that is better off without it." if channels else ""
        if channels:
            title = f"Worst-group accuracy, {a.name} one channel at a time: {_model(a)} on {a.world}"
        columns = ["variant", *(c for m in methods for c in (m, f"{m}, change"))]
        found.append(
            Figure(
                title,
                about=about,
                table=table(f"{a.name}-{_model(a)}", title, columns, rows),
                again=[*reproduce.whole(summary.name), reproduce.numbers(summary.name, ".ablations")],
                open=True,
            )
        )
    return found


def _model(a: Ablation) -> str:
    return a.model if a.start == "nothing" else f"{a.model} from {a.start}"


def _as_elsewhere(summary: Summary, a: Ablation) -> list[str]:
    """The methods of an ablation in the order, and so in the colours, that they have in its world as it is."""
    starts = (a.model, f"{a.model} ({a.start})")
    scope = next((s for s in summary.scopes if (s.world, s.start) == (a.world, a.start) and s.model in starts), None)
    return ordered(scope, a.methods) if scope is not None else list(a.methods)


def learning_curves(summary: Summary, scope: ScopeSummary) -> list[Figure]:
    """One chart for everything that was checked during training."""
    found = []
    for title, mine in scope.courses.items():
        order = ordered(scope, [c.method for c in mine])
        mine = sorted(mine, key=lambda c: order.index(c.method))
        series = [Series(c.method, c.steps, c.means, c.lows, c.highs) for c in mine]
        is_loss = "oss" in title
        chart = lines(
            series,
            f"{title}, {scope.title}",
            text=number if is_loss else percent,
            x_text=lambda x: f"{x:,.0f}",
            x_title="steps of training",
            limits=None if is_loss else (0.0, 1.0),
            marks=not is_loss and all(len(s.xs) <= 30 for s in series),
        )
        found.append(
            Figure(
                title,
                chart,
                "Means over seeds; bands reach from the lowest seed to the highest.",
                legend([s.name for s in series]),
                again=[again_numbers(summary, scope, f'.courses["{title}"]')],
            )
        )
    return found


def groups(summary: Summary, scope: ScopeSummary) -> list[Figure]:
    """Accuracy of every group: a bar for the reference and one for the best remedy, and all methods in a table."""
    if not scope.groups:
        return []
    shown = [m for m in (scope.reference, scope.best) if m]
    rows, told = [], []
    methods = ordered(scope, list(dict.fromkeys(m for g in scope.groups for m in g["methods"])))
    for g in scope.groups:
        name = group_words(g["name"])
        first, *rest = [
            Bar(m, of["accuracy"], of["low"], of["high"], kind=kind(scope, m))
            for m in shown
            if (of := g["methods"].get(m)) is not None
        ] or [Bar("", math.nan)]
        rows.append(replace(first, label=f"{name} ({g['n']:,})", second=rest[0] if rest else None))
        told.append([name, g["n"], g["train"], *(_interval_cell(g["methods"].get(m)) for m in methods)])
    title = f"Accuracy of every group, {scope.title}"
    about = (
        "In brackets how many test rows a seed has there. Means over seeds; whiskers reach from the lowest to the "
        "highest end of the seeds' 95% intervals (Wilson)."
    )
    columns = ["group", "test rows", "training rows", *methods]
    return [
        Figure(
            title,
            bars(rows, title),
            about,
            key([(m, kind(scope, m)) for m in shown]),
            table(f"groups-{scope.model}", title, columns, told),
            [line for m in methods for line in again_trial(summary, scope, m)],
        )
    ]


def group_words(name: str) -> str:
    """A group in words: which channels agree with the label.

    >>> group_words("background:aligned,hue:not")
    'background agrees, not hue'
    """
    parts = [part.rpartition(":") for part in name.split(",")]
    if not all(word in ("aligned", "not") and key for key, _, word in parts):
        return name.replace(",", ", ").replace("=", " ")
    agree = [key for key, _, word in parts if word == "aligned"]
    if not agree:
        return "nothing agrees"
    if len(agree) == len(parts):
        return "all agree" if len(parts) > 1 else f"{agree[0]} agrees"
    against = [key for key, _, word in parts if word == "not"]
    return f"{' and '.join(agree)} {'agree' if len(agree) > 1 else 'agrees'}, not {' nor '.join(against)}"


def _interval_cell(of: dict[str, float] | None) -> Cell:
    if of is None or not math.isfinite(of["accuracy"]):
        return plain(None)
    return Cell(f"{100 * of['accuracy']:.1f}% ({100 * of['low']:.0f}–{100 * of['high']:.0f})", repr(of["accuracy"]))


def confusions(summary: Summary, s: ScopeSummary) -> list[Figure]:
    """What the reference and the best remedy take for what, and which channels pointed there."""
    found = []
    for method in ordered(s, [m for m in s.confusion if m in (s.reference, s.best)]):
        counted = s.confusion[method]
        title = f"What {method} takes for what, {s.title}"
        names = [c.replace("_", " ") for c in s.classes] or [str(i) for i in range(len(counted))]
        chart = heat(
            counted,
            names,
            names,
            title,
            text=lambda v: f"{v:,.0f}",
            row_title="is",
            column_title="is taken for",
            diagonal=True,
        )
        pairs = s.confused.get(method, [])
        channels = list(dict.fromkeys(c for p in pairs for c in p.led))
        rows = [[p.label, p.predicted, p.times, *(_of(p.led[c], p.times) for c in channels)] for p in pairs]
        columns = ["is", "taken for", "times", *(f"{c} belongs to that class" for c in channels)]
        about = "Test rows of all seeds, counted. Rows are the truth; what is off the diagonal is wrong."
        behind = table(
            f"confused-{method}", f"What {method} mixes up most, and which channel pointed there", columns, rows
        )
        again = again_trial(summary, s, method)
        found.append(Figure(title, chart, about, table=behind, again=again, open=True, wide=True))
    return found


def _of(part: int, whole: int) -> Cell:
    return Cell(f"{part} ({percent(part / whole)})", str(part), tint=part / whole) if whole else plain(None)
