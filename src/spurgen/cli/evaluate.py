"""spurgen evaluate: how good a model is, and how much it leans on each channel."""

from __future__ import annotations

from typing import Any

import click

from spurgen.cli.console import json_option, print_json, print_table, progress_bar, quiet_option


@click.command("evaluate", short_help="Score a run, or anybody's predictions.")
@click.argument("run", required=False, metavar="[RUN]")
@click.option("--on", required=True, metavar="DIR", help="The dataset to score on.")
@click.option("--predictions", metavar="FILE", help="Score a CSV or Parquet file of predictions in place of a run.")
@click.option("--split", default="test", show_default=True, help="The split to score.")
@click.option("--draws", type=click.IntRange(1, 1000), help="Random draws of each intervention.  [default: 2]")
@click.option("--exact", is_flag=True, help="SSS over every attribute of a channel, not over random draws.")
@click.option("--constants", is_flag=True, help="Also the Invariance Gap of each constant assignment.")
@click.option("--group-by", help="Columns that make groups, such as label,background; unless given, which are aligned.")
@click.option(
    "--out", metavar="DIR", type=click.Path(file_okay=False), help="Where results go; into the run unless given."
)
@click.option("--device", default="auto", show_default=True, help="auto, cpu or cuda.")
@click.option("--instruments", is_flag=True, help="Score models made of the latents, whose scores are known.")
@json_option
@quiet_option
def command(
    run: str | None,
    on: str,
    predictions: str | None,
    split: str,
    draws: int | None,
    exact: bool,
    constants: bool,
    group_by: str | None,
    out: str | None,
    device: str,
    instruments: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Score a RUN on a split of a dataset: accuracy, groups, SSS of each channel, and the Invariance Gap.

    With --predictions, score what any model said: a table with row_id, probabilities (or logits), and intervention
    where there are some (`spurgen generate DIR --interventions` writes the rows that they are about).
    """
    if instruments:
        return _instruments(on, split, as_json, quiet, [run, predictions, draws, group_by, out], exact or constants)
    from spurgen.evaluate.interventions import Plan
    from spurgen.evaluate.verb import evaluate

    asked = draws is not None or exact or constants
    plan = Plan(draws or 2, exact, constants) if asked else None
    with progress_bar(0, "predicting", quiet or as_json) as told:
        scores = evaluate(run, on, predictions, split, plan, group_by, out, device, told)
    if as_json:
        print_json(scores)
    elif not quiet:
        show(scores)
    return None


def _instruments(on: str, split: str, as_json: bool, quiet: bool, others: list[Any], flags: bool) -> None:
    from spurgen.errors import SpurgenError
    from spurgen.evaluate.instruments import check
    from spurgen.store.reader import open

    if flags or any(other is not None for other in others):
        raise SpurgenError("--instruments scores models of its own; give --on and --split only")
    dataset = open(on)
    readings = check(dataset.table(split), dataset.spec)
    wrong = [r for r in readings if not r.right]
    if as_json:
        print_json([{**r._asdict(), "right": r.right} for r in readings])
    elif not quiet:
        print_table(
            "Instruments",
            ["reads", "score", "expected", "found", ""],
            [
                [r.instrument, r.score, f"{r.expected:.6f}", f"{r.found:.6f}", "ok" if r.right else "WRONG"]
                for r in readings
            ],
            right=("expected", "found"),
        )
    if wrong:
        raise SpurgenError(f"{len(wrong)} of {len(readings)} readings are wrong, so no score here can be trusted")


def show(scores: dict[str, Any]) -> None:
    """Print scores as tables."""
    m, worst = scores["metrics"], scores["worst_group"]
    what = scores.get("predictions") or f"{scores['method']}, {scores['model']}, seed {scores['seed']}"
    click.secho(f"{what} on {scores['data']}, {scores['split']}: {scores['rows']:,} rows", bold=True)
    rows = [
        ("accuracy", _percent(m["accuracy"]), ""),
        ("worst-group accuracy", _percent(m["worst_group_accuracy"]), f"{worst['group']} (n = {worst['n']:,})"),
        ("balanced accuracy", _percent(m["balanced_accuracy"]), "mean over classes"),
        ("weighted accuracy", _percent(m["weighted_accuracy"]), "groups as frequent as in training"),
        ("cross-entropy", _number(m["cross_entropy"]), "nats"),
        ("calibration error", _number(m["calibration_error"]), ""),
        ("AUROC", _number(m["auroc"]), "one against the rest, mean over classes"),
    ]
    print_table("", ["", "score", "of"], rows, right=("score",))
    if scores["sss"]:
        click.secho("How far the label's probability moves when a channel is drawn anew (SSS, 0 to 1)", bold=True)
        ranked = sorted(scores["sss"].items(), key=lambda item: -item[1]["value"])
        print_table(
            "",
            ["channel", "SSS", "95% interval", "signed", "other value only", ""],
            [[c, _number(s["value"]), _interval(s), _number(s["signed"]), _number(s["different"]), _bar(s["value"])]
             for c, s in ranked],
            right=("SSS", "signed", "other value only"),
        )  # fmt: skip
        click.echo(
            "signed: above 0 where what rows showed had helped; other value only: without draws of the same value\n"
        )
    if scores["ig"]:
        click.secho("How the loss differs from that with channels at random (Invariance Gap, nats)", bold=True)
        print_table(
            "",
            ["channels are", "IG", "95% interval", "a model that uses shortcuts is"],
            [[kind, _number(g["value"]), _interval(g), MEANING.get(kind, "")] for kind, g in scores["ig"].items()],
            right=("IG",),
        )
    filled = [g for g in scores["groups"] if g["n"]]
    click.secho(f"Groups by {', '.join(scores['group_by']) or 'nothing'}, worst first", bold=True)
    if any(key.endswith(":aligned") for key in scores["group_by"]):
        click.echo("aligned: the channel shows what goes along with the label; not: anything else")
    print_table(
        "",
        ["group", "accuracy", "95% interval", "rows", "in training"],
        [[g["name"], _percent(g["accuracy"]), f"{_percent(g['low'])} to {_percent(g['high'])}", f"{g['n']:,}",
          f"{g['train_rows']:,}"] for g in sorted(filled, key=lambda g: g["accuracy"])[:16]],
        right=("accuracy", "rows", "in training"),
    )  # fmt: skip
    if len(filled) > 16:
        click.echo(f"… and {len(filled) - 16} more")
    if worst["too_small"]:
        click.echo(f"too small to be called the worst: {', '.join(worst['too_small'])}")
    for name, reason in scores["left_out"].items():
        click.echo(f"left out: {name}: {reason}")
    click.secho(f"In short: {_in_short(scores)}", bold=True)
    if "directory" in scores:
        click.echo(f"kept in {scores['directory']}")


MEANING = {"conflicting": "misled: above 0", "aligned": "helped: below 0"}


def _in_short(scores: dict[str, Any]) -> str:
    """The two or three numbers that say most, as a sentence."""
    m = scores["metrics"]
    worst = f"{_percent(m['worst_group_accuracy'])} of its worst group"
    if m["weighted_accuracy"] is not None:
        told = f"right in {_percent(m['weighted_accuracy'])} of rows mixed as in training, in {worst}"
    else:
        told = f"right in {_percent(m['accuracy'])} of rows, in {worst}"
    if scores["sss"]:
        channel, found = max(scores["sss"].items(), key=lambda item: item[1]["value"])
        told += f"; of the channels it leans most on {channel} (SSS {_number(found['value'])})"
    return told + "."


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}%"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _interval(score: dict[str, Any]) -> str:
    return f"{_number(score['low'])} to {_number(score['high'])}"


def _bar(share: float, width: int = 20) -> str:
    return "█" * round(width * share)
