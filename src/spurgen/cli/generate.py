"""spurgen generate: a dataset from a preset or a spec file."""

from __future__ import annotations

from typing import Any

import click

from spurgen.cli.console import json_option, print_json, progress_bar, quiet_option, set_option, size_in_words, spec_of
from spurgen.errors import SpurgenError


@click.command("generate", short_help="Draw a dataset.")
@click.argument("spec", metavar="PRESET|SPEC.toml|DIR")
@click.option("--out", required=True, metavar="DIR", type=click.Path(file_okay=False), help="Where the dataset goes.")
@click.option("--rows", type=click.IntRange(1, 2**40), help="Number of rows, in place of the spec's.")
@click.option(
    "--seed", type=click.IntRange(0, 2**64 - 1), default=0, show_default=True, help="Another seed, other rows."
)
@click.option("--workers", type=click.IntRange(1, 1024), help="Threads; as many as there are cores unless given.")
@click.option("--shard-rows", type=click.IntRange(1), help="Most rows in one file.")
@click.option("--force", is_flag=True, help="Replace a dataset of another spec, seed or size.")
@click.option("--interventions", is_flag=True, help="Draw the edited rows of the dataset in DIR, for models of others.")
@click.option("--split", help="With --interventions: the split whose rows are edited.  [default: test]")
@click.option("--draws", type=click.IntRange(1, 1000), help="With --interventions: random draws of each.  [default: 2]")
@click.option("--exact", is_flag=True, help="With --interventions: every attribute in turn, in place of shuffling.")
@click.option("--constants", is_flag=True, help="With --interventions: also constant assignments.")
@set_option
@json_option
@quiet_option
def command(
    spec: str,
    out: str,
    rows: int | None,
    seed: int,
    workers: int | None,
    shard_rows: int | None,
    force: bool,
    interventions: bool,
    split: str | None,
    draws: int | None,
    exact: bool,
    constants: bool,
    overrides: tuple[str, ...],
    as_json: bool,
    quiet: bool,
) -> None:
    """Draw a dataset from a PRESET (`spurgen list presets`) or a spec file.

    A build that was stopped goes on where it was when the same command is given again; a complete dataset is checked,
    and only what is missing or damaged is drawn. With --interventions, draw the rows of a dataset as every edit leaves
    them: run any model on those, and `spurgen evaluate --predictions` scores it.
    """
    edits = {"--split": split, "--draws": draws, "--exact": exact, "--constants": constants}
    builds = {"--rows": rows, "--seed": seed, "--workers": workers, "--shard-rows": shard_rows, "--set": overrides}
    for name, value in (builds if interventions else edits).items():
        if value:
            raise SpurgenError(f"{name} {'does not go with' if interventions else 'goes with'} --interventions")
    if interventions:
        _edited(spec, out, split or "test", (draws or 2, exact, constants), force, as_json, quiet)
        return
    world = spec_of(spec, overrides)
    from spurgen.store.writer import build

    with progress_bar(rows or world.rows, f"drawing {world.id}", quiet or as_json) as progress:
        done = build(world, out, rows, seed, workers, shard_rows, force, progress)
    if as_json:
        print_json(_plain(done))
    elif not quiet:
        click.echo(_sentence(world.id, out, done))
        for name in done.strays:
            click.echo(f"note: {name} does not belong to {world.id}, and other libraries may read it; move it away")


def _edited(
    where: str, out: str, split: str, plan: tuple[int, bool, bool], force: bool, as_json: bool, quiet: bool
) -> None:
    from spurgen.evaluate.foreign import write_interventions
    from spurgen.evaluate.interventions import Plan
    from spurgen.store.reader import open

    with progress_bar(0, "drawing interventions", quiet or as_json) as progress:
        done = write_interventions(open(where), out, split, Plan(*plan), force, progress)
    if as_json:
        print_json({"directory": str(done.directory), "rows": done.rows, "files": done.files, "bytes": done.bytes})
    elif not quiet:
        click.echo(f"{out}: {done.rows:,} rows in {done.files - 1} files, {size_in_words(done.bytes)}")
        click.echo(f"next: run a model on them, then: spurgen evaluate --predictions FILE --on {where} --split {split}")


def _plain(done: Any) -> dict[str, Any]:
    return {
        "directory": str(done.directory),
        "rows": done.rows,
        "drawn_rows": done.drawn_rows,
        "shards": done.shards,
        "drawn_shards": list(done.drawn_shards),
        "rewritten": list(done.rewritten),
        "strays": list(done.strays),
        "bytes": done.bytes,
        "digest": done.digest,
        "seconds": round(done.seconds, 3),
    }


def _sentence(name: str, out: str, done: Any) -> str:
    size = f"{done.rows:,} rows in {done.shards} shard{'s' if done.shards != 1 else ''}, {size_in_words(done.bytes)}"
    digest = done.digest[:16]
    if not done.drawn_shards:
        if done.rewritten:
            return f"{out}: {name}, {size}; wrote {', '.join(done.rewritten)} again, all else was there"
        return f"{out} already holds {name}, complete, every file as its manifest says: {size}; digest {digest}"
    kept = done.rows - done.drawn_rows
    resumed = f" ({kept:,} rows were there already)" if kept else ""
    return f"{out}: {name}, {size} in {done.seconds:.1f} s{resumed}; digest {digest}"
