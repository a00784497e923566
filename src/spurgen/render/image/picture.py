"""What drawing with ground truth gives, and which pixels a channel may touch."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

CORNER_SHARE = 0.32
BORDER_SHARE = 0.11


class Picture(NamedTuple):
    """A batch of pictures with what is known about them; every field has one entry per row."""

    image: Any  # uint8 (n, h, w, 3)
    mask: Any  # uint8 (n, h, w): visible coverage of the object, 0 none of it, 255 nothing else
    companion_mask: Any  # uint8 (n, h, w)
    box: Any  # int32 (n, 4): x0, y0, x1, y1 of mask > 0, half open; -1 where nothing is visible
    companion_box: Any  # int32 (n, 4)
    depth: Any  # float32 (n, h, w): distance along the camera's axis


def boxes(mask: NDArray[np.uint8]) -> NDArray[np.int32]:
    """The smallest box around the pixels above 0 of each mask."""
    found = np.full((len(mask), 4), -1, np.int32)
    for at, axis in ((0, 1), (1, 2)):
        line = np.asarray(np.any(mask > 0, axis=axis))
        seen = np.asarray(np.any(line, axis=1))
        found[seen, at] = line[seen].argmax(1)
        found[seen, at + 2] = line.shape[1] - line[seen, ::-1].argmax(1)
    return found


def may_change(region: str, mask: NDArray[np.uint8], other: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Pixels that an intervention on a channel that touches `region` may change, from the masks before and after."""
    height, width = mask.shape[-2:]
    if region == "object":
        return (mask > 0) | (other > 0)
    if region == "surroundings":
        return (mask < 255) | (other < 255)
    rows, columns = np.arange(height)[:, None], np.arange(width)[None, :]
    if region == "corner":
        inside = (_depth(rows, height) < height * CORNER_SHARE) & (_depth(columns, width) < width * CORNER_SHARE)
    elif region == "border":
        inside = np.minimum(_depth(rows, height), _depth(columns, width)) < height * BORDER_SHARE
    else:
        inside = np.ones((height, width), bool)
    return np.broadcast_to(inside, mask.shape)


def _depth(at: NDArray[np.int_], length: int) -> NDArray[np.int_]:
    """How far from the nearer end."""
    return np.minimum(at, length - 1 - at)
