"""What a summary looks like: charts with the tables behind them, and how to make each again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from spurgen.report import reproduce
from spurgen.report.ablations import Ablation
from spurgen.report.axes import change, number, percent, points
from spurgen.report.charts import Bar, Series, bars, intervals, key, legend, lines, scatter
from spurgen.report.seeds import Estimate
from spurgen.report.summarize import Panel, ScopeSummary, Summary
from spurgen.report.tables import Cell, Table, difference, plain, share, signed, table


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


def text_of(panel: Panel) -> tuple[object, object]:
    """(how a value of a measure is written, how a difference is)."""
    return (percent, points) if panel.measure.is_share else (number, change)


def harm(summary: Summary, scope: ScopeSummary) -> Figure:
    """How far each channel moves a model's belief, with the reference and with the best remedy."""
    base = scope.harms.get(scope.reference, [])
    other = {h.channel: h.sss for h in scope.harms.get(scope.best, [])}
    rows = [
        replace(_bar(h.channel, h.sss, "reference"), second=_second(scope.best, other.get(h.channel))) for h in base
    ]
    each = [r for row in rows for r in (row, row.second) if r is not None]
    top = max((v for r in each for v in (r.value, r.high) if math.isfinite(v)), default=1.0)
    told = [
        [
            method,
            h.channel,
            share(h.sss.mean),
            share(h.different),
            share(h.agrees),
            share(h.disagrees),
            difference(-h.lost) if math.isfinite(h.lost) else plain(None),
            share(h.led),
            share(h.chance),
        ]
        for method in dict.fromkeys((scope.reference, scope.best, *scope.methods))
        for h in scope.harms.get(method, [])
    ]
    columns = [
        "method",
        "channel",
        "sensitivity (SSS)",
        "for another value",
        "right where it agrees",
        "right where it does not",
        "lost",
        "mistakes it leads",
        "by chance",
    ]
    return Figure(
        f"How far the belief in the right class moves when one channel alone is drawn anew, {scope.model}",
        bars(rows, f"Sensitivity to each channel, {scope.model}", high=min(1.0, max(0.1, 1.15 * top))),
        "0% is a model that does not look at the channel. Everything else in the picture stays as it is. "
        + _interval_words(scope.seeds),
        key([(scope.reference, "reference"), *([(scope.best, "best")] if other else [])]),
        table=table(f"channels-{scope.model}", "What each channel does to each method", columns, told),
        again=[_again_numbers(summary, scope, f'.harms["{scope.reference}"]')],
    )


