"""A picture out of focus: repeated passes of (1 2 1) / 4 in whole numbers, wider for larger pictures."""

from __future__ import annotations

import numba

from spurgen.render.image.sdf.arithmetic import EXACT


@numba.njit(nogil=True, **EXACT)
def weigh(a, b, c, strict):
    """(a + 2 b + c) / 4, rounded; strict keeps 0 and 255 for where all three are 0 or 255."""
    mean = (numba.int32(a) + numba.int32(b) + numba.int32(b) + numba.int32(c) + numba.int32(2)) >> numba.int32(2)
    if strict:
        if mean == 0 and (a | b | c) != 0:
            return numba.uint8(1)
        if mean == 255 and (a & b & c) != 255:
            return numba.uint8(254)
    return numba.uint8(mean)


@numba.njit(nogil=True, **EXACT)
def blur(plane, size, channels, strict):
    """Blur a flat picture in place. The spread grows with the picture: some 1.5% of its width."""
    wanted = 2 * size * size / 4096
    spread, step, again = 0, 1, False
    before = plane.copy()
    line = size * channels
    while spread < wanted:
        reach = step * channels
        for y in range(size):
            start = y * line
            for x in range(reach):
                here = start + x
                edge = start + x % channels
                plane[here] = weigh(before[edge], before[here], before[here + reach], strict)
                here = start + line - 1 - x
                edge = start + line - channels + (line - 1 - x) % channels
                plane[here] = weigh(before[here - reach], before[here], before[edge], strict)
            for i in range(start + reach, start + line - reach):
                plane[i] = weigh(before[i - reach], before[i], before[i + reach], strict)
        for y in range(size):
            start = y * line
            above = max(y - step, 0) * line
            below = min(y + step, size - 1) * line
            for x in range(line):
                before[start + x] = weigh(plane[above + x], plane[start + x], plane[below + x], strict)
        spread += step * step
        if again:
            step *= 2
        again = not again
    plane[:] = before
