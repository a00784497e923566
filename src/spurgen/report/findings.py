"""The figures of what was found: harm, remedies, cost, and what the data gives away."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from spurgen.report import reproduce
from spurgen.report.axes import change, number, percent, points
from spurgen.report.charts import Bar, bars, intervals, key
from spurgen.report.figure import Figure, again_numbers, bar_of, interval_words, kind
from spurgen.report.scatter import scatter
from spurgen.report.seeds import Estimate
from spurgen.report.summarize import Panel, ScopeSummary, Summary
from spurgen.report.tables import Cell, difference, plain, share, signed, table

_OF_CHANNELS = (
    "method",
    "channel",
    "sensitivity (SSS)",
    "for another value",
    "right where it agrees",
    "right where it does not",
    "lost",
    "mistakes it leads",
    "by chance",
)
_LONG = 18  # letters of settings that a label has room for on a phone
_OF_METHODS = (
    *("method", "settings", "seeds", "mean", "SD", "from", "to"),
    *("difference", "diff. from", "diff. to", "p (Holm)", "decided"),
)


def harm(summary: Summary, scope: ScopeSummary) -> Figure:
    """How far each channel moves a model's belief, with the reference and with the best remedy."""
    base = scope.harms.get(scope.reference, [])
    other = {h.channel: h.sss for h in scope.harms.get(scope.best, [])}
    rows = [
        replace(bar_of(h.channel, h.sss, "reference"), second=_second(scope.best, other.get(h.channel))) for h in base
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
    return Figure(
        f"How far the belief in the right class moves when one channel alone is drawn anew, {scope.model}",
        bars(rows, f"Sensitivity to each channel, {scope.model}", high=min(1.0, max(0.1, 1.15 * top))),
        "0% is a model that does not look at the channel. Everything else in the picture stays as it is. "
        + interval_words(scope.seeds),
        key([(scope.reference, "reference"), *([(scope.best, "best")] if other else [])]),
        table=table(f"channels-{scope.model}", "What each channel does to each method", _OF_CHANNELS, told),
        again=[again_numbers(summary, scope, f'.harms["{scope.reference}"]')],
    )


def remedies(summary: Summary, scope: ScopeSummary, panel: Panel, rule: str) -> Figure:
    """All methods by one measure."""
    measure = panel.measure
    rows = [bar_of(_named(s.method, s.config), s.estimate, kind(scope, s.method)) for s in panel.scored]
    ends = [v for r in rows for v in (r.value, r.low, r.high, *r.dots) if math.isfinite(v)]
    low, high = (0.0, 1.0) if _is_accuracy(measure.key) else (min([0.0, *ends]), 1.1 * max([0.1, *ends]))
    title = f"{measure.title} of each method, {scope.title}"
    better = "higher" if measure.higher_is_better else "lower"
    told = [_row(panel, s.method, s.config, s.estimate) for s in panel.scored]
    return Figure(
        measure.title,
        bars(rows, title, low=low, high=high, text=percent if measure.is_share else number),
        f"{measure.about[:1].upper()}{measure.about[1:]}; {better} is better. {interval_words(scope.seeds)}",
        table=table(f"{measure.key}-{scope.model}-{rule}", f"{measure.title}, selected by {rule}", _OF_METHODS, told),
        again=[
            *reproduce.whole(summary.name),
            again_numbers(summary, scope, f'.panels["{rule}"]["{measure.key}"]'),
        ],
    )


def differences(scope: ScopeSummary, panel: Panel, name_measure: bool = False) -> Figure | None:
    """Every method against the reference by one measure; None where there is no other method."""
    if not panel.comparisons:
        return None
    measure, text = panel.measure, points if panel.measure.is_share else change
    sign = -1 if measure.higher_is_better else 1
    rows = [
        Bar(
            c.method,
            c.difference,
            _within(panel, c.low),
            _within(panel, c.high),
            kind=kind(scope, c.method),
            note=f"{text(c.difference)}, {'decided' if c.decided else 'not decided'}",
            solid=c.decided,
        )
        for c in sorted(panel.comparisons, key=lambda c: (math.isnan(c.difference), sign * c.difference))
    ]
    title = f"{measure.title}: difference to {scope.reference}"
    return Figure(
        title if name_measure else f"Difference to {scope.reference}",
        intervals(rows, f"{title}, {scope.title}", text=text),
        "Over the same seeds, with 95% intervals. Filled: decided (paired t-test, p < 0.05 after Holm's correction). "
        "Hollow: could be chance.",
    )


def _row(panel: Panel, method: str, config: str, e: Estimate) -> list[Any]:
    """What a table says of one method."""
    is_share, found = panel.measure.is_share, panel.against(method)
    write, write_change = (share, difference) if is_share else (plain, signed)
    row = [method, config, e.n, *(write(v) for v in (e.mean, e.sd, e.low, e.high))]
    if found is None:
        return [*row, *[None] * 5]
    verdict = Cell("yes" if found.decided else "no", str(found.decided).lower(), strong=found.decided)
    return [*row, *(write_change(v) for v in (found.difference, found.low, found.high)), found.p_holm, verdict]


def trade(summary: Summary, scope: ScopeSummary, rule: str) -> Figure | None:
    """Worst-group accuracy against accuracy on rows as in training."""
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
        f"Accuracy on rows as in training and in the worst group, {scope.title}",
        x_title="accuracy on rows as in training",
        y_title="worst-group accuracy",
        height=340 if len(names) <= 10 else 460,
    )
    return Figure(
        "What is given up, and what is gained",
        chart,
        "Further up is fairer to the worst group; further right is better on rows mixed as in training. "
        f"A remedy that costs nothing stands straight above {scope.reference}."
        + (" Names that find no room are shown where one points." if len(names) > 8 else ""),
        again=[again_numbers(summary, scope, f'.panels["{rule}"]["weighted_accuracy"]')],
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
        f"Chance is {percent(found[0]['chance'])}. A shortcut is a channel that gives the label away in training and "
        "not in the test rows.",
        key([(f"{split} rows", k) for split, k in zip(shown, ("best", "reference"), strict=False)]),
        table(f"alignment-{scope.data}", "How often each channel agrees with the label", columns, told),
        [reproduce.contact_sheet(summary.name, scope.data)],
    )


def _second(label: str, e: Estimate | None) -> Bar | None:
    return None if e is None else bar_of(label, e, "best")


def _named(method: str, config: str) -> str:
    return f"{method} ({config})" if config and len(config) <= _LONG else method  # the table has it anyway


def _is_accuracy(key: str) -> bool:
    return key.endswith("accuracy")


def _within(panel: Panel, difference: float) -> float:
    """A difference of shares is between −1 and 1, whatever Student's interval says."""
    return max(-1.0, min(1.0, difference)) if panel.measure.is_share and math.isfinite(difference) else difference
