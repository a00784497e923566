"""spurgen list: what there is to choose from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from spurgen.cli.console import json_option, print_json, print_table
from spurgen.errors import unknown

Listing = list[dict[str, Any]]


def presets() -> Listing:
    """Worlds that come with the package."""
    from spurgen.spec import load
    from spurgen.spec import presets as names

    worlds = [load(name) for name in names()]
    return [
        {"name": w.id, "rows": w.rows, "classes": len(w.classes), "channels": list(w.channels), "about": w.description}
        for w in worlds
    ]


def classes() -> Listing:
    """Labels."""
    from spurgen.spec.known import classes as known

    return [{"name": name, "words": list(part.words)} for name, part in known().items()]


def channels() -> Listing:
    """Factors that a spec may tie to the label."""
    from spurgen.spec.known import CHANNELS

    parts = [CHANNELS.get(name) for name in CHANNELS.names()]
    return [{"name": p.name, "values": list(p.values), "about": p.about} for p in parts]


def couplings() -> Listing:
    """Ways in which a channel goes along with the label."""
    from spurgen.spec.coupling import COUPLINGS

    return [
        {"name": name, "fields": [f for f in law.model_fields if f != "coupling"], "about": (law.__doc__ or "").strip()}
        for name, law in COUPLINGS.items()
    ]


def modalities() -> Listing:
    """What can be drawn of a row."""
    from spurgen.spec.known import MODALITIES

    parts = [MODALITIES.get(name) for name in MODALITIES.names()]
    return [
        {"name": p.name, "version": p.version, "traits": [t.name for t in p.traits], "about": p.about} for p in parts
    ]


def exports() -> Listing:
    """Foreign formats."""
    from spurgen.export import EXPORTS

    return [{"name": name, "about": EXPORTS.get(name).about} for name in EXPORTS.names()]


def methods() -> Listing:
    """Ways of training."""
    from spurgen.learning import METHODS
    from spurgen.settings import described

    parts = [METHODS.get(name) for name in METHODS.names()]
    return [
        {"name": p.name, "needs": str(p.needs), "settings": described(p.settings), "paper": p.paper, "about": p.about}
        for p in parts
    ]


def options() -> Listing:
    """How a run is trained, whatever the method."""
    from spurgen.settings import described
    from spurgen.train.options import Options

    return described(Options)


def models() -> Listing:
    """Architectures."""
    from spurgen.learning import MODELS

    parts = [MODELS.get(name) for name in MODELS.names()]
    return [
        {
            "name": p.name,
            "reads": p.modality,
            "pretrained": p.pretrained,
            "learning_rate": p.learning_rate,
            "paper": p.paper,
            "about": p.about,
        }
        for p in parts
    ]


def metrics() -> Listing:
    """Scores."""
    from spurgen.metrics import METRICS

    parts = [METRICS.get(name) for name in METRICS.names()]
    better = {True: "higher", False: "lower", None: "neither"}
    return [
        {
            "name": p.name,
            "bounds": list(p.bounds),
            "better": better[p.higher_is_better],
            "paper": p.paper,
            "about": p.about,
        }
        for p in parts
    ]


def studies() -> Listing:
    """Studies that come with the package."""
    from spurgen.study.spec import presets as names
    from spurgen.study.spec import read, text_of

    found = [read(text_of(name)[0], name) for name in names()]
    return [
        {"name": s.id, "methods": list(s.methods), "seeds": len(s.seed_list), "about": s.description} for s in found
    ]


def rules() -> Listing:
    """Ways to choose among settings and checks, after training."""
    from spurgen.compare.select import RULES

    return [{"name": r.name, "highest": r.column, "about": r.about} for r in RULES.values()]


def launchers() -> Listing:
    """What gets the trials of a study done."""
    from spurgen.study.launch import LAUNCHERS

    return [{"name": name, "about": LAUNCHERS.get(name).about} for name in LAUNCHERS.names()]


LISTS: dict[str, Callable[[], Listing]] = {
    "presets": presets,
    "classes": classes,
    "channels": channels,
    "couplings": couplings,
    "modalities": modalities,
    "exports": exports,
    "methods": methods,
    "options": options,
    "models": models,
    "metrics": metrics,
    "studies": studies,
    "rules": rules,
    "launchers": launchers,
}


@click.command("list", short_help="Show what there is.")
@click.argument("what", metavar="|".join(LISTS))
@json_option
def command(what: str, as_json: bool) -> None:
    """Show what there is: presets, classes, channels, couplings, modalities, exports; methods with their settings,
    options of training, models, metrics; studies, selection rules, launchers.
    """
    if what not in LISTS:
        raise click.UsageError(unknown("list", what, LISTS))
    found = LISTS[what]()
    if as_json:
        print_json(found)
        return
    if what in SAID:
        for row in found:
            SAID[what](row)
        return
    columns = list(found[0]) if found else ["name"]
    print_table("", columns, [[_cell(row[c]) for c in columns] for row in found], right=("rows", "classes", "version"))


def _card(row: dict[str, Any]) -> None:
    """A method in a few lines: too much for a table."""
    click.echo(f"{click.style(row['name'], bold=True)}   needs {row['needs']}")
    click.echo(f"    {row['about']}")
    for setting in row["settings"]:
        click.echo("    ", nl=False)
        _setting(setting)
    click.echo(f"    {row['paper']}\n")


def _setting(setting: dict[str, Any]) -> None:
    """A setting's name and default, what else it may be, where a search looks, and what it is."""
    others = [choice for choice in setting["choices"] if choice != setting["default"]]
    choices = f" (or {', '.join(others)})" if others else ""
    search = f", searched in {setting['search']}" if setting["search"] else ""
    click.echo(f"{setting['name']} = {setting['default']}{choices}{search}: {setting['about']}")


SAID = {"methods": _card, "options": _setting}  # what is too much for a table


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)
