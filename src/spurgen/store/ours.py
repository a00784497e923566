"""What in a directory is ours: foreign directories are refused, and nothing that lies beside a dataset is removed."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from pathlib import Path

from spurgen.errors import DataError, SpurgenError
from spurgen.store import atomic, journal, layout, manifest, witness
from spurgen.store.manifest import Identity


def refuse_foreign(directory: Path) -> None:
    """A directory with other people's files is never built into, nor cleared; nor is what a link inside leads to."""
    with atomic.looked_at(directory):
        if directory.exists() and not directory.is_dir():
            raise DataError(f"{directory} is a file; choose a directory")
        for name in (layout.BUILD, layout.DATA):
            if (directory / name).is_symlink():
                raise DataError(f"{directory / name} is a link, and SpurGen made none; choose another directory")
        if not directory.is_dir() or layout.is_dataset(directory) or witness.is_remains(directory):
            return
        others = sorted(p.name for p in directory.iterdir() if not _harmless(p))
        if others:
            first = next(iter(witness.strangers(directory)), others[0])
            raise DataError(f"{directory} is not empty ({first!r}) and holds no dataset; choose another directory")


def _harmless(path: Path) -> bool:
    if path.name == layout.DATA and path.is_dir():
        return not any(path.iterdir())
    return path.name in (layout.BUILD, layout.CACHE)


def drop_false_manifest(directory: Path, identity: Identity) -> None:
    """Remove a manifest that is broken or speaks of another dataset than the shards; a journal takes its place."""
    with contextlib.suppress(manifest.Broken):
        if not (directory / layout.MANIFEST).is_file() or manifest.load(directory).identity == identity:
            return
    journal.begin(directory, identity)
    with atomic.explained(directory):
        (directory / layout.MANIFEST).unlink()
        atomic.sync_directory(directory)


def start_over(directory: Path, identity: Identity, splits: Collection[str]) -> None:
    """Remove the dataset of SpurGen that lies here, and nothing else; `splits` are those of the one that follows.

    At every moment the directory is either the old dataset or the beginning of the new one.
    """
    mine = {*splits, *_splits_here(directory)}
    journal.forget(directory)
    journal.begin(directory, identity)
    with atomic.explained(directory):
        for name in (layout.MANIFEST, layout.SPEC, layout.CROISSANT, layout.CARD):
            (directory / name).unlink(missing_ok=True)
        atomic.sync_directory(directory)
    drop_shards(directory, mine, set())


def drop_shards(directory: Path, splits: Collection[str], known: Collection[str]) -> None:
    """Remove the shards that a dataset with these splits may have left, but for the known ones."""
    with atomic.explained(directory / layout.DATA):
        for path in _shards_here(directory, splits):
            if f"{layout.DATA}/{path.name}" not in known:
                path.unlink()


def strays(directory: Path, known: Collection[str]) -> list[str]:
    """The files among the shards that are none of the known ones; other libraries would read them."""
    data = directory / layout.DATA
    paths = sorted(data.rglob("*")) if data.is_dir() else []
    names = (path.relative_to(directory).as_posix() for path in paths if path.is_file())
    return [name for name in names if name not in known]


def bytes_here(directory: Path, splits: Collection[str]) -> int:
    """What the shards that lie here take up."""
    with atomic.looked_at(directory):
        return sum(path.lstat().st_size for path in _shards_here(directory, splits))


def _shards_here(directory: Path, splits: Collection[str]) -> Iterator[Path]:
    data = directory / layout.DATA
    paths = sorted(data.iterdir()) if data.is_dir() else []
    return (p for p in paths if layout.is_shard_name(p.name, splits) and not p.is_dir())


def _splits_here(directory: Path) -> set[str]:
    """The splits of whatever dataset lies here, as far as it can still be read."""
    from spurgen.spec import World

    found = {record.split for record in journal.records(directory).values()}
    found |= {layout.split_of(Path(one.file).name) for one in witness.witnesses(directory)}
    with contextlib.suppress(SpurgenError):
        found |= set(manifest.load(directory).splits)
    with contextlib.suppress(SpurgenError, OSError, ValueError):
        found |= set(World.from_toml((directory / layout.SPEC).read_text("utf-8")).splits)
    return found
