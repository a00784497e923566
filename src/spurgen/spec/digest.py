"""One name for everything that determines the rows of a world."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spurgen.spec.world import World


def digest(spec: World) -> str:
    """BLAKE2b over the spec, the traits behind its names and the versions of its modalities; not its description."""
    text = json.dumps(ingredients(spec), sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def ingredients(spec: World) -> dict[str, Any]:
    """All that the digest covers, as plain data; options left at their default are written out."""
    data = spec.model_dump(mode="json", exclude={"description"})
    data["options"] = {name: spec.options(name).model_dump(mode="json") for name in spec.modalities}
    data["classes"] = {
        name: {"words": part.words, "traits": dict(part.traits)}
        for name, part in zip(spec.classes, spec.class_parts, strict=True)
    }
    # JSON's keys are sorted below, but rows depend on these orders
    data["order"] = [list(spec.splits), list(spec.environments), [[c, spec.values(c)] for c in spec.channels]]
    data["attributes"] = {
        c: {name: {"word": value.word, "traits": dict(value.traits)} for name, value in spec.channel(c).values.items()}
        for c in spec.channels
    }
    data["modalities"] = {
        part.name: {"version": part.version, "traits": {t.name: repr(t.distribution) for t in part.traits}}
        for part in spec.parts
    }
    return data
