"""spurgen study: the whole experiment in one command."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from spurgen.cli.console import is_directory, json_option, print_json, print_table, quiet_option
from spurgen.errors import SpurgenError

if TYPE_CHECKING:
    from spurgen.study.results import Cell, Line, Results
    from spurgen.study.run import Progress

_SAY_SECONDS = 10.0  # between two lines where there is no terminal to move a bar on


@click.command("study", short_help="Run and compare many trials.")
@click.argument("study", metavar="STUDY.toml|PRESET|DIR")
@click.option("--out", metavar="DIR", type=click.Path(file_okay=False), help="Where the study is kept.")
@click.option("--status", is_flag=True, help="Say how far the study in DIR is and what it shows so far; run nothing.")
@click.option(
    "--jobs",
    type=click.IntRange(1),
    help="Trials side by side; unless given, as many as there are cores, or 8 on a GPU.",
)
@click.option("--threads", type=click.IntRange(1), default=1, show_default=True, help="Threads of each trial.")
@click.option("--device", default="auto", show_default=True, help="auto, cpu or cuda.")
@click.option("--launcher", default="local", show_default=True, help="What gets trials done.")
@click.option("--retry", is_flag=True, help="Run trials again that failed.")
@click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="KEY=VALUE",
    help="Edit a value of the study, for example options.epochs=5 (may be repeated).",
)
@json_option
@quiet_option
def command(
    study: str,
    out: str | None,
    status: bool,
    jobs: int | None,
    threads: int,
    device: str,
    launcher: str,
    retry: bool,
    overrides: tuple[str, ...],
    as_json: bool,
    quiet: bool,
) -> None:
    """Run a study: every world, method, model and seed that its file names, and compare them.

    The same command again runs what is not done yet, after a kill too, and nothing twice. DIR is the directory of a
    study that is to go on.
    """
    if status:
        if overrides or retry or jobs is not None:
            raise SpurgenError("--status runs nothing; leave out --set, --retry and --jobs")
        return _status(out or study, as_json, quiet)
    from spurgen.study.run import run_study

    with progress(quiet or as_json) as told:
        found = run_study(study, out, overrides, device, jobs, threads, launcher, retry, told)
    if as_json:
        print_json(found.as_dict())
    elif not quiet:
        show(found)
        total = len(found.unique)
        none = f"all {total} trials were settled already; nothing was run"
        click.echo(f"{found.ran} of {total} trials were run meanwhile" if found.ran else none)
        click.echo(f"next: spurgen report {found.directory}")
    _complain(found)
    return None


def _status(where: str, as_json: bool, quiet: bool) -> None:
    from spurgen.study.results import read_results

    if not is_directory(where):
        raise SpurgenError(f"{where} is no directory; --status is for the directory of a study")
    found = read_results(where)
    if as_json:
        print_json(found.as_dict())
    elif not quiet:
        counts = found.counts
        click.secho(f"{found.about['id']}: {len(found.unique)} trials", bold=True)
        click.echo(", ".join(f"{n} {_STATES[state]}" for state, n in counts.items() if n))
        for trial, reason in found.failures[:8]:
            click.echo(f"failed: {trial.words}: {reason}")
        if counts["done"]:
            show(found)


_STATES = {"done": "done", "failed": "failed", "started": "started and not done", "lost": "lost", "open": "not started"}


def _complain(found: Results) -> None:
    """A study is only done when all of it is."""
    failed = found.failures
    if failed:
        trial, reason = failed[0]
        raise SpurgenError(
            f"{len(failed)} of {len(found.unique)} trials failed, the first of them {trial.words}: {reason} "
            f"(spurgen study {found.directory} --status lists them, --retry runs them again)"
        )


def show(found: Results) -> None:
    """Print what is chosen and decided under the study's first rule."""
    from spurgen.compare.select import RULES

    rule = found.study.rule
    click.echo(f"chosen by {rule}: {RULES[rule].about}\n")
    for where in found.places:
        cell = found.cell(where, rule)
        print_table(
            where.words,
            ["method", "settings", "seeds", "accuracy", "worst group", f"against {found.study.reference}"],
            [_row(line, cell) for line in cell.lines],
            right=("seeds", "accuracy", "worst group"),
        )
        for comparison in cell.comparisons.get("worst_group_accuracy", []):
            click.echo(comparison.sentence)
        click.echo("")
    ranking = found.ranking(rule)
    if ranking is not None and len(found.places) > 1:
        click.echo(f"Over all of these: {ranking.sentence}\n")


def _row(line: Line, cell: Cell) -> list[Any]:
    against = {c.method: c for c in cell.comparisons.get("worst_group_accuracy", [])}
    found = against.get(line.method)
    told = ""
    if found is not None:
        told = f"{found.difference * 100:+.1f} points, " + ("decided" if found.decided else "not decided")
    if line.reason:
        told = line.reason
    return [
        line.method, line.config, len(line.seeds), _spread(line.accuracy), _spread(line.worst_group_accuracy), told
    ]  # fmt: skip


def _spread(values: dict[int, float]) -> str:
    import statistics

    if not values:
        return "-"
    numbers = [100 * v for v in values.values()]
    spread = f" ± {statistics.stdev(numbers):.1f}" if len(numbers) > 1 else ""
    return f"{statistics.fmean(numbers):.1f}{spread}"


class progress:
    """A bar on standard error; where that is no terminal, a line now and then; silent when quiet."""

    def __init__(self, quiet: bool):
        from rich.console import Console

        self.console = Console(stderr=True)
        self.quiet = quiet
        self.bar: Any = None
        self.said = 0.0

    def __enter__(self) -> Any:
        return self.hear

    def hear(self, news: Progress) -> None:
        """Follow the study."""
        if self.quiet:
            return
        told = [f"{news.failed} failed"] if news.failed else []
        if news.left_seconds:
            told.append(f"about {_duration(news.left_seconds)} left")
        words = ", ".join(told)
        if not self.console.is_terminal:
            over = news.done + news.failed == news.total
            if (time.monotonic() - self.said >= _SAY_SECONDS or over) and news.done + news.failed:
                self.said = time.monotonic()
                click.echo(f"{news.done + news.failed} of {news.total} trials{', ' * bool(words)}{words}", err=True)
            return
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        if self.bar is None:
            columns = (TextColumn("trials"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
            self.bar = Progress(*columns, TextColumn("{task.description}"), console=self.console, transient=True)
            self.bar.start()
            self.task = self.bar.add_task("", total=news.total)
        self.bar.update(self.task, completed=news.done + news.failed, total=news.total, description=words)

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()


def _duration(seconds: float) -> str:
    """Seconds as people say them."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
