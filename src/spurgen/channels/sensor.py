"""What the camera's sensor does to the picture."""

from __future__ import annotations

from spurgen.parts import Channel, Value

CHANNEL = Channel(
    name="sensor",
    about="what the sensor does to the picture",
    values={
        "clean": Value("in clear focus", {"sensor": "clean"}),
        "grain": Value("with visible grain", {"sensor": "grain"}),
        "blur": Value("out of focus", {"sensor": "blur"}),
        "banding": Value("with colour banding", {"sensor": "banding"}),
        "scanlines": Value("with scan lines", {"sensor": "scanlines"}),
    },
    says="phrase",
    touches={"image": "everywhere"},
)
