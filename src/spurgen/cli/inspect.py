"""spurgen inspect: asked against achieved, groups, and a contact sheet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from spurgen.cli.console import is_directory, json_option, print_json, print_table, quiet_option, set_option, spec_of
from spurgen.errors import SpurgenError

if TYPE_CHECKING:
    from spurgen.latents.audit import Audit


@click.command("inspect", short_help="What a dataset holds.")
@click.argument("where", metavar="DIR|PRESET|SPEC.toml")
@click.option("--out", metavar="SHEET.png", type=click.Path(dir_okay=False), help="Draw a contact sheet.")
@click.option("--each", type=click.IntRange(1, 12), default=4, show_default=True, help="Pictures per class and split.")
@click.option("--rows", type=click.IntRange(1, 2**40), help="For a spec: how many rows to look at.")
@click.option("--seed", type=click.IntRange(0, 2**64 - 1), help="For a spec: the seed to look at.")
@set_option
@json_option
@quiet_option
def command(
    where: str,
    out: str | None,
    each: int,
    rows: int | None,
    seed: int | None,
    overrides: tuple[str, ...],
    as_json: bool,
    quiet: bool,
) -> None:
    """Show what a dataset or a spec holds: how often each channel goes along with the label, asked and achieved; what
    each channel alone gives away; the groups; and a contact sheet."""
    from spurgen.latents.audit import audit
    from spurgen.report.sheets import format_of

    if out is not None:
        format_of(out)
    source = None
    if is_directory(where):
        if overrides or rows is not None or seed is not None:
            raise SpurgenError("--set, --rows and --seed are for specs; a dataset is inspected as it is")
        from spurgen.store.reader import open

        dataset = open(where)
        spec, table = dataset.spec, dataset.table()
        source = dataset.batch_of
    else:
        from spurgen.latents.sample import sample

        spec = spec_of(where, overrides, or_directory=True)
        table = sample(spec, rows, seed or 0)
    found = audit(table, spec)
    if as_json:
        print_json(found.as_dict())
    elif not quiet:
        show(found)
    if out is not None:
        from spurgen.report.gallery import contact_rows
        from spurgen.report.sheets import save, sheet

        save(sheet(contact_rows(table, spec, source, each), f"{spec.id}, {len(table):,} rows"), out)
        if not quiet and not as_json:
            click.echo(f"contact sheet: {out}")
    elif not quiet and not as_json:
        click.echo("add --out sheet.png for a contact sheet")


def show(found: Audit) -> None:
    """Print an audit as tables."""
    splits = ", ".join(f"{name} {rows:,}" for name, rows in found.splits.items())
    click.echo(f"{found.spec_id}: {found.rows:,} rows ({splits}), {len(found.labels)} classes\n")
    if not found.alignments:
        click.echo("no channels: nothing goes along with the label")
        return
    print_table(
        "How often a channel shows the attribute that belongs to the label",
        ("split", "environment", "channel", "coupling", "rows", "asked", "achieved", "95% interval", "largest miss"),
        [
            (
                a.split,
                a.environment,
                a.channel,
                a.coupling,
                f"{a.rows:,}",
                f"{a.asked:.3f}",
                f"{a.achieved:.3f}",
                f"{a.low:.3f}–{a.high:.3f}",
                f"{a.largest_miss:.1f}",
            )
            for a in found.alignments
        ],
        right=("rows", "asked", "achieved", "largest miss"),
    )
    click.echo("largest miss: the count furthest from what was asked, in rows, over all cells and attributes\n")
    _show_giveaways(found)
    _show_groups(found)


def _show_giveaways(found: Audit) -> None:
    bits = {(d.split, d.second): d for d in found.dependences if d.first == "label"}
    print_table(
        "What each channel alone tells about the label",
        ("split", "channel", "best accuracy", "chance", "bits", "Cramér's V"),
        [
            (
                g.split,
                g.channel,
                f"{g.best_accuracy:.3f}",
                f"{g.chance:.3f}",
                f"{bits[g.split, g.channel].mutual_information_bits:.3f}",
                f"{bits[g.split, g.channel].cramers_v:.3f}",
            )
            for g in found.giveaways
        ],
        right=("best accuracy", "chance", "bits", "Cramér's V"),
    )


def _show_groups(found: Audit, most: int = 16) -> None:
    rows: list[Any] = []
    patterns = list(dict.fromkeys(g.pattern for g in found.groups))
    counts = {(g.split, g.pattern): g.rows for g in found.groups}
    for pattern in patterns[:most]:
        rows.append((pattern, *(f"{counts.get((s, pattern), 0):,}" for s in found.splits)))
    print_table(
        "Groups: the channels that are aligned with the label", ("aligned", *found.splits), rows, tuple(found.splits)
    )
    if len(patterns) > most:
        click.echo(f"… and {len(patterns) - most} more groups (--json lists them all)\n")
