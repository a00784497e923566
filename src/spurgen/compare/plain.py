"""Decisions as plain data for JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def plain(data: Any) -> Any:
    """Tuples as lists, keys as text, and numbers that JSON has no word for as None."""
    if isinstance(data, Mapping):
        return {str(key): plain(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [plain(value) for value in data]
    if isinstance(data, float) and not math.isfinite(data):
        return None
    return data
