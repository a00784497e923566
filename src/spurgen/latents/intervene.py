"""Interventions: each edits the column of one channel and returns a new table; every nuisance stays as it was."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spurgen import seeds
from spurgen.errors import SpurgenError, UnknownName, unknown
from spurgen.latents.traits import column_codes
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
    return _replace(table, channel, codes, values)


def fix(table: pa.Table, spec: World, channel: str, value: str) -> pa.Table:
    """Every row gets the same attribute."""
    values = _values(spec, channel)
    return _replace(table, channel, np.full(len(table), _position(channel, value, values)), values)


def align(table: pa.Table, spec: World, channels: Channels = None) -> pa.Table:
    """Every row gets the attribute that belongs to its label; in all channels unless some are named."""
    for channel in _several(spec, channels):
        aligned = np.array(spec.aligned(channel))[column_codes(table, "label", spec.classes)]
        table = _replace(table, channel, aligned, _values(spec, channel))
    return table


def conflict(table: pa.Table, spec: World, channels: Channels = None, seed: int = 0, draw: int = 0) -> pa.Table:
    """Every row gets an attribute that belongs to another class and not to its own, each equally likely."""
    label = column_codes(table, "label", spec.classes)
    for channel in _several(spec, channels):
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
        table = _replace(table, channel, padded[label, pick], _values(spec, channel))
    return table


def randomise(table: pa.Table, spec: World, channels: Channels = None, seed: int = 0, draw: int = 0) -> pa.Table:
    """Every channel (or those named) is drawn uniformly, independently of everything else."""
    for channel in _several(spec, channels):
        values = _values(spec, channel)
        codes = seeds.integers(seed, f"intervene/randomise/{channel}/{draw}", _ids(table), len(values))
        table = _replace(table, channel, codes, values)
    return table


def set_cell(table: pa.Table, spec: World, row_id: int, channel: str, value: str) -> pa.Table:
    """One row gets one attribute."""
    values = _values(spec, channel)
    where = _ids(table) == np.uint64(row_id)
    if not where.any():
        raise SpurgenError(f"the table has no row {row_id}")
    codes = np.where(where, _position(channel, value, values), column_codes(table, channel, values))
    return _replace(table, channel, codes, values)


def every_value(table: pa.Table, spec: World, channel: str) -> pa.Table:
    """Each row once with every attribute of the channel: row by row, attributes in the order of the spec."""
    values = _values(spec, channel)
    repeated = table.take(np.repeat(np.arange(len(table)), len(values)))
    return _replace(repeated, channel, np.tile(np.arange(len(values)), len(table)), values)


def _several(spec: World, channels: Channels) -> list[str]:
    if channels is None:
        return list(spec.channels)
    return [channels] if isinstance(channels, str) else list(channels)


def _values(spec: World, channel: str) -> tuple[str, ...]:
    if channel not in spec.channels:
        raise UnknownName(unknown("channel", channel, spec.channels) + f" in {spec.id}")
    return spec.values(channel)


def _position(channel: str, value: str, values: tuple[str, ...]) -> int:
    if value not in values:
        raise UnknownName(unknown(f"value of channel {channel!r},", value, values))
    return values.index(value)


def _ids(table: pa.Table) -> NDArray[np.uint64]:
    return table.column("row_id").to_numpy().astype(np.uint64)


def _replace(table: pa.Table, channel: str, codes: Any, values: tuple[str, ...]) -> pa.Table:
    import pyarrow as pa

    if channel not in table.column_names:
        raise SpurgenError(f"the table has no column {channel!r}, which the spec says it has")
    column = pa.DictionaryArray.from_arrays(pa.array(np.asarray(codes, np.int32)), pa.array(values, pa.string()))
    return table.set_column(table.column_names.index(channel), channel, column)
