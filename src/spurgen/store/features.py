"""What Hugging Face `datasets` must be told so that the shards open typed: schema metadata, and YAML for the card.

Labels and channels are stored as text, which DuckDB and pandas users can read. `datasets` turns text into ClassLabel
when the card says so (and opens the shards typed through the card); integer codes would need no card, but would
leave everyone else with numbers that mean nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

Features = Mapping[str, Any]


def metadata(features: Features, about: Mapping[str, Any]) -> dict[bytes, bytes]:
    """Metadata for a schema: the features, and which dataset the file belongs to."""
    info = {"info": {"features": features}}
    return {b"huggingface": json.dumps(info).encode(), b"spurgen": json.dumps(about, sort_keys=True).encode()}


def stored(table: pa.Table) -> pa.Table:
    """The table as it goes to disk: names as text."""
    import pyarrow as pa

    for i, column in enumerate(table.schema):
        if pa.types.is_dictionary(column.type):
            table = table.set_column(i, column.name, table.column(i).cast(pa.string()))
    return table.replace_schema_metadata(None)


def named(table: pa.Table, features: Features) -> pa.Table:
    """The reverse of `stored`: text columns of a class become dictionaries of all names, in the spec's order."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for i, name in enumerate(table.column_names):
        feature = features.get(name)
        if isinstance(feature, dict) and feature.get("_type") == "ClassLabel":
            names = pa.array(feature["names"], pa.string())
            codes = pc.index_in(table.column(i).cast(pa.string()), value_set=names)
            chunks = [pa.DictionaryArray.from_arrays(c, names) for c in codes.chunks]
            kind = pa.dictionary(pa.int32(), pa.string())
            table = table.set_column(i, name, pa.chunked_array(chunks, kind))
    return table.replace_schema_metadata(None)


def class_columns(features: Features) -> list[str]:
    """The columns that hold one of a list of names."""
    return [n for n, f in features.items() if isinstance(f, dict) and f.get("_type") == "ClassLabel"]


def to_card(features: Features) -> list[dict[str, Any]]:
    """The features in the form that stands under `dataset_info` in a card's YAML header."""
    return [{"name": name, **_card_entry(feature)} for name, feature in features.items()]


def _card_entry(feature: Any) -> dict[str, Any]:
    if isinstance(feature, list):
        return _card_list("list", feature[0])
    kind = feature.get("_type") if isinstance(feature.get("_type"), str) else None
    rest = {k: v for k, v in feature.items() if k != "_type"}
    if kind is None:
        return {"struct": to_card(feature)}
    if kind == "Value":
        return rest
    if kind in ("List", "LargeList", "Sequence"):
        return _card_list({"List": "list", "LargeList": "large_list", "Sequence": "sequence"}[kind], rest["feature"])
    if kind == "ClassLabel":
        return {"dtype": {"class_label": {"names": {str(i): name for i, name in enumerate(rest["names"])}}}}
    word = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", kind).lower()
    return {"dtype": {word: rest} if rest else word}


def _card_list(word: str, feature: Any) -> dict[str, Any]:
    entry = _card_entry(feature)
    if list(entry) == ["dtype"]:
        return {word: entry["dtype"]}
    return {word: entry["struct"] if list(entry) == ["struct"] else entry}


def yaml(value: Any, indent: int = 0) -> str:
    """Plain data as block YAML; every scalar is written as JSON, which is YAML too."""
    pad = " " * indent
    if isinstance(value, dict) and value:
        return "".join(_yaml_pair(pad, key, item, indent) for key, item in value.items())
    if isinstance(value, list) and value:
        return "".join(f"{pad}- {yaml(item, indent + 2).lstrip()}" for item in value)
    return f"{pad}{json.dumps(value, ensure_ascii=False)}\n"


def _yaml_pair(pad: str, key: str, item: Any, indent: int) -> str:
    word = key if re.fullmatch(r"[A-Za-z_][A-Za-z_0-9]*", key) else json.dumps(key, ensure_ascii=False)
    if isinstance(item, dict | list) and item:
        return f"{pad}{word}:\n{yaml(item, indent + 2)}"
    return f"{pad}{word}: {json.dumps(item, ensure_ascii=False)}\n"
