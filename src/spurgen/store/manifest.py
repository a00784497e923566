"""The manifest: what a finished dataset consists of. It is written last, so where it is, the dataset is whole."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from spurgen.errors import DataError
from spurgen.store import atomic, digests, witness
from spurgen.store.layout import BUILD, FORMAT_VERSION, MANIFEST

_STRICT = ConfigDict(extra="forbid", frozen=True, strict=True)
_FILE = re.compile(r"data/[A-Za-z0-9_][A-Za-z0-9_.-]*\.parquet")
Hex = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=0, lt=2**63)]


class Broken(DataError):
    """A manifest that cannot be used, although one was here; shards may still say which dataset it was."""


class ShardRecord(BaseModel):
    """One file: which rows it holds, and what proves it."""

    model_config = _STRICT
    file: str = Field(description="Path inside the dataset.")
    split: str = Field(description="The split its rows belong to.")
    start: Count = Field(description="Position of its first row within the split.")
    rows: Count = Field(description="Number of rows.")
    bytes: Count = Field(description="Size of the file.")
    sha256: Hex = Field(description="SHA-256 of the file's bytes.")
    digests: dict[str, Hex] = Field(description="Column group -> digest of the content of its rows.")


class Totals(BaseModel):
    """Rows and content digests of a split, or of everything."""

    model_config = _STRICT
    rows: Count
    digests: dict[str, Hex]


class Identity(BaseModel):
    """What determines every byte of a dataset: two builds that agree in this write the same files."""

    model_config = _STRICT
    format_version: int = Field(description="Version of this file layout.")
    digest_algorithm: Literal["sum of SHA-256"] = Field(description="How the content of rows is digested.")
    spec_id: str = Field(description="The spec's name and version.")
    spec_digest: str = Field(description="Digest of the spec.")
    seed: Annotated[int, Field(ge=0)] = Field(description="Seed of the rows.")
    rows: Count = Field(description="Rows asked for, all splits together.")
    shard_rows: Annotated[int, Field(gt=0)] = Field(description="Most rows a shard holds.")
    row_group_rows: Annotated[int, Field(gt=0)] = Field(description="Rows per Parquet row group.")
    modalities: dict[str, int] = Field(description="Modality -> version of its drawing.")


class Manifest(Identity):
    """All of it; `files` holds the SHA-256 of the generated files beside the shards."""

    spurgen_version: str = Field(description="The version of SpurGen that wrote it.")
    digest: Hex = Field(description="One digest over the content of all rows.")
    totals: Totals
    splits: dict[str, Totals]
    files: dict[str, Hex]
    shards: list[ShardRecord]

    @property
    def identity(self) -> Identity:
        """The part that two builds of the same dataset share."""
        return Identity(**self.model_dump(include=set(Identity.model_fields)))

    def to_json(self) -> bytes:
        """The file's content; no times, no machine names, so that equal datasets have equal manifests."""
        return (json.dumps(self.model_dump(), indent=1, ensure_ascii=False) + "\n").encode()


def compose(identity: Identity, version: str, files: dict[str, str], shards: list[ShardRecord]) -> Manifest:
    """The manifest of a set of finished shards, with the totals added up."""
    names = dict.fromkeys(s.split for s in shards)
    splits = {split: _total([s for s in shards if s.split == split]) for split in names}
    totals = _total(shards)
    return Manifest(
        **identity.model_dump(),
        spurgen_version=version,
        digest=digests.of_dataset(totals.digests),
        totals=totals,
        splits=splits,
        files=files,
        shards=shards,
    )


def _total(shards: list[ShardRecord]) -> Totals:
    groups = dict.fromkeys(group for shard in shards for group in shard.digests)
    sums = {g: digests.add(digests.from_hex(s.digests[g]) for s in shards if g in s.digests) for g in groups}
    return Totals(rows=sum(s.rows for s in shards), digests={g: digests.to_hex(n) for g, n in sums.items()})


