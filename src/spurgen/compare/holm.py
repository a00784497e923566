"""Holm's step-down correction: who asks many questions must expect some answers by chance."""

from __future__ import annotations

import math
from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Each p of a family as it is once all of them are asked at the same time (Holm 1979), in the order given.

    The i-th smallest of m becomes max over j ≤ i of (m − j + 1) p_(j), at most 1. Whoever calls those under α decided
    is wrong even once with a probability of α at most, whatever depends on what. A NaN is a question that could not be
    asked: it stays NaN and does not count.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    asked = sorted((p, at) for at, p in enumerate(p_values) if not math.isnan(p))
    corrected = [math.nan] * len(p_values)
    highest = 0.0
    for place, (p, at) in enumerate(asked):
        highest = max(highest, min(1.0, (len(asked) - place) * p))
        corrected[at] = highest
    return corrected
