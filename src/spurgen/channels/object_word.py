"""Which of the words for its class the caption uses."""

from __future__ import annotations

from spurgen.parts import Channel, Value

CHANNEL = Channel(
    name="object_word",
    about="which word for the class the caption uses: mug, cup or tankard",
    values={name: Value(name, {"object_word": i}) for i, name in enumerate(("first", "second", "third"))},
    touches={"caption": "object"},
)
