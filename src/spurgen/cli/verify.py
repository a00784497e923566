"""spurgen verify: every hash and every row of a dataset."""

from __future__ import annotations

from dataclasses import asdict

import click

from spurgen.cli.console import json_option, print_json, progress_bar, quiet_option
from spurgen.errors import DataError


@click.command("verify", short_help="Check a dataset.")
@click.argument("directory", metavar="DIR")
@click.option("--shallow", is_flag=True, help="Check files against the manifest only; redraw no rows.")
@json_option
@quiet_option
def command(directory: str, shallow: bool, as_json: bool, quiet: bool) -> None:
    """Check every hash of a dataset, and every row against what its spec says it must be."""
    from spurgen.store.problems import count, lines, remedy
    from spurgen.store.verify import verify

    with progress_bar(0, f"checking {directory}", quiet or as_json) as progress:
        problems = verify(directory, deep=not shallow, progress=progress)
    if as_json:
        print_json({"clean": not problems, "problems": [asdict(p) for p in problems]})
        raise click.exceptions.Exit(1 if problems else 0)
    if not problems:
        if not quiet:
            click.echo(f"{directory} is clean: every file and every row is as its spec says")
        return
    if problems[0].kind == "manifest":
        raise DataError(problems[0].message)
    for line in lines(problems):
        click.echo(line, err=True)
    raise DataError(f"{directory} has {count(problems)}; {remedy(problems)}")
