"""Where the names in a spec are looked up: channels, modalities, classes, presets."""

from __future__ import annotations

from collections.abc import Mapping

from spurgen.parts import Channel, Class, Modality
from spurgen.registry import Registry

CHANNELS: Registry[Channel] = Registry("channel", "spurgen.channels", "CHANNEL")
MODALITIES: Registry[Modality] = Registry("modality", "spurgen.render", "MODALITY")


def classes() -> Mapping[str, Class]:
    """Every class there is, by name."""
    import importlib

    return importlib.import_module("spurgen.classes").CLASSES
