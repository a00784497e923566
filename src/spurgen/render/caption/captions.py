"""A batch of captions: texts and, for each, which words speak of what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, overload

import pyarrow as pa
import pyarrow.compute as pc

SPAN = pa.struct(
    [
        ("start", pa.int32()),
        ("end", pa.int32()),
        ("refers_to", pa.string()),
        ("value", pa.string()),
        ("truthful", pa.bool_()),
    ]
)
SPANS = pa.list_(SPAN)


class Span(NamedTuple):
    """Characters start to end of a caption say `value` about `refers_to`: a channel, or "label"."""

    start: int
    end: int
    refers_to: str
    value: str
    truthful: bool


class Caption(NamedTuple):
    """One caption and its marks, in the order of the words."""

    text: str
    spans: tuple[Span, ...]


@dataclass(frozen=True, eq=False)
class Captions:
    """Captions of many rows as two Arrow columns; indexing gives a Caption, slicing gives Captions."""

    text: pa.StringArray
    spans: pa.ListArray

    @classmethod
    def of(cls, text: Any, spans: Any) -> Captions:
        """Captions from columns as they are stored, whatever their chunks and the names inside their types."""
        return cls(_one(text, pa.string()), _one(spans, SPANS))

    def __len__(self) -> int:
        return len(self.text)

    @overload
    def __getitem__(self, which: int) -> Caption: ...
    @overload
    def __getitem__(self, which: slice) -> Captions: ...
    def __getitem__(self, which: int | slice) -> Caption | Captions:
        if isinstance(which, slice):
            return Captions(self.text[which], self.spans[which])
        spans = self.spans[which].as_py()
        return Caption(self.text[which].as_py(), tuple(Span(**span) for span in spans))

    def __iter__(self) -> Iterator[Caption]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Captions):
            return NotImplemented
        return bool(self.text.equals(other.text) and self.spans.equals(other.spans))

    __hash__ = None  # type: ignore[assignment]

    @property
    def texts(self) -> list[str]:
        """The captions as plain strings."""
        return self.text.to_pylist()

    @cached_property
    def contents(self) -> list[bytes]:
        """Text and marks of each caption, one mark per line, as bytes that digests are made of."""
        marks = self.spans.flatten()
        fields = [pc.cast(marks.field(name), pa.string()) for name in SPAN.names]
        lines = pc.binary_join_element_wise(*fields, "\t")
        counts = pc.list_value_length(self.spans).to_numpy(zero_copy_only=False)
        per_row = pa.ListArray.from_arrays(_offsets(counts), lines)
        joined = pc.binary_join_element_wise(self.text, pc.binary_join(per_row, "\n"), "\n")
        return pc.cast(joined, pa.binary()).to_pylist()


def _offsets(counts: Any) -> pa.Array:
    import numpy as np

    return pa.array(np.concatenate([[0], np.cumsum(counts)]), pa.int32())


def _one(column: Any, kind: pa.DataType) -> Any:
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    return column if column.type.equals(kind) else column.cast(kind)
