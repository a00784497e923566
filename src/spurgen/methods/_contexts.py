"""What a group's name says besides the label: groups may or may not be made of the label too."""

from __future__ import annotations

from collections.abc import Sequence

_LABEL = "label="


def contexts(groups: Sequence[str]) -> list[int]:
    """A number for each group; groups whose names differ in nothing but the label share one.

    "label=mug,hue=red" and "label=star,hue=red" are both the context "hue=red"; a name without a label is its own
    context.
    """
    seen: dict[tuple[str, ...], int] = {}
    words = (tuple(word for word in name.split(",") if not word.startswith(_LABEL)) for name in groups)
    return [seen.setdefault(name, len(seen)) for name in words]
