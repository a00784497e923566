"""Opens a finished dataset: its latents as a table, any row of any modality, and the spec it came from."""

from __future__ import annotations

import errno
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spurgen.errors import DataError, UnknownName, unknown
from spurgen.spec.known import MODALITIES
from spurgen.store import layout, manifest
from spurgen.store.features import named
from spurgen.store.manifest import Manifest, ShardRecord
from spurgen.store.shards import is_whole

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    from spurgen.spec import World

Ids = NDArray[np.uint64]
_OPEN = 32  # idle files kept open: systems allow a process few hundreds, and every loader has a reader of its own


@dataclass(frozen=True)
class _Place:
    """Where rows lie: for each id the shard and the position in it, ids sorted."""

    ids: Ids
    shard: NDArray[np.int32]
    position: NDArray[np.int64]


class Dataset:
    """A finished dataset on disk. Nothing is read before it is asked for."""

    def __init__(self, directory: str | Path):
        self.directory = Path(directory)
        self.manifest: Manifest = manifest.load(self.directory)
        self._idle: deque[tuple[str, ParquetFile]] = deque(maxlen=_OPEN)  # those used longest ago are closed first
        self._taking = threading.Lock()

    def __len__(self) -> int:
        return self.manifest.totals.rows

    def __reduce__(self) -> tuple[Any, ...]:
        return Dataset, (self.directory,)  # other processes open the files themselves

    def __repr__(self) -> str:
        splits = ", ".join(f"{name} {rows:,}" for name, rows in self.splits.items())
        return f"<Dataset {self.manifest.spec_id} seed {self.seed} at {str(self.directory)!r}: {splits}>"

    @cached_property
    def spec(self) -> World:
        """The spec that the rows were drawn from."""
        from spurgen.spec import World

        path = self.directory / layout.SPEC
        try:
            spec = World.from_toml(path.read_text("utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"cannot read {path}; build the dataset again from its spec to mend it") from error
        if spec.digest() != self.manifest.spec_digest:
            raise DataError(
                f"{path} does not give the rows that lie beside it (digest {spec.digest()[:16]}…, and "
                f"{self.manifest.spec_digest[:16]}… when they were drawn): it was edited, or this version of SpurGen "
                "draws them differently; build the dataset again"
            )
        return spec

    @property
    def seed(self) -> int:
        """The seed that the rows were drawn with."""
        return self.manifest.seed

    @property
    def digest(self) -> str:
        """One digest over the content of all rows: equal digests, equal data."""
        return self.manifest.digest

    @property
    def splits(self) -> dict[str, int]:
        """Rows in each split."""
        return {name: total.rows for name, total in self.manifest.splits.items()}

    @property
    def modalities(self) -> list[str]:
        """What is stored of each row beside its latents."""
        return list(self.manifest.modalities)

    @cached_property
    def features(self) -> dict[str, Any]:
        """The Hugging Face feature of every stored column."""
        import json

        try:
            with self._file(self.manifest.shards[0]) as first:
                return dict(json.loads(first.schema_arrow.metadata[b"huggingface"])["info"]["features"])
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"{self.manifest.shards[0].file} has lost its metadata; {_VERIFY}") from error

    # ------------------------------------------------------------------------------------------------- latents

    @property
    def columns(self) -> list[str]:
        """The columns of the table of latents, in order."""
        stored = {c for name in self.modalities for c in MODALITIES.get(name).columns}
        return [name for name in self.features if name not in stored]

    def table(self, split: str | None = None, columns: Sequence[str] | None = None) -> pa.Table:
        """The rows of a split, or of all; without pixels and the like unless `columns` names them."""
        import pyarrow as pa

        wanted = self.columns if columns is None else list(columns)
        for name in wanted:
            if name not in self.features:
                raise UnknownName(unknown("column", name, self.features))
        return pa.concat_tables(
            named(self._read(record, None, wanted), self.features) for record in self._records(split)
        )

    def row_ids(self, split: str | None = None) -> Ids:
        """The ids of the rows of a split, or of all, in the order in which they lie."""
        ids: Ids = self.table(split, ["row_id"])["row_id"].to_numpy()
        return ids

    def rows(self, row_ids: Any) -> pa.Table:
        """The latents of some rows, in the order given."""
        return named(self._gather(_ids(row_ids), self.columns), self.features)

    def row(self, row_id: int) -> pa.Table:
        """The latents of one row."""
        return self.rows([row_id])

    # ---------------------------------------------------------------------------------------------- modalities

    def batch(self, modality: str, rows: str | Any = None, start: int = 0, stop: int | None = None) -> Any:
        """A modality of some rows, decoded: of a split by its name and positions, or of given row ids."""
        if modality not in self.manifest.modalities:
            raise UnknownName(unknown("modality", modality, self.modalities))
        columns = list(MODALITIES.get(modality).columns)
        if rows is None or isinstance(rows, str):
            return self._decode(modality, self._stretch(rows, start, stop, columns))
        return self._decode(modality, self._gather(_ids(rows)[start:stop], columns))

    def batch_of(self, table: pa.Table, modality: str) -> Any:
        """A modality of the rows of a table, as stored: edits of the table do not show (see `counterfactual`)."""
        return self.batch(modality, table["row_id"].to_numpy())

    def _decode(self, modality: str, found: pa.Table) -> Any:
        part = MODALITIES.get(modality)
        return part.decode({name: _one_array(found[name]) for name in part.columns})

    def stored(self, split: str | None = None, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """What lies on disk, undecoded, a row group at a time."""
        for record in self._records(split):
            for group in range(-(-record.rows // self.manifest.row_group_rows)):
                yield self._read(record, [group], list(self.features) if columns is None else columns)

    # -------------------------------------------------------------------------------------------------- reading

    def _records(self, split: str | None) -> list[ShardRecord]:
        if split is not None and split not in self.manifest.splits:
            raise UnknownName(unknown("split", split, self.manifest.splits))
        return [r for r in self.manifest.shards if split in (None, r.split)]

    def check(self, split: str | None = None) -> None:
        """Compare the bytes of the shards with their hashes; a file that was changed is an error."""
        for record in self._records(split):
            if not is_whole(self.directory, record):
                raise DataError(f"{self.directory / record.file} is not as its manifest says; {_VERIFY}")

    @contextmanager
    def _file(self, record: ShardRecord) -> Iterator[ParquetFile]:
        """An open shard for one thread at a time: two reads through one ParquetFile disturb each other."""
        with self._taking:
            found = next((item for item in self._idle if item[0] == record.file), None)
            if found is not None:
                self._idle.remove(found)
        file = found[1] if found is not None else self._opened(record)
        yield file
        with self._taking:
            self._idle.append((record.file, file))

    def _opened(self, record: ShardRecord) -> ParquetFile:
        import pyarrow as pa
        import pyarrow.parquet as pq

        path = self.directory / record.file
        try:
            # not memory-mapped: hardly slower, and a file cut short meanwhile is an error, not a crash
            found = pq.ParquetFile(path)
        except (OSError, pa.ArrowException) as error:
            if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
                raise DataError(f"cannot open {path}: too many files are open; raise the limit (ulimit -n)") from error
            raise DataError(f"cannot read {path}; {_VERIFY}") from error
        rows = found.metadata.num_rows
        if rows != record.rows:
            raise DataError(f"{path} holds {rows} rows, not {record.rows}; {_VERIFY}")
        return found

    def _read(self, record: ShardRecord, groups: Sequence[int] | None, columns: Sequence[str]) -> pa.Table:
        import pyarrow as pa

        with self._file(record) as file:
            try:
                if groups is None:
                    found = file.read(columns=list(columns))
                else:
                    found = file.read_row_groups(list(groups), columns=list(columns), use_threads=False)
            except (OSError, pa.ArrowException) as error:
                raise DataError(f"{self.directory / record.file} is damaged; {_VERIFY}") from error
        lost = set(columns).difference(found.column_names)  # pyarrow leaves them out without a word
        if lost:
            raise DataError(f"{self.directory / record.file} lacks the column {min(lost)!r}; {_VERIFY}")
        return found

    def _stretch(self, split: str | None, start: int, stop: int | None, columns: Sequence[str]) -> pa.Table:
        """Rows by their position in a split; only the row groups that hold them are read."""
        import pyarrow as pa

        records = self._records(split)
        start, stop, _ = slice(start, stop).indices(sum(r.rows for r in records))
        parts, first = [], 0
        for record in records:
            low, high = max(start - first, 0), min(stop - first, record.rows)
            if low < high:
                size = self.manifest.row_group_rows
                groups = range(low // size, -(-high // size))
                part = self._read(record, groups, columns)
                parts.append(part.slice(low - groups[0] * size, high - low))
            first += record.rows
        return pa.concat_tables(parts) if parts else self._read(records[0], [], columns)

    def _gather(self, ids: Ids, columns: Sequence[str]) -> pa.Table:
        """Rows by their ids, in the order given; each row group is read once."""
        import pyarrow as pa

        place = self._place
        at = np.minimum(np.searchsorted(place.ids, ids), max(len(place.ids) - 1, 0))
        lost = np.flatnonzero(place.ids[at] != ids) if len(place.ids) else np.arange(len(ids))
        if lost.size:
            raise DataError(f"there is no row {int(ids[lost[0]])} in {self.directory}")
        size = self.manifest.row_group_rows
        cell = place.shard[at].astype(np.int64) << 32 | place.position[at] // size
        parts, order = [], []
        for key in np.unique(cell):
            mine = np.flatnonzero(cell == key)
            record = self.manifest.shards[int(key >> 32)]
            part = self._read(record, [int(key & 0xFFFFFFFF)], columns)
            parts.append(part.take(place.position[at[mine]] % size))
            order.append(mine)
        if not parts:
            return self._read(self.manifest.shards[0], [], columns)
        return pa.concat_tables(parts).take(np.argsort(np.concatenate(order)))

    @cached_property
    def _place(self) -> _Place:
        ids = [self._read(r, None, ["row_id"])["row_id"].to_numpy() for r in self.manifest.shards]
        every = np.concatenate(ids)
        order = np.argsort(every, kind="stable")
        shard = np.repeat(np.arange(len(ids), dtype=np.int32), [len(i) for i in ids])
        position = np.concatenate([np.arange(len(i)) for i in ids])
        return _Place(every[order], shard[order], position[order])

    # ------------------------------------------------------------------------------------------ counterfactuals

    def counterfactual(self, rows: Any, changes: Mapping[str, str], modality: str, **how: Any) -> Any:
        """The same rows with some cells changed, drawn again: {"hue": "blue"} gives them all a blue object."""
        from spurgen.latents import intervene
        from spurgen.render import draw

        table = self.rows(rows)
        for channel, value in changes.items():
            table = intervene.fix(table, self.spec, channel, value)
        return draw(table, self.spec, modality, **how)


_VERIFY = "`spurgen verify` says what is damaged, and the command that built it mends it"


def open(directory: str | Path) -> Dataset:
    """Open a finished dataset."""
    return Dataset(directory)


def _ids(row_ids: Any) -> Ids:
    values = np.atleast_1d(np.asarray(row_ids))
    if (values.dtype.kind not in "iu" and values.size) or (values.dtype.kind == "i" and (values < 0).any()):
        raise DataError("row ids are whole numbers, 0 or more")
    return values.astype(np.uint64)


def _one_array(column: pa.ChunkedArray) -> pa.Array:
    import pyarrow as pa

    if column.num_chunks == 1:
        return column.chunk(0)
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
