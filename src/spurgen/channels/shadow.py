"""How shadows fall."""

from __future__ import annotations

from spurgen.parts import Channel, Value

CHANNEL = Channel(
    name="shadow",
    about="how shadows fall",
    values={
        "soft": Value("with soft shadows", {"shadow": "soft"}),
        "hard": Value("with hard shadows", {"shadow": "hard"}),
        "none": Value("without shadows", {"shadow": "none"}),
    },
    says="phrase",
    touches={"image": "everywhere"},
)
