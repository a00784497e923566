"""Rows for caption tests, made by hand: no spec, no table."""

import numpy as np

from spurgen import seeds
from spurgen.parts import Class, Coded, Rows, Word
from spurgen.render.caption import TRAITS

CLASSES = {
    "mug": Class(("mug", "cup"), {}),
    "hourglass": Class(("hourglass", "egg timer", "sandglass"), {}),
    "arrow": Class(("arrow",), {}),
}
CHANNELS = {
    "background": ("background", {"stripes": "striped", "dots": "dotted", "oaks": "oaken"}),
    "hue": ("adjective", {"red": "red", "orange": "orange", "blue": "blue"}),
    "size": ("adjective", {"small": "small", "huge": "enormous"}),
    "gloss": ("adjective", {"matt": "matt", "uneven": "uneven"}),
    "light": ("phrase", {"left": "in light from the left", "above": "in light from above"}),
    "floor": ("phrase", {"wood": "on a wooden floor", "sand": "on sand"}),
    "camera": ("", {"near": "near", "far": "far"}),
}
NAMES = {trait.name: trait.names for trait in TRAITS}


def rows(n=1, channels=("background", "hue"), seed=0, claims=("truthful",), words=None, **fixed):
    """Rows with channels and traits drawn at random; `fixed` sets template, medium, label or a channel by name."""

    def codes(names, name):
        drawn = seeds.integers(seed, name, np.arange(n), len(names)).astype(np.int32)
        return np.full(n, names.index(fixed[name]), np.int32) if name in fixed else drawn

    traits = {name: Coded(codes(NAMES[name], name), NAMES[name]) for name in ("template", "medium")}
    traits["object_word"] = seeds.integers(seed, "object_word", np.arange(n), 3).astype(np.int32)
    if "object_word" in fixed:
        traits["object_word"][:] = fixed["object_word"]
    traits["claim"] = Coded(codes(claims, "claim"), tuple(claims))
    traits["claim_draw"] = seeds.uniform(seed, "claim_draw", np.arange(n)).astype(np.float32)
    spoken = {}
    for name in channels:
        says, values = CHANNELS[name]
        spoken[name] = Word(says, tuple(values.values()), tuple(values), codes(tuple(values), name))
    label = codes(tuple(CLASSES), "label")
    return Rows(np.arange(n, dtype=np.uint64), traits, tuple(CLASSES.values()), tuple(CLASSES), label, spoken)
