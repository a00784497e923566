"""A round sticker in the top left corner: a channel that draws over pictures by itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from spurgen.parts import Channel, Value

COLOURS = {"none": None, "yellow": (250, 210, 40), "green": (60, 170, 90), "blue": (50, 110, 220)}


def stick(
    pictures: NDArray[np.uint8], names: Sequence[str], codes: NDArray[np.int32], row_ids: NDArray[np.uint64]
) -> None:
    """Paint the sticker of each row into its picture, in place."""
    height_px, width_px = pictures.shape[1:3]
    y, x = np.mgrid[:height_px, :width_px]
    centre, radius_px = 0.13 * width_px, 0.08 * width_px
    disc = (x - centre) ** 2 + (y - centre) ** 2 < radius_px**2
    for code, name in enumerate(names):
        colour = COLOURS[name]
        if colour is not None:
            pictures[np.ix_(codes == code)] = np.where(disc[..., None], np.uint8(colour), pictures[codes == code])


CHANNEL = Channel(
    name="sticker",
    about="a round sticker in the top left corner",
    values={name: Value("without a sticker" if name == "none" else f"with a {name} sticker") for name in COLOURS},
    says="phrase",
    touches={"image": "corner"},
    overlays={"image": stick},
)
