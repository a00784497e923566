"""spurgen counterfactual: one row, every value of a channel."""

from __future__ import annotations

import click

from spurgen.cli.console import is_directory, json_option, print_json, quiet_option, set_option, spec_of
from spurgen.errors import SpurgenError, UnknownName, unknown


@click.command("counterfactual", short_help="One row with every value of a channel.")
@click.argument("where", metavar="DIR|PRESET|SPEC.toml")
@click.option("--row", "row_id", type=click.IntRange(0, 2**64 - 1), required=True, help="The row's id.")
@click.option("--channel", "channels", multiple=True, help="The channel to change (may be repeated); all unless given.")
@click.option("--out", metavar="STRIP.png", type=click.Path(dir_okay=False), help="Draw the strip.")
@click.option("--seed", type=click.IntRange(0, 2**64 - 1), help="For a spec: the seed of the row.")
@set_option
@json_option
@quiet_option
def command(
    where: str,
    row_id: int,
    channels: tuple[str, ...],
    out: str | None,
    seed: int | None,
    overrides: tuple[str, ...],
    as_json: bool,
    quiet: bool,
) -> None:
    """Draw one row again with every value of a channel; everything else stays as it was. The row's own value is
    marked, the caption stands below."""
    from spurgen.report.sheets import format_of

    if out is not None:
        format_of(out)
    if is_directory(where):
        if overrides or seed is not None:
            raise SpurgenError("--set and --seed are for specs; the rows of a dataset are what they are")
        from spurgen.store.reader import open

        dataset = open(where)
        spec, table = dataset.spec, dataset.row(row_id)
    else:
        from spurgen.latents.sample import Plan

        spec = spec_of(where, overrides, or_directory=True)
        table = Plan(spec, seed=seed or 0).table([row_id])
    wanted = list(channels) or list(spec.channels)
    for name in wanted:
        if name not in spec.channels:
            raise UnknownName(unknown("channel", name, spec.channels, spec.id))
    if not wanted:
        raise SpurgenError(f"{spec.id} has no channels, so there is nothing to change")

    from spurgen.report.gallery import strip_rows
    from spurgen.report.sheets import save, sheet

    rows = strip_rows(table, spec, row_id, wanted)
    if out is not None:
        save(sheet(rows, f"{spec.id}: {table.column('label')[0].as_py()}"), out)
    if as_json:
        print_json(
            {
                "row_id": row_id,
                "label": table.column("label")[0].as_py(),
                "channels": {
                    name: [{"value": t.title, "own": t.marked, "caption": t.text or None} for t in row.tiles]
                    for name, row in zip(wanted, rows, strict=True)
                },
            }
        )
    elif not quiet:
        for name, row in zip(wanted, rows, strict=True):
            click.echo(name)
            for tile in row.tiles:
                click.echo(f"  {'*' if tile.marked else ' '} {tile.title:<16} {tile.text}")
        click.echo(f"strip: {out}" if out is not None else "add --out strip.png to draw it")