def remedies(summary: Summary, scope: ScopeSummary, panel: Panel, rule: str) -> tuple[Figure, Figure | None]:
    """All methods by one measure, and each against the reference."""
    text, of_change = text_of(panel)
    measure = panel.measure
    rows = [_bar(_named(s.method, s.config), s.estimate, kind(scope, s.method)) for s in panel.scored]
    ends = [v for r in rows for v in (r.value, r.low, r.high, *r.dots) if math.isfinite(v)]
    low, high = (0.0, 1.0) if _is_accuracy(measure.key) else (min(0.0, *ends, 0.0), 1.1 * max([0.1, *ends]))
    told = []
    for s in panel.scored:
        found = panel.against(s.method)
        e = s.estimate
        write = share if measure.is_share else plain
        told.append(
            [
                s.method,
                s.config,
                e.n,
                write(e.mean),
                write(e.sd),
                write(e.low),
                write(e.high),
                *(
                    [plain(None)] * 5
                    if found is None
                    else [
                        difference(found.difference) if measure.is_share else signed(found.difference),
                        difference(found.low) if measure.is_share else signed(found.low),
                        difference(found.high) if measure.is_share else signed(found.high),
                        plain(found.p_holm),
                        Cell("yes" if found.decided else "no", str(found.decided).lower(), strong=found.decided),
                    ]
                ),
            ]
        )
    columns = [
        "method",
        "settings",
        "seeds",
        "mean",
        "SD",
        "from",
        "to",
        "difference",
        "diff. from",
        "diff. to",
        "p (Holm)",
        "decided",
    ]
    first = Figure(
        measure.title,
        bars(rows, f"{measure.title} of each method, {scope.title}", low=low, high=high, text=text),  # type: ignore[arg-type]
        f"{measure.about[:1].upper()}{measure.about[1:]}; {'higher' if measure.higher_is_better else 'lower'} is better. "
        + _interval_words(scope.seeds),
        table=table(f"{measure.key}-{scope.model}-{rule}", f"{measure.title}, selected by {rule}", columns, told),
        again=[
            *reproduce.whole(summary.name),
            _again_numbers(summary, scope, f'.panels["{rule}"]["{measure.key}"]'),
        ],
    )
    if not panel.comparisons:
        return first, None
    points_ = [
        Bar(
            c.method,
            c.difference,
            _within(panel, c.low),
            _within(panel, c.high),
            kind=kind(scope, c.method),
            note=f"{of_change(c.difference)}, {'decided' if c.decided else 'not decided'}",  # type: ignore[operator]
            solid=c.decided,
        )
        for c in sorted(
            panel.comparisons, key=lambda c: (-1 if measure.higher_is_better else 1) * _or_last(c.difference)
        )
    ]
    return first, Figure(
        f"Difference to {scope.reference}",
        intervals(points_, f"{measure.title}: difference to {scope.reference}, {scope.title}", text=of_change),  # type: ignore[arg-type]
        "Over the same seeds, with 95% intervals. Filled: decided (paired t-test, p < 0.05 after Holm's correction). "
        "Hollow: could be chance.",
    )


def trade(summary: Summary, scope: ScopeSummary, rule: str) -> Figure | None:
    """Worst-group accuracy against accuracy on clean data."""
    clean, worst = (scope.panels[rule].get(k) for k in ("weighted_accuracy", "worst_group_accuracy"))
    if clean is None or worst is None:
        return None
    names = list(scope.methods)
    xs, ys = [clean.of(m).mean for m in names], [worst.of(m).mean for m in names]
    if sum(math.isfinite(x) and math.isfinite(y) for x, y in zip(xs, ys, strict=True)) < 2:
        return None
    chart = scatter(
        names,
        xs,
        ys,
        [kind(scope, m) for m in names],
        f"Accuracy on clean data and in the worst group, {scope.title}",
        x_title="accuracy on clean data",
        y_title="worst-group accuracy",
    )
    return Figure(
        "What is given up, and what is gained",
        chart,
        "Further up is fairer to the worst group; further right is better on rows mixed as in training. "
        f"A remedy that costs nothing stands straight above {scope.reference}.",
        again=[_again_numbers(summary, scope, f'.panels["{rule}"]["weighted_accuracy"]')],
    )


