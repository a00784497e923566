"""A glyph stamped on the bottom right corner."""

from __future__ import annotations

from spurgen.parts import Channel, Value

CHANNEL = Channel(
    name="watermark",
    about="glyph in the bottom right corner",
    values={
        "none": Value("without a watermark", {"watermark": "none"}),
        "circle": Value("with a round watermark", {"watermark": "circle"}),
        "square": Value("with a square watermark", {"watermark": "square"}),
        "triangle": Value("with a triangular watermark", {"watermark": "triangle"}),
        "star": Value("with a star-shaped watermark", {"watermark": "star"}),
        "cross": Value("with a cross-shaped watermark", {"watermark": "cross"}),
        "bars": Value("with a barred watermark", {"watermark": "bars"}),
    },
    says="phrase",
    touches={"image": "corner"},
)
