"""Whether the caption tells the truth about the row, and what it is wrong about when it does not.

A caption can only be wrong about what it speaks of: name, in the spec, the values whose channels the spec has.
"""

from __future__ import annotations

from spurgen.parts import Channel, Value

ABOUT = ("object", "background", "hue", "light", "material", "size", "position")

CHANNEL = Channel(
    name="claim",
    about="what the caption is wrong about, if anything",
    values={name: Value(name, {"claim": name}) for name in ("truthful", *(f"wrong_{thing}" for thing in ABOUT))},
    touches={"caption": "everywhere"},
)