def giveaways(summary: Summary, scope: ScopeSummary) -> Figure | None:
    """What the label could be guessed from, channel by channel, in training and in test rows."""
    audit = summary.audits.get(scope.data)
    if not audit or not audit["giveaways"]:
        return None
    found = audit["giveaways"]
    splits = list(dict.fromkeys(g["split"] for g in found))
    shown = [s for s in ("train", "test") if s in splits] or splits[:2]
    best = {(g["channel"], g["split"]): g["best_accuracy"] for g in found}
    rows = []
    for channel in dict.fromkeys(g["channel"] for g in found):
        first, *rest = (Bar(s, best[channel, s], kind=k) for s, k in zip(shown, ("best", "reference"), strict=False))
        rows.append(replace(first, label=channel, second=rest[0] if rest else None))
    told = [
        [a["split"], a["environment"], a["channel"], a["coupling"], a["rows"], share(a["asked"]), share(a["achieved"])]
        for a in audit["alignments"]
    ]
    columns = ["split", "environment", "channel", "coupling", "rows", "asked to agree", "agrees"]
    return Figure(
        "What could be scored by looking at one channel and nothing else",
        bars(rows, "Best accuracy from one channel alone"),
        f"Chance is {percent(found[0]['chance'])}. A shortcut is a channel that gives the label away in training and not in "
        "the test rows.",
        key([(f"{split} rows", k) for split, k in zip(shown, ("best", "reference"), strict=False)]),
        table(f"alignment-{scope.data}", "How often each channel agrees with the label", columns, told),
        [reproduce.contact_sheet(summary.name, scope.data)],
    )


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
        title = f"Worst-group accuracy against {a.name}, {a.model} on {a.world}"
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
                "Means over seeds; bands reach from the lowest seed to the highest. The stronger the shortcut, the more "
                "often it holds in training.",
                legend([s.name for s in series]),
                table(f"{a.name}-{a.model}", title, ["variant", *methods], rows),
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
        title = f"Worst-group accuracy, {a.name} one channel at a time: {a.model} on {a.world}"
        columns = ["variant", *(c for m in methods for c in (m, f"{m}, change"))]
        found.append(
            Figure(
                title,
                about="A channel that does harm leaves a worst group that is better off without it.",
                table=table(f"{a.name}-{a.model}", title, columns, rows),
                again=[*reproduce.whole(summary.name), reproduce.numbers(summary.name, ".ablations")],
                open=True,
            )
        )
    return found


def _as_elsewhere(summary: Summary, a: Ablation) -> list[str]:
    """The methods of an ablation in the order, and so in the colours, that they have in its world as it is."""
    at = (a.world, a.model, a.start)
    scope = next((s for s in summary.scopes if (s.world, s.model, s.start) == at), None)
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
                again=[_again_numbers(summary, scope, f'.courses["{title}"]')],
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
    about = "In brackets how many test rows it has. Means over seeds; whiskers reach from the lowest to the highest end of the seeds' 95% intervals (Wilson)."
    columns = ["group", "test rows", "training rows", *methods]
    return [
        Figure(
            title,
            bars(rows, title),
            about,
            key([(m, kind(scope, m)) for m in shown]),
            table(f"groups-{scope.model}", title, columns, told),
            [reproduce.scoring(summary.name, of, scope.data) for of in scope.trial_of.values()],
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


def kind(scope: ScopeSummary, method: str) -> str:
    """How a method is drawn: the reference and the best remedy stand out."""
    return "reference" if method == scope.reference else "best" if method == scope.best else "plain"


def ordered(scope: ScopeSummary, methods: Sequence[str]) -> list[str]:
    """The reference first, then the best remedy, then the others as they come."""
    known = list(scope.methods)
    return sorted(methods, key=lambda m: (m != scope.reference, m != scope.best, known.index(m) if m in known else 0))


def _bar(label: str, e: Estimate, kind: str) -> Bar:
    return Bar(label, e.mean, e.low, e.high, e.values if e.n > 1 else (), kind)


def _second(label: str, e: Estimate | None) -> Bar | None:
    return None if e is None else _bar(label, e, "best")


def _named(method: str, config: str) -> str:
    return f"{method} ({config})" if config else method


def _is_accuracy(key: str) -> bool:
    return key.endswith("accuracy")


def _within(panel: Panel, difference: float) -> float:
    """A difference of shares is between −1 and 1, whatever Student's interval says."""
    return max(-1.0, min(1.0, difference)) if panel.measure.is_share and math.isfinite(difference) else difference


def _or_last(value: float) -> float:
    return value if math.isfinite(value) else -math.inf


def _interval_words(seeds: int) -> str:
    if seeds > 1:
        return f"Dots are seeds, whiskers the 95% interval of the mean over {seeds} seeds."
    return (
        "One seed only: whiskers, where there are some, tell how sure its rows make it, and nothing about other seeds."
    )


def _again_numbers(summary: Summary, scope: ScopeSummary, path: str) -> str:
    at = next(i for i, s in enumerate(summary.scopes) if s is scope)
    return reproduce.numbers(summary.name, f".scopes[{at}]{path}")
