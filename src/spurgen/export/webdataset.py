"""WebDataset: tar files of `{row_id}.png`, `.txt`, `.cls` and `.json`, for streaming.

`.cls` is the label that a learner is told, so `label_annotated` where labels are noisy; `.json` has the true one too.
"""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spurgen.export import Format, Tick, blob_columns, class_names, rows, safe, suffix, target_column

if TYPE_CHECKING:
    from spurgen.store.reader import Dataset

ROWS_PER_TAR = 1000


def write(dataset: Dataset, out: Path, tick: Tick) -> None:
    """Each split as `{split}-000000.tar` and so on; the same dataset gives the same bytes."""
    names = class_names(dataset)
    codes = {name: i for i, name in enumerate(names["label"])}
    for split in dataset.splits:
        stream = rows(dataset, split, tick)
        for number, first in enumerate(stream):
            with tarfile.open(out / f"{safe(split)}-{number:06d}.tar", "w", format=tarfile.USTAR_FORMAT) as tar:
                for row in chain([first], islice(stream, ROWS_PER_TAR - 1)):
                    for ending, content in _files(dataset, row, codes):
                        _add(tar, f"{row['row_id']:08d}.{ending}", content)
    (out / "classes.json").write_text(json.dumps(names, indent=1, ensure_ascii=False) + "\n", "utf-8")


def _files(dataset: Dataset, row: dict[str, Any], codes: dict[str, int]) -> Iterator[tuple[str, bytes]]:
    blobs = blob_columns(dataset)
    for name in blobs:
        if row[name] is not None:
            yield suffix(row[name]), row[name]
    if isinstance(row.get("caption"), str):
        yield "txt", row["caption"].encode()
    yield "cls", str(codes[row[target_column(dataset)]]).encode()
    plain = {k: v for k, v in row.items() if k not in blobs}
    yield "json", json.dumps(plain, ensure_ascii=False).encode()


def _add(tar: Any, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)  # time, owner and group stay 0
    entry.size = len(content)
    entry.mode = 0o644
    tar.addfile(entry, io.BytesIO(content))


EXPORT = Format("webdataset", "tar files for streaming, read by the webdataset library", write)
