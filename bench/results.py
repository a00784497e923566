"""A study's results as a page of Markdown, and its rows as a small table beside it, for the docs.

python bench/results.py STUDY_DIR --page docs/results/NAME.md [--command "spurgen study … --out …"]
"""

from __future__ import annotations

import argparse
import statistics
from datetime import datetime
from pathlib import Path
from typing import Any

from spurgen.compare.select import RULES
from spurgen.study import ledger
from spurgen.study.results import Cell, Results, read_results


def main() -> None:
    """Write the page and the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study", type=Path)
    parser.add_argument("--page", type=Path, required=True)
    parser.add_argument("--command", default="")
    parser.add_argument("--note", type=Path, help="Markdown that goes before the tables.")
    asked = parser.parse_args()
    found = read_results(asked.study)
    note = asked.note.read_text("utf-8").strip() if asked.note else ""
    asked.page.parent.mkdir(parents=True, exist_ok=True)
    asked.page.write_text(page(found, asked.command, note), "utf-8")
    found.keep()
    table = asked.page.with_suffix(".parquet")
    table.write_bytes((asked.study / "results.parquet").read_bytes())
    print(f"{asked.page}, {table}")


def page(found: Results, command: str, note: str) -> str:
    """The page."""
    about, counts = found.about, found.counts
    lines = list(ledger.lines(found.directory))
    clock = [datetime.fromisoformat(line["time"].replace("Z", "+00:00")) for line in lines]
    training = sum(found.news[t.key].seconds for t in found.trials if found.state(t) == "done")
    wall = (max(clock) - min(clock)).total_seconds() if clock else 0.0
    versions = ", ".join(f"{name} {about[name]}" for name in ("spurgen", "torch", "numpy") if about.get(name))
    out = [
        f"# Results: {about['id']}",
        about["description"],
        f"- Made by `{command}`" if command else "",
        f"- {counts['done']} trials done, {counts['failed']} failed; {training / 60:.0f} minutes of training, "
        f"{wall / 60:.0f} minutes by the clock on {about['device']} ({about['platform']}, Python {about['python']}, "
        f"{versions})",
        f"- Settings chosen by `{found.study.rule}`: {RULES[found.study.rule].about}",
        note,
    ]
    strengths = [where for where in found.places if where.ablation and where.variant.startswith("p=")]
    if strengths:
        out += ["## Worst-group accuracy by strength of the shortcuts", by_variant(found, strengths)]
    for where in found.places:
        cell = found.cell(where, found.study.rule)
        out += [f"## {where.words}", table(found, cell), sentences(cell)]
    if found.failures:
        out += ["## Failed", "\n".join(f"- {trial.words}: {reason}" for trial, reason in found.failures)]
    return "\n\n".join(part for part in out if part) + "\n"


def by_variant(found: Results, places: list[Any]) -> str:
    """A column for each variant."""
    cells = [found.cell(where, found.study.rule) for where in places]
    head = ["method", *(cell.place.variant for cell in cells)]
    rows = [
        [f"`{line.method}`", *(spread(cell.lines[i].worst_group_accuracy) for cell in cells)]
        for i, line in enumerate(cells[0].lines)
    ]
    return markdown(head, rows)


def table(found: Results, cell: Cell) -> str:
    """A line for each method."""
    rows = {row["key"]: row for row in found.rows()}
    scores = [name for row in rows.values() for name in row if name.startswith("sss_")]
    channels = list(dict.fromkeys(scores))
    head = ["method", "settings", "accuracy", "worst group", *(f"SSS {c.removeprefix('sss_')}" for c in channels), "IG"]
    out = []
    for line in cell.lines:
        mine = [rows[trial.key] for trial in line.trials]
        means = [mean([row.get(name) for row in mine]) for name in (*channels, "ig_conflicting")]
        out.append([f"`{line.method}`", line.config, spread(line.accuracy), spread(line.worst_group_accuracy), *means])
    return markdown(head, out)


def sentences(cell: Cell) -> str:
    """What is decided, and what is not."""
    return "\n".join(f"- {c.sentence}" for c in cell.comparisons.get("worst_group_accuracy", []))


def spread(values: dict[int, float]) -> str:
    """Mean ± SD in per cent."""
    numbers = [100 * value for value in values.values()]
    if not numbers:
        return "–"
    return f"{statistics.fmean(numbers):.1f}" + (f" ± {statistics.stdev(numbers):.1f}" if len(numbers) > 1 else "")


def mean(values: list[Any]) -> str:
    """The mean of what there is."""
    numbers = [value for value in values if value is not None]
    return f"{statistics.fmean(numbers):.3f}" if numbers else "–"


def markdown(head: list[str], rows: list[list[str]]) -> str:
    """A table."""
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *rows])


if __name__ == "__main__":
    main()
