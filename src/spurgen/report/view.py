"""What the templates are given: a summary's parts in the order and the words of the page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from spurgen.compare.select import RULES
from spurgen.report import chapters, findings, records, reproduce, sentences
from spurgen.report.axes import percent, points
from spurgen.report.figure import again_trial
from spurgen.report.pictures import Pictures
from spurgen.report.records import SHORT
from spurgen.report.summarize import Panel, ScopeSummary, Summary
from spurgen.report.tables import Table, plain, share, table


def rules(summary: Summary) -> list[dict[str, str]]:
    """The rules of selection, in words."""
    return [{"name": r, "short": SHORT.get(r, r), "about": RULES[r].about if r in RULES else ""} for r in summary.rules]


def measures(summary: Summary) -> list[dict[str, str]]:
    """What can be compared, in any scope."""
    found = {k: p.measure.title for s in summary.scopes for k, p in s.panels[summary.rule].items()}
    return [{"key": key, "title": title} for key, title in found.items()]


def basis(summary: Summary) -> str:
    """What all of it rests on, in a sentence."""
    seeds = max((s.seeds for s in summary.scopes), default=0)
    rule = SHORT.get(summary.rule, summary.rule)
    return sentences.of_study(summary.counts, seeds, rule, summary.early_stopping)


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
                "about": _about(summary, s),
                "model": s.model,
                "headline": sentences.headline(s),
                "sentences": s.sentences,
                "remember": list(_keys(summary, s)),
                "harm": findings.harm(summary, s),
                "harm_rows": list(_facts(s)),
                "giveaways": findings.giveaways(summary, s),
                "pictures": mine,
                "size": mine.size_px if mine else 0,
                "gallery_of": shown.get(s.data, ""),
                "again_gallery": [reproduce.contact_sheet(summary.name, s.data)],
                "again_strips": _again_strips(summary, s, mine),
                "group_figures": chapters.groups(summary, s),
                "tables": records.sensitivity(s),
                "courses": chapters.learning_curves(summary, s),
                "confusions": chapters.confusions(summary, s),
                "wrong": list(mine.mistakes.items()) if mine else [],
                "again_mistakes": {m: again_trial(summary, s, m) for m in (mine.mistakes if mine else {})},
                "rules": records.rules_table(summary, s),
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
            for together in _together(summary, s, [key]):
                panel = s.panels[together[0]][key]
                verdicts = sorted(panel.comparisons, key=lambda c: (not c.decided, -abs(_known(c.difference))))
                is_first = key == next(iter(s.panels[summary.rule])) and summary.rule in together
                found.append(
                    {
                        "scope": at,
                        "measure": key,
                        "rules": " ".join(together),
                        "first": not at and is_first,
                        "chart": findings.remedies(summary, s, panel, together[0]),
                        "differences": findings.differences(s, panel),
                        "verdicts": verdicts,
                        "few": _few(panel),
                        "ranking": panel.ranking,
                    }
                )
    return found


def costs(summary: Summary) -> list[dict[str, Any]]:
    """What is given up on rows as in training, per scope and rule."""
    found = []
    for at, s in enumerate(summary.scopes):
        for together in _together(summary, s, ["worst_group_accuracy", "weighted_accuracy", "accuracy"]):
            mine = [s.panels[together[0]].get(key) for key in ("weighted_accuracy", "accuracy")]
            shown = [findings.differences(s, panel, name_measure=True) for panel in mine if panel is not None]
            found.append(
                {
                    "scope": at,
                    "rules": " ".join(together),
                    "first": not at and summary.rule in together,
                    "trade": findings.trade(summary, s, together[0]),
                    "differences": [figure for figure in shown if figure is not None],
                }
            )
    return found


def _about(summary: Summary, s: ScopeSummary) -> str:
    """What was trained on what, and from which start."""
    data = next((d for d in summary.datasets if d["name"] == s.data), None)
    rows = f"{data['spec_id']}, {data['rows']:,} rows" if data else s.world
    start = {"nothing": "random weights", "pretrained": "weights learnt from other shapes", "imagenet": "ImageNet"}
    return f"{s.model.partition(' ')[0]}, starting from {start.get(s.start, s.start)}, on {rows}"


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
            "name": f"On rows as in training, {s.best}",
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
        line = [f"{h.channel}: moves the belief by {100 * h.sss.mean:.1f} points"]
        if math.isfinite(h.lost):
            agrees = f"{s.reference} is right on {percent(h.agrees)} of the rows where it agrees with the label"
            line.append(f"{agrees}, on {percent(h.disagrees)} where it does not")
        if math.isfinite(h.led):
            led = f"{percent(h.led)} of the {h.mistakes:,} mistakes there name a class that its value belongs to"
            line.append(f"{led} (by chance {percent(h.chance)})")
        yield f"{'; '.join(line)}."


def _again_strips(summary: Summary, s: ScopeSummary, mine: Pictures | None) -> list[list[str]]:
    if mine is None:
        return []
    scored = [line for m in mine.methods for line in again_trial(summary, s, m)]
    return [[reproduce.strip(summary.name, s.data, x.row_id, x.channel), *scored] for x in mine.strips]


def _together(summary: Summary, s: ScopeSummary, keys: Sequence[str]) -> list[list[str]]:
    """Rules grouped by what they lead to in some measures; the study's own rule stands first in its group."""
    found: list[list[str]] = []
    for rule in sorted(summary.rules, key=lambda r: r != summary.rule):
        mine = s.panels[rule]
        same = next((g for g in found if all(_same(s.panels[g[0]].get(k), mine.get(k)) for k in keys)), None)
        if same is None:
            found.append([rule])
        else:
            same.append(rule)
    return found


def _same(one: Panel | None, two: Panel | None) -> bool:
    if one is None or two is None:
        return one is two
    first, second = ([(x.method, x.config, x.estimate.values) for x in p.scored] for p in (one, two))
    return first == second


def _few(panel: Panel) -> str:
    """What too few seeds mean, where there are too few to be sure of much."""
    n = max((c.n for c in panel.comparisons), default=0)
    if not panel.comparisons or n > 4:
        return ""
    if n < 2:
        return "With one seed nothing can be decided: run the study with three or more."
    start = f"With {n} seeds only large and steady differences can be decided"
    return f"{start}; “not decided” does not mean that there is none."


def _known(value: float) -> float:
    return value if math.isfinite(value) else 0.0
