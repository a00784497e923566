"""A picture out of focus: repeated passes of (1 2 1) / 4 in whole numbers, wider for larger pictures."""

from __future__ import annotations

import numba
from numba import uint8, uint16

from spurgen.render.image.sdf.arithmetic import EXACT

quiet = numba.njit(nogil=True, forceinline=True, **EXACT)


@quiet
def weigh(a, b, c):
    """(a + 2 b + c) / 4, rounded."""
    return uint8((uint16(a) + uint16(b) + uint16(b) + uint16(c) + uint16(2)) >> uint16(2))


@quiet
def weigh_mask(a, b, c):
    """The same, but 0 and 255 only where all three are 0 or 255."""
    mean = weigh(a, b, c)
    if mean == 0 and (a | b | c) != 0:
        return uint8(1)
    if mean == 255 and (a & b & c) != 255:
        return uint8(254)
    return mean


def blur_steps(size: int) -> list[int]:
    """How far apart the three pixels of each pass are: 1 1 2 2 4 4 …, until the spread is enough."""
    steps: list[int] = []
    while sum(step * step for step in steps) < size * size // 2048:
        steps.append(2 ** (len(steps) // 2))
    return steps


def _passes(mean):  # type: ignore[no-untyped-def]
    @numba.njit(nogil=True, forceinline=False, **EXACT)
    def blur(plane, size, channels):
        """Blur a flat picture in place. The spread grows with the picture: about 1% of its width."""
        wanted = size * size // 2048
        spread, step = 0, 1
        again = False
        other = plane.copy()
        line = size * channels
        while spread < wanted:
            reach = step * channels
            for y in range(size):
                before, after = other[y * line : (y + 1) * line], plane[y * line : (y + 1) * line]
                for x in range(reach):
                    after[x] = mean(before[x % channels], before[x], before[x + reach])
                    back = line - 1 - x
                    after[back] = mean(before[back - reach], before[back], before[line - 1 - x % channels])
                left, centre, right = before[: line - 2 * reach], before[reach : line - reach], before[2 * reach :]
                inner = after[reach : line - reach]
                for x in range(len(inner)):
                    inner[x] = mean(left[x], centre[x], right[x])
            for y in range(size):
                above, below = max(y - step, 0) * line, min(y + step, size - 1) * line
                top, bottom, centre = plane[above : above + line], plane[below : below + line], plane[y * line :]
                inner = other[y * line : (y + 1) * line]
                for x in range(len(inner)):
                    inner[x] = mean(top[x], centre[x], bottom[x])
            spread += step * step
            if again:
                step *= 2
            again = not again
        plane[:] = other

    return blur


blur_colours = _passes(weigh)
blur_masks = _passes(weigh_mask)
