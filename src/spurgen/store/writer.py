"""Builds a dataset: draws what is missing, writes it shard by shard, and the manifest last."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spurgen.errors import DataError
from spurgen.store import atomic, journal, layout, lock, manifest, ours
from spurgen.store.drawing import Artist, Piece, runs
from spurgen.store.features import class_columns, metadata
from spurgen.store.layout import Shard
from spurgen.store.manifest import Identity, Manifest, ShardRecord
from spurgen.store.settle import settle
from spurgen.store.shards import is_whole
from spurgen.store.shards import write as write_shard
from spurgen.version import __version__

if TYPE_CHECKING:
    from spurgen.spec import World

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Summary:
    """What a build did: where, and how much of it was drawn now.

    `seconds` is the time by the clock; `steps` are seconds of the processor, added over threads: where their sum comes
    close to `seconds` times the cores, the cores were busy throughout and a faster build needs cheaper steps.
    `rewritten` names the files beside the shards that were missing or changed, `strays` those among the shards that are
    not of the dataset.
    """

    directory: Path
    rows: int
    drawn_rows: int
    shards: int
    drawn_shards: tuple[str, ...]
    bytes: int
    digest: str
    seconds: float
    steps: dict[str, float] = field(default_factory=dict)
    rewritten: tuple[str, ...] = ()
    strays: tuple[str, ...] = ()


def build(
    spec: World | str | Path,
    out: str | Path,
    rows: int | None = None,
    seed: int = 0,
    workers: int | None = None,
    shard_rows: int | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> Summary:
    """Write the dataset of a spec and a seed into a directory, or finish or mend the one that lies there.

    The same call gives the same bytes, whatever the number of workers and however often it was killed. A directory
    that holds something else is refused; `force` starts over where another dataset of SpurGen lies. The spec may be
    given as a world, the id of a preset or the path of a TOML file.
    """
    from spurgen.latents.sample import Plan
    from spurgen.spec import World, load

    began = time.perf_counter()
    directory = Path(out)
    world = spec if isinstance(spec, World) else load(spec)
    if shard_rows is not None and (not isinstance(shard_rows, int) or isinstance(shard_rows, bool) or shard_rows < 1):
        raise DataError(f"shard_rows is {shard_rows!r}; it must be a whole number, 1 or more")
    artist = Artist(world, Plan(world, rows=rows, seed=seed), workers)
    ours.refuse_foreign(directory)
    with atomic.explained(directory):
        directory.mkdir(parents=True, exist_ok=True)
    with lock.held(directory):
        journal.sweep(directory)
        card_stays = not force and not journal.is_open(directory)  # its owner may have edited it
        identity = settle(directory, artist, shard_rows, afresh=force)
        if force:
            ours.start_over(directory, identity, world.splits)
        else:
            ours.drop_false_manifest(directory, identity)
        return _Build(directory, artist, identity, progress, card_stays).run(began)


class _Build:
    """One run of `build`, inside the lock."""

    def __init__(
        self, directory: Path, artist: Artist, identity: Identity, progress: Progress | None, card_stays: bool
    ):
        self.directory = directory
        self.card_stays = card_stays
        self.artist = artist
        self.identity = identity
        self.progress = progress or (lambda done, total: None)
        self.shards = layout.shards(artist.plan.splits, identity.shard_rows)
        self.total = sum(s.rows for s in self.shards)
        self.done = 0
        self.known: dict[str, ShardRecord] = {}
        self.steps: dict[str, float] = {}
        self.rewritten: list[str] = []

    def run(self, began: float) -> Summary:
        """Keep what is whole, draw the rest, close with the manifest."""
        kept = self._kept()
        missing = [s for s in self.shards if s.name not in kept]
        if missing:
            self._reopen()
        self.progress(self.done, self.total)
        drawn = self._draw(missing)
        records = [(kept | drawn)[s.name] for s in self.shards]
        found = self._close(records)
        return Summary(
            directory=self.directory,
            rows=self.total,
            drawn_rows=sum(s.rows for s in missing),
            shards=len(records),
            drawn_shards=tuple(s.name for s in missing),
            bytes=sum(r.bytes for r in records),
            digest=found.digest,
            seconds=time.perf_counter() - began,
            steps=self.steps,
            rewritten=tuple(self.rewritten),
            strays=tuple(ours.strays(self.directory, {r.file for r in records})),
        )

    def _kept(self) -> dict[str, ShardRecord]:
        """The shards that an earlier run finished and that are still whole."""
        self.known = journal.records(self.directory)
        if (self.directory / layout.MANIFEST).is_file():
            self.known |= {r.file: r for r in manifest.load(self.directory).shards}
        kept = {}
        for shard in self.shards:
            record = self.known.get(shard.name)
            if record and (record.start, record.rows) == (shard.start, shard.rows) and is_whole(self.directory, record):
                kept[shard.name] = record
                self.done += shard.rows
        return kept

    def _reopen(self) -> None:
        """From here until the end the dataset counts as not finished, and says so.

        Damaged shards are noted too: what is drawn in their place must have the same content.
        """
        journal.begin(self.directory, self.identity)
        if (self.directory / layout.MANIFEST).is_file():
            for record in self.known.values():
                journal.record(self.directory, record)
            (self.directory / layout.MANIFEST).unlink()
            atomic.sync_directory(self.directory)

    def _draw(self, missing: list[Shard]) -> dict[str, ShardRecord]:
        if not missing:
            return {}
        features = self.artist.features()
        about = {"format_version": self.identity.format_version, "spec_digest": self.identity.spec_digest}
        schema = metadata(features, about | {"seed": self.identity.seed})
        drawn = {}
        pieces = self.artist.pieces(self._runs(missing), self.identity.row_group_rows)
        try:
            for shard in missing:
                part = self._take(pieces, shard)
                names = class_columns(features)
                record = write_shard(self.directory, shard, part, schema, names, self._compare, self._spend)
                journal.record(self.directory, record)
                drawn[shard.name] = record
        finally:
            pieces.close()
        return drawn

    def _compare(self, drawn: ShardRecord) -> None:
        """A shard that was here before must have come back with the same content, or half the dataset is another."""
        before = self.known.get(drawn.file)
        if before is not None and before.rows == drawn.rows and before.digests != drawn.digests:
            raise DataError(
                f"{drawn.file} was drawn again and came out differently from what {self.directory} recorded; "
                "use the version of SpurGen that built it, or start over with force (--force)"
            )

    def _runs(self, missing: list[Shard]) -> Iterator[Any]:
        for shard in missing:
            yield from runs(self.artist.plan, shard.split, shard.start, shard.rows, self.identity.row_group_rows)

    def _take(self, pieces: Iterator[Piece], shard: Shard) -> Iterator[Piece]:
        """As many pieces as make up one shard; chunks never cross the border of a shard."""
        left = shard.rows
        while left:
            piece = next(pieces)
            for step, seconds in piece.seconds.items():
                self._spend(step, seconds)
            yield piece
            left -= piece.table.num_rows
            self.done += piece.table.num_rows
            self.progress(self.done, self.total)

    def _spend(self, step: str, seconds: float) -> None:
        self.steps[step] = self.steps.get(step, 0.0) + seconds

    def _close(self, records: list[ShardRecord]) -> Manifest:
        ours.drop_shards(self.directory, self.artist.spec.splits, {r.file for r in records})
        found = manifest.compose(self.identity, __version__, {}, records)
        files = _side_files(self.artist, found)
        found = found.model_copy(update={"files": {name: _sha256(text) for name, text in files.items()}})
        files[layout.CARD] = _card(self.artist, found)
        for name, text in files.items():
            path = self.directory / name
            if name == layout.CARD and path.is_file() and self.card_stays:
                continue
            if not path.is_file() or path.read_bytes() != text:
                atomic.write(path, text, self.directory / layout.BUILD / f"{name}.tmp")
                self.rewritten.append(name)
        path = self.directory / layout.MANIFEST
        if not path.is_file() or path.read_bytes() != found.to_json():
            manifest.save(self.directory, found)
            self.rewritten.append(layout.MANIFEST)
        journal.end(self.directory)
        return found


def _side_files(artist: Artist, found: Manifest) -> dict[str, bytes]:
    from spurgen.store import croissant

    return {
        layout.SPEC: artist.spec.to_toml().encode(),
        layout.CROISSANT: croissant.write(artist.spec, artist.features(), found).encode(),
    }


def _card(artist: Artist, found: Manifest) -> bytes:
    from spurgen.store import card

    return card.write(artist.spec, artist.features(), found).encode()


def _sha256(content: bytes) -> str:
    import hashlib

    return hashlib.sha256(content).hexdigest()
