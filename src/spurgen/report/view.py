"""What the templates are given: a summary's parts in the order and the words of the page."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from spurgen.compare.select import RULES
from spurgen.report import figures, reproduce, sentences
from spurgen.report.axes import change, number, percent, points
from spurgen.report.charts import heat
from spurgen.report.figures import Figure
from spurgen.report.pictures import Pictures
from spurgen.report.summarize import Panel, ScopeSummary, Summary
from spurgen.report.tables import Cell, Table, decimal, plain, share, table

_SHORT = {
    "worst_group": "worst group, validation",
    "average": "average, validation",
    "worst_class": "worst class, validation",
    "training": "rows as in training",
    "oracle": "oracle (test rows)",
}


def rules(summary: Summary) -> list[dict[str, str]]:
    """The rules of selection, in words."""
    return [
        {"name": r, "short": _SHORT.get(r, r), "about": RULES[r].about if r in RULES else ""} for r in summary.rules
    ]


def measures(summary: Summary) -> list[dict[str, str]]:
    """What can be compared, in any scope."""
    found = {k: p.measure.title for s in summary.scopes for k, p in s.panels[summary.rule].items()}
    return [{"key": key, "title": title} for key, title in found.items()]


def basis(summary: Summary) -> str:
    """What all of it rests on, in a sentence."""
    seeds = max((s.seeds for s in summary.scopes), default=0)
    return sentences.of_study(summary.counts, seeds, _SHORT.get(summary.rule, summary.rule))


def overview(summary: Summary) -> Table | None:
    """Models by channels, where there are several."""
    if len(summary.scopes) < 2:
        return None
    channels = list(dict.fromkeys(h.channel for s in summary.scopes for h in s.harms.get(s.reference, [])))
    rows = []
    for s in summary.scopes:
        mine = {h.channel: h.sss.mean for h in s.harms.get(s.reference, [])}
        cells = [share(mine[c], tint=mine[c]) if c in mine else plain(None) for c in channels]
        rows.append([s.title, *cells, max(mine, key=lambda c: mine[c]) if mine else "–"])
    return table("harm", "Sensitivity (SSS) of the reference to each channel", ["", *channels, "leans most on"], rows)


def scopes(summary: Summary, pictures: dict[int, Pictures]) -> list[dict[str, Any]]:
    """Everything that is said of each world, model and start."""
    found: list[dict[str, Any]] = []
    shown: dict[str, str] = {}  # dataset -> the scope that shows its rows
    for at, s in enumerate(summary.scopes):
        mine = pictures.get(at)
        found.append(
            {
                "at": at,
                "title": s.title,
                "model": s.model,
                "headline": sentences.headline(s),
                "sentences": s.sentences,
                "remember": list(_keys(summary, s)),
                "harm": figures.harm(summary, s),
                "harm_rows": list(_facts(s)),
                "giveaways": figures.giveaways(summary, s),
                "pictures": mine,
                "size": mine.size_px if mine else 0,
                "gallery_of": shown.get(s.data, ""),
                "again_gallery": [reproduce.contact_sheet(summary.name, s.data)],
                "again_strips": _again_strips(summary, s, mine),
                "group_figures": figures.groups(summary, s),
                "tables": _scope_tables(s),
                "courses": figures.learning_curves(summary, s),
                "confusions": _confusions(summary, s),
                "wrong": list(mine.mistakes.items()) if mine else [],
                "again_mistakes": {m: _again_trial(summary, s, m) for m in (mine.mistakes if mine else {})},
                "rules": _rules_table(summary, s),
            }
        )
        if mine:
            shown.setdefault(s.data, s.title)
    return found


def panels(summary: Summary) -> list[dict[str, Any]]:
    """Every measure of every scope under every rule; rules that choose the same share a panel."""
    found = []
    for at, s in enumerate(summary.scopes):
        for key in s.panels[summary.rule]:
            for together, panel in _together(summary, s, key):
                values, differences = figures.remedies(summary, s, panel, together[0])
                verdicts = sorted(panel.comparisons, key=lambda c: (not c.decided, -abs(_known(c.difference))))
                found.append(
                    {
                        "scope": at,
                        "measure": key,
                        "rules": " ".join(together),
                        "first": not at and key == next(iter(s.panels[summary.rule])) and summary.rule in together,
                        "chart": values,
                        "differences": differences,
                        "verdicts": verdicts,
                        "few": _few(panel),
                    }
                )
    return found


def costs(summary: Summary) -> list[dict[str, Any]]:
    """What is given up on clean data, per scope and rule."""
    found = []
    for at, s in enumerate(summary.scopes):
        for together in _rules_together(summary, s):
            mine = [s.panels[together[0]].get(k) for k in ("weighted_accuracy", "accuracy")]
            pairs = [figures.remedies(summary, s, p, together[0])[1] for p in mine if p is not None]
            named = zip([p for p in mine if p is not None], pairs, strict=True)
            shown = [_retitled(f, f"{p.measure.title}: difference to {s.reference}") for p, f in named if f is not None]
            found.append(
                {
                    "scope": at,
                    "rules": " ".join(together),
                    "first": not at and summary.rule in together,
                    "trade": figures.trade(summary, s, together[0]),
                    "differences": shown,
                }
            )
    return found


def ablations(summary: Summary) -> dict[str, Any]:
    """Variants of worlds."""
    return {"strengths": figures.strengths(summary), "left_out": figures.left_out(summary)}


def records(summary: Summary) -> dict[str, Any]:
    """Full tables."""
    columns = list(dict.fromkeys(name for row in summary.trials for name in row))
    about = summary.about
    known = {
        k: about[k]
        for k in about
        if isinstance(about[k], str | int | float) and k not in ("id", "description", "format")
    }
    names = ("world", "variant", "model", "start", "method", "config", "seed", "reason", "key")
    digests = [
        [d["name"], d["spec_id"], d["rows"], d["seed"], d["digest"] or "cannot be opened", d["spec_digest"]]
        for d in summary.datasets
    ]
    return {
        "trials": table(
            "trials",
            "Every trial",
            columns,
            [[_key(v) if c == "key" else v for c in columns for v in [row.get(c)]] for row in summary.trials],
        ),
        "failed": table(
            "failed",
            "Trials that failed, and why",
            names,
            [[_key(f[n]) if n == "key" else f[n] for n in names] for f in summary.failed],
        )
        if summary.failed
        else None,
        "environment": table(
            "environment", "Where this was run", ["what", "value"], [[k, str(v)] for k, v in known.items()]
        ),
        "digests": table(
            "datasets", "Datasets", ["dataset", "spec", "rows", "seed", "digest of rows", "digest of spec"], digests
        ),
        "datasets": summary.datasets,
    }


def _key(key: str) -> Cell:
    return Cell(key[:8], key)


def one_trial(summary: Summary) -> list[str]:
    """The commands of the first trial that is done."""
    found = next((t for t in summary.settled if t["state"] == "done"), None)
    return reproduce.training(summary.name, found) if found is not None else ["# no trial is done yet"]


# ---------------------------------------------------------------------------------------------------- of a scope


def _keys(summary: Summary, s: ScopeSummary) -> Iterator[dict[str, str]]:
    """The numbers to remember."""
    mine = s.panels[summary.rule]
    worst, clean = mine.get("worst_group_accuracy"), mine.get("weighted_accuracy")
    if worst is not None:
        yield {
            "kind": "reference",
            "name": f"Worst group, {s.reference}",
            "value": percent(worst.of(s.reference).mean),
            "about": "of its test rows are right",
        }
    found = worst.against(s.best) if worst is not None and s.best else None
    if worst is not None and found is not None:
        verdict = "decided" if found.decided else "not decided"
        yield {
            "kind": "best",
            "name": f"Worst group, {s.best}",
            "value": percent(worst.of(s.best).mean),
            "about": f"{points(found.difference)}, {verdict}",
        }
    found = clean.against(s.best) if clean is not None and s.best else None
    if found is not None and math.isfinite(found.difference):
        verdict = "decided" if found.decided else "not decided"
        yield {
            "kind": "plain",
            "name": f"On clean data, {s.best}",
            "value": points(found.difference),
            "about": f"{percent(found.reference_mean)} to {percent(found.mean)}, {verdict}",
        }
    base = s.harms.get(s.reference, [])
    if base and math.isfinite(base[0].sss.mean):
        yield {
            "kind": "plain",
            "name": "Leans most on",
            "value": base[0].channel,
            "about": f"moves its belief by {100 * base[0].sss.mean:.0f} points",
        }


def _facts(s: ScopeSummary) -> Iterator[str]:
    """A line for each channel: what it costs, and where its mistakes go."""
    for h in s.harms.get(s.reference, []):
        if not math.isfinite(h.sss.mean):
            continue
        line = f"{h.channel}: moves the belief by {100 * h.sss.mean:.1f} points"
        if math.isfinite(h.lost):
            line += f"; {s.reference} is right on {percent(h.agrees)} of the rows where it agrees with the label, on {percent(h.disagrees)} where it does not"
        if math.isfinite(h.led):
            line += f"; {percent(h.led)} of the {h.mistakes:,} mistakes there name a class that its value belongs to (by chance {percent(h.chance)})"
        yield f"{line}."


def _scope_tables(s: ScopeSummary) -> list[Table]:
    """Sensitivity by channel and method, and the invariance gap."""
    if not any(s.harms.values()):
        return []
    methods = figures.ordered(s, s.methods)
    channels = list(dict.fromkeys(h.channel for m in methods for h in s.harms.get(m, [])))
    mine = {(m, h.channel): h for m in methods for h in s.harms.get(m, [])}
    rows = [
        [
            m,
            *(
                share(mine[m, c].sss.mean, tint=mine[m, c].sss.mean) if (m, c) in mine else plain(None)
                for c in channels
            ),
        ]
        for m in methods
    ]
    found = [table("sss", "Sensitivity (SSS) to each channel, mean over seeds; 0 is best", ["method", *channels], rows)]
    if s.gaps:
        kinds = list(dict.fromkeys(k for g in s.gaps.values() for k in g))
        rows = [[m, *(decimal(s.gaps[m].get(k, math.nan), 2) for k in kinds)] for m in methods if m in s.gaps]
        words = (
            "Invariance gap in nats, mean over seeds: conflicting above 0 and aligned below 0 are signs of shortcuts"
        )
        found.append(table("ig", words, ["method", *kinds], rows))
    return found


def _confusions(summary: Summary, s: ScopeSummary) -> list[Figure]:
    found = []
    for method in figures.ordered(s, [m for m in s.confusion if m in (s.reference, s.best)]):
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
        wide = f'<div class="scroll wide" tabindex="0" role="region" aria-label="{title}">{chart}</div>'.replace(
            "<script", "&lt;script"
        )
        found.append(
            Figure(title, wide, about, table=behind, again=_again_trial(summary, s, method)["lines"], open=True)
        )
    return found


def _of(part: int, whole: int) -> Cell:
    return Cell(f"{part} ({percent(part / whole)})", str(part), tint=part / whole) if whole else plain(None)


def _rules_table(summary: Summary, s: ScopeSummary) -> Table:
    shown = [k for k in ("worst_group_accuracy", "accuracy", "weighted_accuracy") if k in s.panels[summary.rule]]
    rows = []
    for rule in summary.rules:
        for method in figures.ordered(s, s.methods):
            panels = [s.panels[rule][k] for k in shown]
            config = next((x.config for p in panels for x in p.scored if x.method == method), "")
            cells: list[Any] = []
            for p in panels:
                e, c = p.of(method), p.against(method)
                sd = f" ± {100 * e.sd:.1f}" if math.isfinite(e.sd) else ""
                cells.append(
                    Cell(
                        f"{100 * e.mean:.1f}{sd}" if e.n else "–",
                        repr(e.mean) if e.n else "",
                        strong=bool(c and c.decided and c.better),
                    )
                )
            rows.append([_SHORT.get(rule, rule), method, config, *cells])
    columns = ["rule", "method", "settings", *(s.panels[summary.rule][k].measure.title.lower() for k in shown)]
    return table(
        f"rules-{s.model}",
        f"Percent, mean ± SD over seeds, {s.title}; bold: decidedly better than {s.reference}",
        columns,
        rows,
    )


def _again_strips(summary: Summary, s: ScopeSummary, mine: Pictures | None) -> list[list[str]]:
    if mine is None:
        return []
    scored = [reproduce.scoring(summary.name, s.trial_of[m], s.data) for m in mine.methods]
    return [[reproduce.strip(summary.name, s.data, x.row_id, x.channel), *scored] for x in mine.strips]


def _again_trial(summary: Summary, s: ScopeSummary, method: str) -> dict[str, Any]:
    key = s.trial_of.get(method, "")
    trial = next((t for t in summary.settled if t["key"] == key), None)
    if trial is None:
        return {"words": "its first seed", "lines": []}
    return {"words": f"seed {trial['seed']}", "lines": [reproduce.scoring(summary.name, key, s.data)]}


# ------------------------------------------------------------------------------------------------------- rules


def _together(summary: Summary, s: ScopeSummary, key: str) -> list[tuple[list[str], Panel]]:
    """Rules grouped by what they lead to; the study's own rule stands first in its group."""
    found: list[tuple[list[str], Panel]] = []
    for rule in sorted(summary.rules, key=lambda r: r != summary.rule):
        panel = s.panels[rule].get(key)
        if panel is None:
            continue
        same = next((g for g, p in found if _same(p, panel)), None)
        if same is None:
            found.append(([rule], panel))
        else:
            same.append(rule)
    return found


