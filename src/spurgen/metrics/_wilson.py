"""Wilson's interval for a share: honest for small groups and near 0 and 1, where mean ± 2 SD is not."""

from __future__ import annotations

import math

Z95 = 1.959963984540054  # the 97.5% point of the normal distribution


def wilson(hits: int, n: int) -> tuple[float, float]:
    """The 95% interval (2h + z² ± z √(z² + 4h(n − h)/n)) / 2(n + z²) for h hits among n rows (Wilson 1927).

    Bounds: [0, 1]. No rows say nothing: their interval is all of it.

    >>> [round(x, 3) for x in wilson(9, 10)]
    [0.596, 0.982]
    """
    if n == 0:
        return 0.0, 1.0
    spread = Z95 * math.sqrt(Z95**2 + 4 * hits * (n - hits) / n)
    middle, whole = 2 * hits + Z95**2, 2 * (n + Z95**2)
    # the ends are exact by algebra; rounding would leave 1e-17 in the place of 0
    low = 0.0 if hits == 0 else (middle - spread) / whole
    high = 1.0 if hits == n else (middle + spread) / whole
    return low, high
