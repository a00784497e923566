"""spurgen export: a dataset in another format."""

from __future__ import annotations

import click

from spurgen.cli.console import progress_bar, quiet_option


@click.command("export", short_help="Write another format.")
@click.argument("directory", metavar="DIR")
@click.option("--to", "target", required=True, metavar="FORMAT", help="`spurgen list exports` shows the formats.")
@click.option("--out", required=True, metavar="DIR2", type=click.Path(file_okay=False), help="Where it goes.")
@click.option("--force", is_flag=True, help="Replace an earlier export.")
@quiet_option
def command(directory: str, target: str, out: str, force: bool, quiet: bool) -> None:
    """Write a dataset in another format: webdataset, wilds, imagefolder."""
    from spurgen.export import export

    with progress_bar(0, f"writing {target}", quiet) as progress:
        done = export(directory, target, out, force=force, progress=progress)
    if not quiet:
        click.echo(f"{out}: {done.rows:,} rows as {target}")
