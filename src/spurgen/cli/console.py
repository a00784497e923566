"""What the verbs share at the terminal: tables, JSON, progress, and where a dataset or spec is named."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spurgen.errors import SpurgenError, UnknownName

if TYPE_CHECKING:
    from spurgen.spec import World

json_option = click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
quiet_option = click.option("--quiet", "-q", is_flag=True, help="Print errors only.")
set_option = click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="KEY=VALUE",
    help="Edit a value of the spec, for example environments.strong.hue.p=0.7 (may be repeated).",
)


def print_json(data: Any) -> None:
    """One JSON document on standard output."""
    click.echo(json.dumps(data, indent=2, ensure_ascii=False))


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], right: Iterable[str] = ()) -> None:
    """A table that keeps its columns when it is piped into a file."""
    from rich import box
    from rich.table import Table

    if title:
        click.secho(title, bold=True)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    numbers = set(right)
    for name in columns:
        table.add_column(name, justify="right" if name in numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*[str(cell) for cell in row])
    _console().print(table)


def _console() -> Any:
    from rich.console import Console

    console = Console(highlight=False, markup=False)
    return console if console.is_terminal else Console(highlight=False, markup=False, width=140)


@contextmanager
def progress_bar(total: int, what: str, quiet: bool) -> Iterator[Any]:
    """A callback(done, total) that moves a bar on standard error; silent when quiet or not at a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda done, total: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=total or None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def is_directory(where: str) -> bool:
    """Whether a name given on the command line is a directory rather than a spec or a preset."""
    try:
        return bool(where) and Path(where).is_dir()
    except OSError:  # a name that is too long for the file system
        return False


def spec_of(where: str, overrides: Sequence[str], or_directory: bool = False) -> World:
    """The spec that a preset's name or a path leads to; `or_directory` says that a dataset would have done as well."""
    from spurgen.spec import load

    if is_directory(where):
        raise SpurgenError(f"{where} is a directory; give a preset or the path of a spec")
    try:
        return load(where, overrides)
    except UnknownName as error:
        sentence = str(error)
        if or_directory and sentence.startswith("there is no preset"):
            sentence = sentence.replace("there is no preset", "there is no directory and no preset", 1)
        raise UnknownName(sentence) from None


def size_in_words(size: int) -> str:
    """A number of bytes as people write it."""
    value = float(size)
    for unit in ("bytes", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "bytes" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.2f} GB"
