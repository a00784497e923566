"""spurgen train: a model, a method, a dataset."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from spurgen.cli.console import json_option, print_json, quiet_option

if TYPE_CHECKING:
    from spurgen.train.events import Event


@click.command("train", short_help="Train a model with a method.")
@click.argument("data", metavar="DIR|PRESET|SPEC.toml")
@click.option("--method", default="erm", show_default=True, help="`spurgen list methods` shows what there is.")
@click.option("--model", default="small_cnn", show_default=True, help="`spurgen list models` shows what there is.")
@click.option("--out", required=True, metavar="RUN", type=click.Path(file_okay=False), help="Where the run is kept.")
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Of weights and of the order of rows."
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting of the method (`spurgen list methods`; repeatable).",
)
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="KEY=VALUE",
    help="An option of training (`spurgen list options`; repeatable).",
)
@click.option("--epochs", type=float, help="Short for --option epochs=N.")
@click.option("--steps", type=click.IntRange(1), help="Short for --option steps=N.")
@click.option("--batch-size", type=click.IntRange(1), help="Short for --option batch_size=N.")
@click.option("--learning-rate", type=float, help="Short for --option learning_rate=X.")
@click.option("--device", default="auto", show_default=True, help="auto, cpu or cuda.")
@click.option("--graphs", default="auto", show_default=True, help="Captured steps on a GPU: auto, on or off.")
@click.option("--group-by", help="Columns that make groups, such as label,background; unless given, which are aligned.")
@click.option("--stream", is_flag=True, help="DATA is a preset or spec; rows are drawn as they are learnt from.")
@click.option("--start", metavar="START", help="What `spurgen pretrain` made; or imagenet, nothing: what MODEL has.")
@click.option("--tensorboard", metavar="LOGS", type=click.Path(file_okay=False), help="Also log to TensorBoard there.")
@click.option("--force", is_flag=True, help="Replace another run in RUN.")
@json_option
@quiet_option
def command(
    data: str,
    method: str,
    model: str,
    out: str,
    seed: int,
    settings: tuple[str, ...],
    options: tuple[str, ...],
    epochs: float | None,
    steps: int | None,
    batch_size: int | None,
    learning_rate: float | None,
    device: str,
    graphs: str,
    group_by: str | None,
    stream: bool,
    start: str | None,
    tensorboard: str | None,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Train a model with a method on a dataset (or, with --stream, on rows drawn from a spec while they are learnt).

    A run that was stopped goes on where it was when the same command is given again.
    """
    from spurgen.cli.console import is_directory
    from spurgen.errors import SpurgenError
    from spurgen.settings import assignments

    if not stream and not is_directory(data):
        raise SpurgenError(
            f"{data} is no dataset; draw one first (spurgen generate), or add --stream to draw on the fly"
        )
    from spurgen.train.directory import described
    from spurgen.train.run import train

    given: dict[str, Any] = dict(assignments(options))
    short = {"epochs": epochs, "steps": steps, "batch_size": batch_size, "learning_rate": learning_rate}
    for name, value in short.items():
        if value is not None:
            if name in given:
                raise SpurgenError(f"{name} is given twice; give it once")
            given[name] = value
    if epochs is not None and steps is not None:
        raise SpurgenError("both epochs and steps are given; give one of them")
    listeners: list[Callable[[Event], Any]] = []
    if tensorboard is not None:
        from spurgen.train.tensorboard import TensorBoard

        listeners.append(TensorBoard(tensorboard))
    with progress(quiet or as_json) as told:
        run = train(
            data, method, model, out, seed, assignments(settings), given, device, graphs, group_by, stream,
            subscribers=[*listeners, told], force=force, start=start,
        )  # fmt: skip
    if as_json:
        print_json({"directory": out, **run.about})
    elif not quiet:
        took = f"{run.about['steps']:,} steps in {run.about['seconds']:.1f} s"
        done = "trained" if run.outcome is not None else "complete already"
        click.echo(f"{out}: {described(run.about)}; {done}: {took}")
        click.echo(
            f"next: spurgen evaluate {out} --on {data}" if not stream else f"next: spurgen evaluate {out} --on DIR"
        )


class progress:
    """A listener that moves a bar on standard error; silent when quiet or not at a terminal."""

    def __init__(self, quiet: bool):
        from rich.console import Console

        self.console = Console(stderr=True)
        self.silent = quiet or not self.console.is_terminal
        self.bar: Any = None
        self.checked = ""

    def __enter__(self) -> Callable[[Event], Any]:
        return self.hear

    def hear(self, event: Event) -> None:
        """Follow training."""
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        from spurgen.train.events import Began, Checked, Stepped

        if self.silent:
            return
        if isinstance(event, Began):
            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            self.bar = Progress(*columns, console=self.console, transient=True)
            self.bar.start()
            self.task = self.bar.add_task("training", total=event.steps, completed=event.step)
        elif isinstance(event, Stepped) and self.bar is not None:
            words = f"loss {event.values['loss']:.3f}{self.checked}"
            self.bar.update(self.task, completed=event.step, description=words)
        elif isinstance(event, Checked):
            v = event.values
            self.checked = f", val {100 * v['accuracy']:.1f}% (worst group {100 * v['worst_group_accuracy']:.1f}%)"

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()
