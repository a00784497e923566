"""Interventions: each edits the column of one channel and returns a new table; every nuisance stays as it was."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spurgen import seeds
from spurgen.errors import SpurgenError, UnknownName, unknown
from spurgen.latents.traits import column_codes, shown
from spurgen.spec.world import World

if TYPE_CHECKING:
    import pyarrow as pa

Channels = str | Iterable[str] | None


def shuffle(table: pa.Table, spec: World, channel: str, seed: int = 0, draw: int = 0) -> pa.Table:
    """Every row gets an attribute drawn uniformly from all of the channel's, its own included.

    `draw` numbers independent draws under one seed.
    """
    values = _values(spec, channel)
    codes = seeds.integers(seed, f"intervene/shuffle/{channel}/{draw}", _ids(table), len(values))
    return replace(table, channel, codes, values)


def fix(table: pa.Table, spec: World, channel: str, value: str) -> pa.Table:
    """Every row gets the same attribute."""
    values = _values(spec, channel)
    return replace(table, channel, np.full(len(table), _position(channel, value, values)), values)


def align(table: pa.Table, spec: World, channels: Channels = None) -> pa.Table:
    """Every row gets the attribute that belongs to its label; in all channels unless some are named."""
    for channel in _several(spec, channels):
        values = _values(spec, channel)
        aligned = np.array(spec.aligned(channel))[column_codes(table, "label", spec.classes)]
        table = replace(table, channel, aligned, values)
    return table


def conflict(table: pa.Table, spec: World, channels: Channels = None, seed: int = 0, draw: int = 0) -> pa.Table:
    """Every row gets an attribute that belongs to another class and not to its own, each equally likely."""
    label = column_codes(table, "label", spec.classes)
    for channel in _several(spec, channels):
        values = _values(spec, channel)
        aligned = np.array(spec.aligned(channel))
        options = [np.unique(aligned[aligned != own]) for own in aligned]
        if any(o.size == 0 for o in options):
            raise SpurgenError(
                f"channel {channel!r} cannot conflict: "
                f"all classes share the attribute {spec.values(channel)[aligned[0]]!r}"
            )
        width = max(o.size for o in options)
        padded = np.array([np.resize(o, width) for o in options])
        sizes = np.array([o.size for o in options])
        pick = seeds.integers(seed, f"intervene/conflict/{channel}/{draw}", _ids(table), sizes[label])
        table = replace(table, channel, padded[label, pick], values)
    return table


def randomise(table: pa.Table, spec: World, channels: Channels = None, seed: int = 0, draw: int = 0) -> pa.Table:
    """Every channel (or those named) is drawn uniformly, independently of everything else."""
    for channel in _several(spec, channels):
        values = _values(spec, channel)
        codes = seeds.integers(seed, f"intervene/randomise/{channel}/{draw}", _ids(table), len(values))
        table = replace(table, channel, codes, values)
    return table


def set_cell(table: pa.Table, spec: World, row_id: int, channel: str, value: str) -> pa.Table:
    """One row gets one attribute."""
    values = _values(spec, channel)
    where = _ids(table) == np.uint64(seeds.whole("row_id", row_id, 0, 2**64 - 1))
    if not where.any():
        raise SpurgenError(f"the table has no row {row_id}")
    return replace(table, channel, _position(channel, value, values), values, where)


def every_value(table: pa.Table, spec: World, channel: str) -> pa.Table:
    """Each row once with every attribute of the channel: row by row, attributes in the order of the spec."""
    values = _values(spec, channel)
    repeated = table.take(np.repeat(np.arange(len(table)), len(values)))
    return replace(repeated, channel, np.tile(np.arange(len(values)), len(table)), values)


def _several(spec: World, channels: Channels) -> list[str]:
    if channels is None:
        return list(spec.channels)
    return [channels] if isinstance(channels, str) else list(channels)


def _values(spec: World, channel: str) -> tuple[str, ...]:
    if channel not in spec.channels:
        raise UnknownName(unknown("channel", channel, spec.channels, spec.id))
    return spec.values(channel)


def _position(channel: str, value: str, values: tuple[str, ...]) -> int:
    if value not in values:
        raise UnknownName(unknown(f"value of channel {channel!r},", value, values))
    return values.index(value)


def _ids(table: pa.Table) -> NDArray[np.uint64]:
    return table.column("row_id").to_numpy().astype(np.uint64)


def another(table: pa.Table, spec: World, channel: str) -> pa.Table:
    """Every row gets the attribute that follows, in the order of the spec, the one it shows."""
    values = _values(spec, channel)
    if len(values) < 2:
        raise SpurgenError(f"channel {channel!r} has one value only, so there is no other")
    return replace(table, channel, (shown(table, channel, values) + 1) % len(values), values)


def replace(table: pa.Table, channel: str, codes: Any, values: tuple[str, ...], where: Any = True) -> pa.Table:
    """Write attributes into a channel's column: the one edit that every intervention is made of.

    Noise is about how a row came to be seen; an edited cell is known. So the rows that are edited (those in `where`)
    show what they say, `<channel>_shown` is emptied there, and their annotation says so too.
    """
    import pyarrow as pa

    if channel not in table.column_names:
        raise SpurgenError(f"the table has no column {channel!r}, which the spec says it has")
    known = {channel: codes, f"{channel}_shown": -1, f"{channel}_annotated": codes}
    for name in known.keys() & set(table.column_names):
        kept = -1 if where is True else column_codes(table, name, values, allow_null=True)
        cells = np.broadcast_to(np.where(where, known[name], kept), len(table)).astype(np.int32)
        column = pa.DictionaryArray.from_arrays(pa.array(cells, mask=cells < 0), pa.array(values, pa.string()))
        table = table.set_column(table.column_names.index(name), name, column)
    return table