def _rules_together(summary: Summary, s: ScopeSummary) -> list[list[str]]:
    found: list[list[str]] = []
    for rule in sorted(summary.rules, key=lambda r: r != summary.rule):
        keys = ("worst_group_accuracy", "weighted_accuracy", "accuracy")
        same = next((g for g in found if all(_same(s.panels[g[0]].get(k), s.panels[rule].get(k)) for k in keys)), None)
        if same is None:
            found.append([rule])
        else:
            same.append(rule)
    return found


def _same(one: Panel | None, two: Panel | None) -> bool:
    if one is None or two is None:
        return one is two
    return [(x.method, x.config, x.estimate.values) for x in one.scored] == [
        (x.method, x.config, x.estimate.values) for x in two.scored
    ]


def _few(panel: Panel) -> str:
    """What too few seeds mean, where there are too few to be sure of much."""
    n = max((c.n for c in panel.comparisons), default=0)
    if not panel.comparisons or n > 4:
        return ""
    if n < 2:
        return "With one seed nothing can be decided: run the study with three or more."
    return f"With {n} seeds only large and steady differences can be decided; “not decided” does not mean that there is none."


def _retitled(f: Figure, title: str) -> Figure:
    return Figure(title, f.chart, f.about, f.legend, f.table, f.again)


def _known(value: float) -> float:
    return value if math.isfinite(value) else 0.0


__all__ = [
    "ablations",
    "basis",
    "change",
    "costs",
    "measures",
    "number",
    "overview",
    "panels",
    "records",
    "rules",
    "scopes",
]
