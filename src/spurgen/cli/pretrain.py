"""spurgen pretrain: a start for training, made of pictures of other objects."""

from __future__ import annotations

import click

from spurgen.cli.console import json_option, print_json, quiet_option
from spurgen.cli.train import progress


@click.command("pretrain", short_help="Make a start for training: a network that knows other shapes.")
@click.option("--model", default="small_cnn", show_default=True, help="`spurgen list models` shows what there is.")
@click.option(
    "--out", required=True, metavar="START", type=click.Path(file_okay=False), help="Where the start is kept."
)
@click.option("--steps", type=click.IntRange(1), default=8000, show_default=True, help="Steps of descent.")
@click.option(
    "--classes", metavar="A,B,…", help="Objects to tell apart; unless given, all that are no default classes."
)
@click.option("--size-px", type=click.IntRange(1), default=64, show_default=True, help="Height and width of pictures.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of weights and of the pictures.")
@click.option("--batch-size", type=click.IntRange(1), default=64, show_default=True, help="Pictures in a step.")
@click.option("--learning-rate", type=float, help="The largest step size; unless given, what the model starts from.")
@click.option("--device", default="auto", show_default=True, help="auto, cpu or cuda.")
@click.option("--graphs", default="auto", show_default=True, help="Captured steps on a GPU: auto, on or off.")
@click.option("--force", is_flag=True, help="Replace another start in START.")
@json_option
@quiet_option
def command(
    model: str,
    out: str,
    steps: int,
    classes: str | None,
    size_px: int,
    seed: int,
    batch_size: int,
    learning_rate: float | None,
    device: str,
    graphs: str,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Train a network on endless pictures of objects that worlds do not label unless told to, in which nothing but the
    shape goes along with the class, and keep its body: `spurgen train --start START` begins there.

    A start that was stopped goes on where it was when the same command is given again.
    """
    from spurgen.train.pretrain import OTHERS, pretrain

    asked = OTHERS if classes is None else tuple(name.strip() for name in classes.split(","))
    with progress(quiet or as_json) as told:
        start = pretrain(
            model, out, steps, asked, size_px, seed, batch_size, learning_rate or 0.0, device, graphs, [told], force
        )
    about = start.about
    if as_json:
        print_json({"directory": out, **about})
    elif not quiet:
        click.echo(
            f"{out}: {model}, {about['steps']:,} steps in {about['seconds']:.1f} s; tells {len(about['classes'])} "
            f"objects apart in {100 * about['accuracy']:.1f}% of pictures that it has not seen"
        )
        if about["default_classes"]:
            click.echo(
                f"note: {', '.join(about['default_classes'])} are classes of many worlds; a run on one of those begins "
                "with features that were made to know them"
            )
        click.echo(f"next: spurgen train DIR --model {model} --start {out} --learning-rate 0.0001")
