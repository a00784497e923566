"""The form of the caption: active, passive, a question, a list of tags …"""

from __future__ import annotations

from spurgen.parts import Channel, Value

NAMES = (
    "photo_of",
    "active",
    "passive",
    "question",
    "telegraphic",
    "dialogue",
    "tags",
    "exclamation",
    "existence",
    "cleft",
    "catalogue",
    "request",
    "setting_first",
    "negation",
    "hearsay",
    "first_person",
    "command",
    "alt_text",
)

CHANNEL = Channel(
    name="template",
    about="form of the caption's sentence",
    values={name: Value(name.replace("_", " "), {"template": name}) for name in NAMES},
    touches={"caption": "everywhere"},
)
