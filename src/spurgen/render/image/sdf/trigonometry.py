"""Sine and cosine of degrees, the same bits on every machine.

NumPy's own differ between builds. Here the angle is reduced exactly to 45 degrees around a multiple of 90, and the
rest is a polynomial in float64: only + - * and comparisons, which IEEE 754 defines to the last bit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

F64 = NDArray[np.float64]
_DEGREE = 0.017453292519943295
_SIN = (-1 / 6, 1 / 120, -1 / 5040, 1 / 362880, -1 / 39916800, 1 / 6227020800, -1 / 1307674368000)
_COS = (-1 / 2, 1 / 24, -1 / 720, 1 / 40320, -1 / 3628800, 1 / 479001600, -1 / 87178291200)


def _polynomial(coefficients: tuple[float, ...], square: F64) -> F64:
    value = np.full_like(square, coefficients[-1])
    for c in coefficients[-2::-1]:
        value = value * square + c
    return value * square + 1.0


def cos_sin(degrees: ArrayLike) -> tuple[F64, F64]:
    """Cosine and sine of angles in degrees; exact at multiples of 90."""
    degrees = np.asarray(degrees, np.float64)
    quarter = np.floor(degrees / 90 + 0.5)
    rest = (degrees - quarter * 90) * _DEGREE
    square = rest * rest
    c, s = _polynomial(_COS, square), rest * _polynomial(_SIN, square)
    turn = (quarter - np.floor(quarter / 4) * 4).astype(np.int64)
    cos = np.select([turn == 0, turn == 1, turn == 2], [c, -s, -c], s)
    sin = np.select([turn == 0, turn == 1, turn == 2], [s, c, -s], -c)
    return cos + 0.0, sin + 0.0
