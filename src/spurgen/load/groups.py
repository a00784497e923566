"""Groups of rows, keyed by names and never by position: which shortcuts hold in a row, or any crossing of columns."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from spurgen.errors import SpurgenError, UnknownName, unknown
from spurgen.load import columns

if TYPE_CHECKING:
    import pyarrow as pa

    from spurgen.spec import World

ALIGNED = ":aligned"
EVERYTHING = "all"
MOST = 1 << 16  # more names than this is a slip: no dataset could fill so many groups

Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Groups:
    """For each row the position of its group in `names`; every group has a name, also those without rows.

    `keys` says what groups are made of: "background:aligned" for aligned or not, "label" for the column itself;
    `words` what a group's name says of each. Names are spelt out when asked for: many channels make very many.
    """

    keys: tuple[str, ...]
    words: tuple[tuple[str, ...], ...]
    codes: Codes

    def __len__(self) -> int:
        return math.prod(len(words) for words in self.words)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of all groups; the first key varies slowest."""
        if len(self) > MOST:
            raise SpurgenError(
                f"grouping by {', '.join(self.keys)} makes more than {MOST} groups; group by fewer columns"
            )
        return tuple(",".join(words) for words in product(*self.words)) if self.keys else (EVERYTHING,)

    @cached_property
    def counts(self) -> Codes:
        """Rows in each group, in the order of the names."""
        return np.bincount(self.codes, minlength=len(self.names)).astype(np.int64)

    @property
    def sizes(self) -> dict[str, int]:
        """Rows in each group by name."""
        return dict(zip(self.names, self.counts.tolist(), strict=True))

    def position(self, name: str) -> int:
        """Where a group stands among the names."""
        if name not in self._positions:
            raise UnknownName(unknown("group", name, self.names))
        return self._positions[name]

    def rows(self, name: str) -> Codes:
        """The positions of the rows of one group."""
        return np.flatnonzero(self.codes == self.position(name))

    def take(self, rows: NDArray[np.integer]) -> Groups:
        """The same groups for some of the rows."""
        return Groups(self.keys, self.words, self.codes[rows])

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}


def group(
    table: pa.Table, spec: World | None = None, by: str | Iterable[str] | None = None, annotated: bool = False
) -> Groups:
    """Sort the rows of a table into groups.

    Unless `by` says otherwise, a group is a pattern of aligned / not aligned over all channels of the spec:
    "background:aligned,hue:not". `by` lists columns ("label=mug,background=dots") and `<channel>:aligned`, in any
    mixture, also as one string with commas. The first key varies slowest. With `annotated`, labels and channels
    count as an annotator noted them, where the table has such a column.
    """
    keys = _keys(spec, by)
    codes = np.zeros(table.num_rows, np.int64)
    words = []
    for key in keys:
        spoken, values = _part(table, spec, key, annotated)
        codes = codes * len(spoken) + values
        words.append(spoken)
    if math.prod(map(len, words)) > 1 << 62:
        raise SpurgenError(f"grouping by {', '.join(keys)} makes too many groups to be counted; group by fewer columns")
    return Groups(keys, tuple(words), codes)


def _keys(spec: World | None, by: str | Iterable[str] | None) -> tuple[str, ...]:
    if by is None:
        if spec is None:
            raise SpurgenError(
                "without a spec it is not known which attributes are aligned; say what to group by (by=…)"
            )
        return tuple(channel + ALIGNED for channel in spec.channels)
    keys = tuple(k.strip() for k in by.split(",") if k.strip()) if isinstance(by, str) else tuple(by)
    if isinstance(by, str) and not keys:
        raise SpurgenError("there is nothing to group by; name columns, such as label,background, or leave it out")
    for key in keys:
        if keys.count(key) > 1:
            raise SpurgenError(f"groups are to be made by {key!r} twice; name it once")
    return keys


def _part(table: pa.Table, spec: World | None, key: str, annotated: bool) -> tuple[tuple[str, ...], Codes]:
    """What a group's name says for each value of one key, and the value each row has."""
    channel = key.removesuffix(ALIGNED)
    if channel != key:
        return _alignment(table, spec, channel, annotated)
    if key not in table.column_names:
        channels = list(spec.channels) if spec is not None else []
        known = [*table.column_names, *(c + ALIGNED for c in channels)]
        raise UnknownName(unknown("column to group by", key, known))
    column = columns.read(table, spec, _noted(table, key) if annotated else key)
    if column.names is not None:
        return tuple(f"{key}={name}" for name in column.names), column.values
    spread = columns.whole_numbers(spec, key)
    if column.values.dtype.kind not in "iub" or key == "row_id" or (spread is not None and len(spread) > MOST):
        raise SpurgenError(
            f"column {key!r} is different in nearly every row, so it makes no groups; group by a channel"
        )
    levels = np.unique(column.values) if spread is None else np.array(spread)
    return tuple(f"{key}={v}" for v in levels.tolist()), np.searchsorted(levels, column.values).astype(np.int64)


def _alignment(table: pa.Table, spec: World | None, channel: str, annotated: bool) -> tuple[tuple[str, ...], Codes]:
    if spec is None or channel not in spec.channels:
        raise UnknownName(unknown("channel", channel, spec.channels if spec is not None else ()))
    label, attribute = (_noted(table, c) if annotated else c for c in ("label", channel))
    aligned = np.array(spec.aligned(channel), np.int64)[columns.read(table, spec, label).values]
    codes = (columns.read(table, spec, attribute).values != aligned).astype(np.int64)
    return (f"{channel}:aligned", f"{channel}:not"), codes


def _noted(table: pa.Table, name: str) -> str:
    """The column that holds what an annotator says, where there is one."""
    noted = f"{name}_annotated"
    return noted if noted in table.column_names else name
