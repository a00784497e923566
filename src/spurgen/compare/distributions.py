"""The distributions that the tests need, from `scipy.special`; `scipy.stats` takes four times as long to import."""

from __future__ import annotations

import math
from types import ModuleType

import numpy as np

from spurgen.errors import missing_extra


def t_two_sided(t: float, freedom: int) -> float:
    """P(|T| ≥ |t|) for Student's t with that many degrees of freedom."""
    return 2 * float(_special().stdtr(freedom, -abs(t)))


def t_quantile(share: float, freedom: int) -> float:
    """The number below which Student's t lies with that probability."""
    return float(_special().stdtrit(freedom, share))


def chi_square_above(value: float, freedom: int) -> float:
    """P(X ≥ value) for χ² with that many degrees of freedom."""
    return float(_special().chdtrc(freedom, value))


def normal_range_above(width: float, count: int) -> float:
    """P(Q ≥ width), Q being the largest of `count` standard normal numbers minus the smallest.

    This is the studentized range with infinitely many degrees of freedom:
    P(Q < q) = k ∫ φ(z) (Φ(z) − Φ(z − q))^(k−1) dz. The integrand is smooth and dies out at both ends, where
    the trapezoidal rule converges faster than any power of the step.
    """
    z = np.linspace(-9.0, 9.0, 2001)
    below = _special().ndtr
    density = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    inside = count * np.sum(density * (below(z) - below(z - width)) ** (count - 1)) * (z[1] - z[0])
    return min(max(1 - float(inside), 0.0), 1.0)


def normal_range_quantile(share: float, count: int) -> float:
    """The width that Q of `normal_range_above` stays below with that probability."""
    low, high = 0.0, 50.0
    for _ in range(60):  # halves 50 down to the last bit of a float
        middle = (low + high) / 2
        low, high = (middle, high) if normal_range_above(middle, count) > 1 - share else (low, middle)
    return (low + high) / 2


def _special() -> ModuleType:
    try:
        import scipy.special
    except ImportError:
        raise missing_extra("comparing methods", "train") from None
    return scipy.special
