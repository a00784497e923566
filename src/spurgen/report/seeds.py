"""What several seeds say together: mean, spread, and how sure the mean is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from spurgen.compare.distributions import t_quantile
from spurgen.compare.paired import spread


@dataclass(frozen=True)
class Estimate:
    """The mean over seeds with its 95% interval; with one seed, the interval that its rows give, where it is known."""

    mean: float
    sd: float
    low: float
    high: float
    values: tuple[float, ...]

    @property
    def n(self) -> int:
        """How many seeds."""
        return len(self.values)


def over_seeds(
    values: Mapping[int, float],
    of_one: tuple[float, float] | None = None,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> Estimate:
    """Student's interval of the mean, cut off at the measure's bounds."""
    there = [values[seed] for seed in sorted(values) if math.isfinite(values[seed])]
    found = spread(there)
    low, high = of_one or (math.nan, math.nan)
    if found.n > 1:
        reach = t_quantile(0.975, found.n - 1) * found.sd / math.sqrt(found.n)
        low, high = max(found.mean - reach, bounds[0]), min(found.mean + reach, bounds[1])
    return Estimate(found.mean, found.sd, low, high, tuple(there))
