"""Checks a dataset against its manifest, and against the spec by drawing its rows again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spurgen.errors import DataError, SpurgenError
from spurgen.store import digests, layout, manifest, ours
from spurgen.store.drawing import Artist, Piece, runs, thread_count
from spurgen.store.features import stored
from spurgen.store.manifest import Manifest, ShardRecord
from spurgen.store.problems import Problem, Report, differing
from spurgen.store.reader import Dataset
from spurgen.store.shards import sha256_of
from spurgen.store.witness import Witness, witness
from spurgen.store.writer import Progress

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

__all__ = ["Problem", "Report", "check", "verify"]
_PLANNED = 10_000_000  # rows that are planned in a moment, whatever the sampling


def verify(
    directory: str | Path, deep: bool = True, workers: int | None = None, progress: Progress | None = None
) -> list[Problem]:
    """Every problem of a dataset; none means that it is what its spec says. See `check`."""
    return check(directory, deep, workers, progress).problems


def check(
    directory: str | Path, deep: bool = True, workers: int | None = None, progress: Progress | None = None
) -> Report:
    """Check every file against its hash and every row against what the spec says.

    `deep` draws all rows again and compares; without it only damaged shards are drawn again, to name what is damaged.
    Whatever lies on disk, the answer is a list of problems.
    """
    path = Path(directory)
    workers = thread_count(workers)
    try:
        dataset = Dataset(path)
    except DataError as error:
        return Report(path, None, problems=[Problem(layout.MANIFEST, "manifest", str(error))])
    return _Verifier(dataset, deep, workers, progress or (lambda done, total: None)).run()


class _Verifier:
    def __init__(self, dataset: Dataset, deep: bool, workers: int | None, progress: Progress):
        self.dataset = dataset
        self.manifest: Manifest = dataset.manifest
        self.deep = deep
        self.workers = workers
        self.progress = progress
        self.problems: list[Problem] = []
        self.redrawn = 0
        self.strange: set[str] = set()  # files that say they are of another dataset

    def run(self) -> Report:
        self.problems += _check_totals(self.manifest)
        self.problems += _check_side_files(self.dataset.directory, self.manifest)
        self.problems += _check_strays(self.dataset.directory, self.manifest)
        said = [witness(self.dataset.directory, record.file) for record in self.manifest.shards]
        apart = _check_witnesses(self.manifest, [one for one in said if one is not None])
        self.problems += apart
        self.strange = {problem.file for problem in apart}
        artist = None if layout.MANIFEST in self.strange else self._artist()
        if artist is not None:
            wrong = list(_check_plan(self.manifest, artist))
            self.problems += wrong
            artist = None if wrong else artist
        done = 0
        for record in self.manifest.shards:
            self.progress(done, len(self.dataset))
            self.problems += self._shard(record, artist)
            done += record.rows
        self.progress(done, len(self.dataset))
        return Report(
            self.dataset.directory,
            self.manifest.digest,
            len(self.manifest.shards),
            self.manifest.totals.rows,
            self.redrawn,
            self.problems,
        )

    def _artist(self) -> Artist | None:
        """What draws the rows again; without it, files can still be checked against their hashes."""
        from spurgen.latents.sample import Plan

        held = sum(_rows_held(self.dataset.directory / record.file) for record in self.manifest.shards)
        if self.manifest.rows > max(_PLANNED, 1000 * held):  # a forged manifest may claim billions
            message = f"speaks of {self.manifest.rows} rows, and its shards hold {held}: rows cannot be drawn again"
            self.problems.append(Problem(layout.MANIFEST, "count", message))
            return None
        try:
            spec = self.dataset.spec
            artist = Artist(spec, Plan(spec, rows=self.manifest.rows, seed=self.manifest.seed), self.workers)
            versions = artist.versions()
        except SpurgenError as error:
            self.problems.append(Problem(layout.SPEC, "spec", f"rows cannot be drawn again: {error}"))
            return None
        if versions != self.manifest.modalities:
            message = f"drawn by other versions ({self.manifest.modalities}, and {versions} are installed)"
            self.problems.append(Problem(layout.MANIFEST, "version", f"rows cannot be compared: {message}"))
            return None
        return artist

    def _shard(self, record: ShardRecord, artist: Artist | None) -> Iterator[Problem]:
        path = self.dataset.directory / record.file
        fault = _file_fault(path, record)
        if fault is not None:
            yield fault
        if fault is not None and fault.kind == "missing":
            return
        file = _opened(path)
        if file is None:
            if fault is None:
                yield Problem(record.file, "unreadable", "is not a readable Parquet file, although its hash is right")
            return
        rows = file.metadata.num_rows
        if rows != record.rows:
            yield Problem(record.file, "count", f"holds {rows} rows, and the manifest says {record.rows}")
            return  # which rows is anyone's guess
        if artist is not None and record.file not in self.strange and (self.deep or fault is not None):
            yield from self._contents(record, file, artist)

    def _contents(self, record: ShardRecord, file: ParquetFile, artist: Artist) -> Iterator[Problem]:
        """Compare what is stored with the same rows drawn again, row group by row group."""
        size = self.manifest.row_group_rows
        found = _Damage()
        sums: dict[str, int] = {}
        pieces = artist.pieces(runs(artist.plan, record.split, record.start, record.rows, size), size)
        for group, piece in enumerate(pieces):
            self.redrawn += piece.table.num_rows
            for name, number in piece.sums.items():
                sums[name] = digests.add([sums.get(name, 0), number])
            found.compare(_group(file, group), piece, artist)
        wrong = [name for name, number in sums.items() if record.digests.get(name) != digests.to_hex(number)]
        if wrong:
            message = f"the manifest's digest of {', '.join(wrong)} is not that of these rows"
            yield Problem(record.file, "digest", message, columns=tuple(wrong))
        yield from found.problems(record)


class _Damage:
    """Collects the cells of one shard that are not what they should be."""

    def __init__(self) -> None:
        self.rows: dict[str, list[int]] = {}
        self.unreadable: list[tuple[int, int]] = []

    def compare(self, table: pa.Table | None, piece: Piece, artist: Artist) -> None:
        if table is not None:
            table = table.replace_schema_metadata(None)
            if table.equals(piece.table):
                return
        ids = piece.table["row_id"].to_numpy()
        if table is None or table.schema.names != piece.table.schema.names or table.num_rows != piece.table.num_rows:
            self.unreadable.append((int(ids[0]), int(ids[-1])))
            return
        for name in piece.table.column_names:
            if not table[name].equals(piece.table[name]):
                bad = [int(i) for i, same in zip(ids, _same(table[name], piece.table[name]), strict=True) if not same]
                self.rows.setdefault(name, []).extend(bad)

    def problems(self, record: ShardRecord) -> Iterator[Problem]:
        for first, last in self.unreadable:
            yield Problem(record.file, "rows", f"rows {first} to {last} cannot be read", (first, last))
        for name, bad in self.rows.items():
            yield differing(record.file, bad, [name])


def _same(found: Any, wanted: Any) -> Iterator[bool]:
    for a, b in zip(found, wanted, strict=True):
        try:
            yield bool(a.equals(b))
        except Exception:  # a damaged cell may not even be comparable (text that is no UTF-8)
            yield False


def _file_fault(path: Path, record: ShardRecord) -> Problem | None:
    try:
        size = path.stat().st_size
        if size != record.bytes:
            return Problem(record.file, "size", f"has {size} bytes, and {record.bytes} were written")
        if sha256_of(path) != record.sha256:
            return Problem(record.file, "hash", "its bytes are not those that were written")
    except FileNotFoundError:
        return Problem(record.file, "missing", "is missing")
    except OSError as error:
        return Problem(record.file, "missing", f"cannot be read ({error.strerror})")
    return None


def _opened(path: Path) -> ParquetFile | None:
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(path)
    except Exception:  # garbage makes pyarrow raise whatever comes
        return None


def _rows_held(path: Path) -> int:
    file = _opened(path)
    return file.metadata.num_rows if file is not None else 0


def _group(file: ParquetFile, group: int) -> pa.Table | None:
    """A row group as stored, or None where it cannot be read."""
    try:
        table = file.read_row_group(group, use_threads=False)
        table.validate(full=True)
        return stored(table)
    except Exception:  # garbage makes pyarrow raise whatever comes
        return None


def _check_totals(found: Manifest) -> Iterator[Problem]:
    again = manifest.compose(found.identity, found.spurgen_version, found.files, found.shards)
    if (again.totals, again.splits, again.digest) != (found.totals, found.splits, found.digest):
        yield Problem(layout.MANIFEST, "totals", "its totals are not the sums of its shards")


def _check_side_files(directory: Path, found: Manifest) -> Iterator[Problem]:
    for name in (layout.SPEC, layout.CROISSANT, layout.CARD):
        path = directory / name
        try:
            changed = sha256_of(path) != found.files.get(name, "") and name in found.files  # a card may be edited
        except OSError:
            yield Problem(name, "missing", "is missing")
            continue
        if changed:
            yield Problem(name, "hash", "was changed after it was written")


def _check_strays(directory: Path, found: Manifest) -> Iterator[Problem]:
    for name in ours.strays(directory, {record.file for record in found.shards}):
        yield Problem(name, "stray", "does not belong to the dataset, and other libraries may read it")


def _check_witnesses(found: Manifest, said: list[Witness]) -> list[Problem]:
    """Whether the shards say that they are of the dataset of which the manifest speaks."""
    for name in ("spec_digest", "seed"):
        claims = {one.about[name] for one in said}
        wanted = getattr(found, name)
        if len(claims) == 1 and claims != {wanted}:
            message = f"speaks of {name} {wanted!r}, and its shards say {claims.pop()!r}"
            return [Problem(layout.MANIFEST, "identity", message)]
        odd = [one for one in said if one.about[name] != wanted]
        if odd:
            return [Problem(o.file, "origin", f"is of another dataset ({name} {o.about[name]!r})") for o in odd]
    return []


def _check_plan(found: Manifest, artist: Artist) -> Iterator[Problem]:
    """Whether the shards of the manifest are those that the spec and the seed give."""
    count = sum(-(-rows // found.shard_rows) for rows in artist.plan.splits.values())
    if count != len(found.shards):  # counted before listed: a forged manifest may claim billions
        yield Problem(layout.MANIFEST, "count", f"lists {len(found.shards)} shards, and the spec gives {count}")
        return
    wanted = {s.name: s for s in layout.shards(artist.plan.splits, found.shard_rows)}
    here = {r.file: r for r in found.shards}
    for name in sorted(wanted.keys() | here.keys()):
        shard, record = wanted.get(name), here.get(name)
        if record is None:
            yield Problem(name, "missing", "the manifest lacks this shard")
        elif shard is None:
            yield Problem(name, "stray", "the manifest names a shard that the spec does not give")
        elif (shard.split, shard.start, shard.rows) != (record.split, record.start, record.rows):
            yield Problem(name, "count", "the manifest gives this shard other rows than the spec does")
