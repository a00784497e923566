"""Columns of a table of latents as arrays: names as positions in the order of the spec, numbers as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spurgen.errors import DataError, UnknownName, unknown
from spurgen.latents.traits import column_codes, shown
from spurgen.parts import Choice, Integers

if TYPE_CHECKING:
    import pyarrow as pa

    from spurgen.spec import World


@dataclass(frozen=True, eq=False)
class Column:
    """One column: `values` are positions in `names`, or plain numbers where `names` is None."""

    values: NDArray[Any]
    names: tuple[str, ...] | None = None

    def item(self, row: int) -> str | int | float:
        """The value of one row in plain Python."""
        value = self.values[row].item()
        return value if self.names is None else self.names[value]


def read(table: pa.Table, spec: World | None, name: str) -> Column:
    """A column of the table; an empty `_shown` cell reads as what the row says, because that is what it shows."""
    import pyarrow as pa

    if name not in table.column_names:
        raise UnknownName(unknown("column", name, table.column_names))
    kind = table.schema.field(name).type
    if not (pa.types.is_dictionary(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        values = table.column(name).to_numpy()
        if values.dtype == object or table.column(name).null_count:
            raise DataError(
                f"column {name!r} has empty cells or is neither text nor a number, so rows cannot be read by it"
            )
        return Column(values)
    names = ordered_names(table, spec, name)
    base = name.removesuffix("_shown")
    codes = (
        shown(table, base, names) if base != name and base in table.column_names else column_codes(table, name, names)
    )
    return Column(codes.astype(np.int64), names)


def ordered_names(table: pa.Table, spec: World | None, name: str) -> tuple[str, ...]:
    """What may stand in a textual column, in the order of the spec; by alphabet where no spec speaks of it."""
    known = spec_names(spec, name) if spec is not None else None
    if known is not None:
        return known
    import pyarrow as pa

    column = table.column(name)
    if pa.types.is_dictionary(column.type):
        found = {n for chunk in column.chunks for n in chunk.dictionary.to_pylist()}
        ordered = column.chunk(0).dictionary.to_pylist() if column.num_chunks else []
        return tuple(ordered) if set(ordered) == found else tuple(sorted(found))
    return tuple(sorted(n for n in column.unique().to_pylist() if n is not None))


def spec_names(spec: World, name: str) -> tuple[str, ...] | None:
    """The names that the spec allows in a column, in order; None for numbers and columns it does not know."""
    base = name.removesuffix("_shown").removesuffix("_annotated")
    if base == "label":
        return tuple(spec.classes)
    if base in spec.channels:
        return tuple(spec.values(base))
    if name == "split":
        return tuple(spec.splits)
    if name == "environment":
        return tuple(spec.environments)
    law = spec.varying.get(name)
    return law.names if isinstance(law, Choice) else None


def whole_numbers(spec: World | None, name: str) -> range | None:
    """The whole numbers that the spec allows in a column."""
    law = spec.varying.get(name) if spec is not None else None
    return range(law.low, law.high + 1) if isinstance(law, Integers) else None


def target(table: pa.Table, spec: World, name: str | None = None) -> Column:
    """What a learner is to predict, as positions in a list of names.

    Without a name it is what an annotator wrote down: `label_annotated` where labels are noisy, otherwise `label`.
    "label" is always the truth; a channel's name makes that channel the target.
    """
    if name is None:
        name = "label_annotated" if "label_annotated" in table.column_names else "label"
    column = read(table, spec, name)
    if column.names is None:
        raise DataError(f"column {name!r} holds numbers and cannot be a target; take the label or a channel")
    return column
