"""spurgen report: a study as one page."""

from __future__ import annotations

import click

from spurgen.cli.console import json_option, print_json, quiet_option, size_in_words


@click.command("report", short_help="Make one HTML page of a study.")
@click.argument("directory", metavar="DIR")
@click.option("--out", metavar="FILE.html", type=click.Path(dir_okay=False), help="In place of DIR/report/index.html.")
@json_option
@quiet_option
def command(directory: str, out: str | None, as_json: bool, quiet: bool) -> None:
    """Make the report of the study in DIR: one HTML file that opens from disk, without a network.

    It says which channels do harm, which remedy helps and whether that is decided, what it costs, and what the data
    looks like. Of a study that is still running it is an early look. --json also prints what it says as data.
    """
    from spurgen.report.verb import made

    path, summary = made(directory, out)
    if as_json:
        print_json({"page": str(path), **summary.as_dict()})
    elif not quiet:
        click.echo(f"report: {path} ({size_in_words(path.stat().st_size)})")
