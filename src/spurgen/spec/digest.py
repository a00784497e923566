"""One name for everything that determines the rows of a world."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spurgen.spec.world import World


LATENTS_VERSION = 1  # changes whenever a table of latents would come out differently for the same spec


def digest(spec: World) -> str:
    """BLAKE2b over the spec, the traits behind its names and the versions of what samples and draws."""
    text = json.dumps(ingredients(spec), sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def ingredients(spec: World) -> dict[str, Any]:
    """All that the digest covers, as plain data: what follows from the spec, not how it was written down.

    The number of rows and the seed are not part of it; a dataset's manifest has them beside the digest.
    """
    from spurgen.spec.tables import coupling, table

    laws = {
        environment: {
            name: [coupling(spec, environment, name).follows, table(spec, environment, name).tolist()]
            for name in spec.channels
        }
        for environment in spec.environments
    }
    noise = spec.noise.model_dump(mode="json")
    classes = zip(spec.classes, spec.class_parts, strict=True)
    return {
        "latents": LATENTS_VERSION,
        "id": spec.id,
        "sampling": spec.sampling,
        # lists where the order matters, because JSON's keys are sorted
        "classes": [[name, part.words, dict(part.traits)] for name, part in classes],
        "class_shares": [spec.class_shares.get(name, 1.0) for name in spec.classes],
        "splits": [[name, split.share, split.weights] for name, split in spec.splits.items()],
        "channels": [[name, _channel(spec, name)] for name in spec.channels],
        "environments": [[name, laws[name]] for name in spec.environments],
        "nuisances": {name: repr(law) for name, law in spec.varying.items()},
        "noise": noise | {knob: {k: p for k, p in noise[knob].items() if p} for knob in ("signal", "annotation")},
        "modalities": {p.name: [p.version, spec.options(p.name).model_dump(mode="json")] for p in spec.parts},
    }


def _channel(spec: World, name: str) -> dict[str, Any]:
    values = [[value, part.word, dict(part.traits)] for value, part in spec.channel(name).values.items()]
    return {"values": values, "aligned": spec.aligned(name), "says": spec.channel(name).says}
