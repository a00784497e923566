"""Table -> Rows: for every trait a modality consumes, what each row shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spurgen.errors import DataError
from spurgen.parts import Choice, Coded, Constant, Distribution, Integers, Modality, Rows, Trait, Word
from spurgen.spec.world import World

if TYPE_CHECKING:
    import pyarrow as pa


def rows(table: pa.Table, spec: World, modality: Modality) -> Rows:
    """Resolve the traits of a modality: from the class, from a channel, from a nuisance column, or constant."""
    label = shown(table, "label", spec.classes)
    attributes = {name: shown(table, name, spec.values(name)) for name in spec.channels}
    varying = spec.varying
    traits = {trait.name: _trait(trait, table, spec, label, attributes, varying) for trait in modality.traits}
    words = {
        name: Word(
            says=spec.channel(name).says,
            words=tuple(v.word for v in spec.channel(name).values.values()),
            names=spec.values(name),
            codes=codes,
        )
        for name, codes in attributes.items()
    }
    ids = _column(table, "row_id").to_numpy(zero_copy_only=False).astype(np.uint64)
    return Rows(ids, traits, spec.class_parts, tuple(spec.classes), label, words)


def shown(table: pa.Table, name: str, names: Any) -> NDArray[np.int32]:
    """What the rows show in a column: its `_shown` override where there is one, otherwise the column itself."""
    codes = column_codes(table, name, names)
    override = f"{name}_shown"
    if override in table.column_names:
        shown_codes = column_codes(table, override, names, allow_null=True)
        codes = np.where(shown_codes >= 0, shown_codes, codes)
    return codes


def column_codes(table: pa.Table, name: str, names: Any, allow_null: bool = False) -> NDArray[np.int32]:
    """A textual column as positions in `names`; null is -1. Foreign values are an error, not a wrong picture."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = _column(table, name)
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if not pa.types.is_dictionary(column.type):
        column = column.cast(pa.string()).dictionary_encode()
    known = {n: i for i, n in enumerate(names)}
    dictionary = column.dictionary.to_pylist()
    indices = pc.fill_null(column.indices, -1).to_numpy(zero_copy_only=False).astype(np.int64)
    translate = np.array([known.get(n, -2) for n in dictionary] + [-1], np.int32)  # index -1 is the last: null
    codes = translate[indices]
    if (codes == -2).any():
        bad = dictionary[int(indices[np.argmax(codes == -2)])]
        raise DataError(f"column {name!r} holds {bad!r}, which the spec does not know")
    if not allow_null and (codes < 0).any():
        raise DataError(f"column {name!r} has an empty cell; every row needs a value there")
    return codes


def _column(table: pa.Table, name: str) -> Any:
    at = table.schema.get_field_index(name)
    if at < 0:
        raise DataError(f"the table has no column {name!r}, which the spec says it has")
    return table.column(at)


def _trait(
    trait: Trait, table: pa.Table, spec: World, label: Any, attributes: Any, varying: dict[str, Distribution]
) -> NDArray[Any] | Coded:
    if any(trait.name in part.traits for part in spec.class_parts):
        return _looked_up(trait, [part.traits.get(trait.name) for part in spec.class_parts], label)
    for name in spec.channels:
        values = spec.channel(name).values.values()
        if any(trait.name in value.traits for value in values):
            return _looked_up(trait, [value.traits.get(trait.name) for value in values], attributes[name])
    law = varying[trait.name]
    if isinstance(law, Constant):
        return _looked_up(trait, [law.value], np.zeros(len(label), np.int32))
    if isinstance(law, Choice):
        return Coded(column_codes(table, trait.name, law.names), law.names)
    return _column(table, trait.name).to_numpy(zero_copy_only=False).astype(_dtype(trait))


def _looked_up(trait: Trait, settings: list[Any], codes: NDArray[np.int32]) -> NDArray[Any] | Coded:
    default = trait.distribution.value if isinstance(trait.distribution, Constant) else None
    settings = [default if s is None else s for s in settings]
    if isinstance(settings[0], str):
        return Coded(codes, tuple(settings))
    return np.array(settings, _dtype(trait))[codes]


def _dtype(trait: Trait) -> Any:
    return np.int32 if isinstance(trait.distribution, Integers) else np.float32
