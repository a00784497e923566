"""The tables of the details: all trials, all rules, digests, the environment; and the commands of single trials."""

from __future__ import annotations

import math
from typing import Any

from spurgen.report import reproduce
from spurgen.report.figure import ordered
from spurgen.report.summarize import ScopeSummary, Summary
from spurgen.report.tables import Cell, Table, decimal, plain, share, table

SHORT = {
    "worst_group": "worst group, validation",
    "average": "average, validation",
    "worst_class": "worst class, validation",
    "training": "rows as in training",
    "oracle": "oracle (test rows)",
}


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
            [[_key(row[c]) if c == "key" else row.get(c) for c in columns] for row in summary.trials],
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


def sensitivity(s: ScopeSummary) -> list[Table]:
    """Sensitivity by channel and method, and the invariance gap."""
    if not any(s.harms.values()):
        return []
    methods = ordered(s, s.methods)
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


def rules_table(summary: Summary, s: ScopeSummary) -> Table:
    """What every rule leads to, for every method."""
    shown = [k for k in ("worst_group_accuracy", "accuracy", "weighted_accuracy") if k in s.panels[summary.rule]]
    rows = []
    for rule in summary.rules:
        for method in ordered(s, s.methods):
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
            rows.append([SHORT.get(rule, rule), method, config, *cells])
    columns = ["rule", "method", "settings", *(s.panels[summary.rule][k].measure.title.lower() for k in shown)]
    return table(
        f"rules-{s.model}",
        f"Percent, mean ± SD over seeds, {s.title}; bold: decidedly better than {s.reference}",
        columns,
        rows,
    )
