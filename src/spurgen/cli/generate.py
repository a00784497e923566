"""spurgen generate: a dataset from a preset or a spec file."""

from __future__ import annotations

from typing import Any

import click

from spurgen.cli.console import json_option, print_json, progress_bar, quiet_option, set_option, size_in_words, spec_of


@click.command("generate", short_help="Draw a dataset.")
@click.argument("spec", metavar="PRESET|SPEC.toml")
@click.option("--out", required=True, metavar="DIR", type=click.Path(file_okay=False), help="Where the dataset goes.")
@click.option("--rows", type=click.IntRange(1, 2**40), help="Number of rows, in place of the spec's.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Another seed, other rows.")
@click.option("--workers", type=click.IntRange(1, 1024), help="Threads; as many as there are cores unless given.")
@click.option("--shard-rows", type=click.IntRange(1), help="Most rows in one file.")
@click.option("--force", is_flag=True, help="Replace a dataset of another spec, seed or size.")
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
    overrides: tuple[str, ...],
    as_json: bool,
    quiet: bool,
) -> None:
    """Draw a dataset from a PRESET (`spurgen list presets`) or a spec file.

    A build that was stopped goes on where it was when the same command is given again; a complete dataset is checked,
    and only what is missing or damaged is drawn.
    """
    world = spec_of(spec, overrides)
    from spurgen.store.writer import build

    with progress_bar(rows or world.rows, f"drawing {world.id}", quiet or as_json) as progress:
        done = build(world, out, rows, seed, workers, shard_rows, force, progress)
    if as_json:
        print_json(_plain(done))
    elif not quiet:
        click.echo(_sentence(world.id, out, done))


def _plain(done: Any) -> dict[str, Any]:
    return {
        "directory": str(done.directory),
        "rows": done.rows,
        "drawn_rows": done.drawn_rows,
        "shards": done.shards,
        "drawn_shards": list(done.drawn_shards),
        "bytes": done.bytes,
        "digest": done.digest,
        "seconds": round(done.seconds, 3),
    }


def _sentence(name: str, out: str, done: Any) -> str:
    size = f"{done.rows:,} rows in {done.shards} shard{'s' if done.shards != 1 else ''}, {size_in_words(done.bytes)}"
    if not done.drawn_shards:
        return f"{out} already holds {name} complete and undamaged: {size}; digest {done.digest[:16]}"
    kept = done.rows - done.drawn_rows
    resumed = f" ({kept:,} rows were there already)" if kept else ""
    return f"{out}: {name}, {size} in {done.seconds:.1f} s{resumed}; digest {done.digest[:16]}"
