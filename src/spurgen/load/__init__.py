"""Rows of a dataset, or of a world that is drawn on demand, as labelled batches; imports no framework by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spurgen.load.groups import Groups, group

if TYPE_CHECKING:
    from spurgen.load.rows import Rows, open_rows
    from spurgen.load.torch import Batches, OnTheFly, SpurgenDataset, collate
    from spurgen.load.wilds import WildsDataset

_LATER = {
    "Rows": "rows",
    "open_rows": "rows",
    "Batches": "torch",
    "OnTheFly": "torch",
    "SpurgenDataset": "torch",
    "collate": "torch",
    "WildsDataset": "wilds",
}

__all__ = [
    "Batches",
    "Groups",
    "OnTheFly",
    "Rows",
    "SpurgenDataset",
    "WildsDataset",
    "collate",
    "group",
    "open_rows",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