def load(directory: Path) -> Manifest:
    """Read and check the manifest of a finished dataset; every fault is one sentence."""
    path = directory / MANIFEST
    with atomic.looked_at(directory):
        if not path.is_file():
            raise DataError(_absent(directory))
    try:
        content = path.read_bytes()
        _check_version(content, path)
        found = Manifest.model_validate_json(content)
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror or error})") from error
    except (ValueError, ValidationError, RecursionError) as error:
        raise Broken(f"{path} is not a valid manifest ({_first_fault(error)}); {_MEND}") from error
    if not found.shards:
        raise Broken(f"{path} lists no shards, and every dataset has one; {_MEND}")
    _check_files(directory, found, path)
    _check_counts(found, path)
    return found


def save(directory: Path, manifest: Manifest) -> None:
    """Write the manifest in one step; from here on the dataset counts as whole."""
    atomic.write(directory / MANIFEST, manifest.to_json(), directory / BUILD / f"{MANIFEST}.tmp")


_MEND = "`spurgen generate` with the same spec, seed and rows mends it"


def _absent(directory: Path) -> str:
    if not directory.is_dir():
        return f"there is no dataset at {directory}; `spurgen generate PRESET --out {directory}` makes one"
    if (directory / BUILD / "build.json").is_file():
        return (
            f"the dataset in {directory} is not finished; run the command that started it again "
            f"(`spurgen generate … --out {directory}`) and it goes on where it was"
        )
    if witness.is_remains(directory):
        return f"{directory / MANIFEST} is missing; {_MEND}"
    return f"{directory} holds no dataset (no {MANIFEST}); `spurgen generate PRESET --out DIR` makes one"


def _check_version(content: bytes, path: Path) -> None:
    """Before anything else is looked at: manifests of other versions have other fields."""
    data = json.loads(content)
    version = data.get("format_version") if isinstance(data, dict) else None
    if isinstance(version, int) and version != FORMAT_VERSION:
        raise DataError(
            f"{path} has format version {version} and this SpurGen reads {FORMAT_VERSION}; "
            "build the dataset again from its spec, or install the SpurGen that wrote it"
        )


def _check_files(directory: Path, manifest: Manifest, path: Path) -> None:
    counted = Counter(record.file.casefold() for record in manifest.shards)
    for record in manifest.shards:
        name = record.file
        if not _FILE.fullmatch(name) or ".." in name:
            raise Broken(f"{path} names the shard {name[:200]!r}, which is not a file of this dataset; {_MEND}")
        if counted[name.casefold()] > 1:
            raise Broken(f"{path} names the shard {name!r} more than once; {_MEND}")
        if not inside(directory, name):
            raise DataError(f"{directory / name} is a link that leaves the dataset; put the file itself there")
        if record.split not in manifest.splits:
            raise Broken(f"{path} gives {name!r} to the split {record.split[:100]!r}, which it lacks; {_MEND}")


def _check_counts(manifest: Manifest, path: Path) -> None:
    """A manifest that contradicts itself is refused before anyone counts on it."""
    for name, total in [*manifest.splits.items(), ("all splits", manifest.totals)]:
        rows = sum(s.rows for s in manifest.shards if total is manifest.totals or s.split == name)
        if total.rows != rows:
            raise Broken(f"{path} gives {name[:100]} {total.rows} rows, and its shards have {rows}; {_MEND}")
    if manifest.rows != manifest.totals.rows:
        raise Broken(f"{path} speaks of {manifest.rows} rows, and its shards have {manifest.totals.rows}; {_MEND}")


def inside(directory: Path, name: str) -> bool:
    """Whether a path inside the dataset, links followed, stays inside."""
    try:
        return (directory / name).resolve().is_relative_to(directory.resolve())
    except (OSError, RuntimeError):  # a link that leads to itself
        return False


def _first_fault(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first: Any = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        return f"{place}: {first['msg']}"[:200] if place else str(first["msg"])[:200]
    return str(error).splitlines()[0][:200] if str(error) else type(error).__name__
