"""Sine and cosine of degrees, the same bits on every machine.

NumPy's own differ between builds. Here the angle is reduced exactly to 45 degrees around a multiple of 90, and the
rest is a polynomial in float64: only + - * and comparisons, which IEEE 754 defines to the last bit.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from spurgen.render.image.sdf.arithmetic import EXACT

exact = register_jitable(forceinline=True, **EXACT)  # plain Python, which compiled functions can call as well
_DEGREE = 0.017453292519943295
_SIN = (-1 / 6, 1 / 120, -1 / 5040, 1 / 362880, -1 / 39916800, 1 / 6227020800, -1 / 1307674368000)
_COS = (-1 / 2, 1 / 24, -1 / 720, 1 / 40320, -1 / 3628800, 1 / 479001600, -1 / 87178291200)


@exact
def _polynomial(coefficients, square):
    value = coefficients[6]
    for i in range(5, -1, -1):
        value = value * square + coefficients[i]
    return value * square + 1.0


@exact
def cos_sin(degrees):
    """Cosine and sine of an angle in degrees; exact at multiples of 90."""
    quarter = np.floor(degrees / 90.0 + 0.5)
    rest = (degrees - quarter * 90.0) * _DEGREE
    square = rest * rest
    c, s = _polynomial(_COS, square), rest * _polynomial(_SIN, square)
    turn = quarter - np.floor(quarter / 4.0) * 4.0
    turned_c, turned_s = abs(turn - 2.0) - 1.0, 1.0 - abs(turn - 1.0)  # cosine and sine of the quarter turns
    return c * turned_c - s * turned_s + 0.0, s * turned_c + c * turned_s + 0.0
