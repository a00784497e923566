"""Draws modalities: a table of latents in, pictures or captions or sounds out. Nothing else goes in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spurgen.errors import SpecError, UnknownName, unknown
from spurgen.latents.traits import rows
from spurgen.spec.known import MODALITIES
from spurgen.spec.world import World
from spurgen.verb import callable_package

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["MODALITIES", "draw"]


def draw(table: pa.Table, spec: World, modality: str, **how: Any) -> Any:
    """The rows of a table as one modality shows them; `how` goes to the modality (`device="cuda"`, `workers=2`, …).

    A channel with a drawing of its own for this modality adds it last, in the order of the spec; masks, boxes and
    depth (`truth=True`) are of the scene beneath.
    """
    if modality not in spec.modalities:
        raise UnknownName(unknown("modality", modality, spec.modalities, spec.id))
    part = MODALITIES.get(modality)
    resolved = rows(table, spec, part)
    batch = part.draw(resolved, spec.options(modality), **how)
    for name in spec.channels:
        overlay = spec.channel(name).overlays.get(modality)
        if overlay is not None:
            if how.get("device", "cpu") != "cpu":
                raise SpecError(f"channels.{name}", f"draws over the {modality} by itself, which works on the CPU only")
            drawn = getattr(batch, modality) if how.get("truth") else batch
            overlay(drawn, spec.values(name), resolved.channels[name].codes, resolved.row_id)
    return batch


callable_package(__name__, draw)
