"""Numbers as a sentence says them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

MINUS = "−"


@dataclass(frozen=True)
class Quantity:
    """What is compared, and how a person is told of it: a share of 0.123 as 12.3 points."""

    what: str = "worst-group accuracy"
    unit: str = "points"
    scale: float = 100.0  # what scores are multiplied by to be in that unit
    decimals: int = 1
    higher_is_better: bool = True

    def number(self, value: float) -> str:
        """The number in the unit, without naming it; never a minus before nothing but zeros."""
        text = f"{abs(value * self.scale):.{self.decimals}f}"
        return f"{MINUS}{text}" if value < 0 and float(text) else text

    def signed(self, value: float) -> str:
        """The number with its sign, and the unit."""
        text = self.number(value)
        return self._with_unit(f"+{text}" if value > 0 and float(text) else text)

    def size(self, value: float) -> str:
        """How much it is, whatever the sign."""
        return self._with_unit(self.number(abs(value)))

    def fine_enough(self, value: float) -> Quantity:
        """With as many decimals as keep a value that is not 0 from being written as 0."""
        finer = range(self.decimals, self.decimals + 12)
        return replace(self, decimals=next((d for d in finer if round(value * self.scale, d)), self.decimals))

    def interval(self, low: float, high: float) -> str:
        """Two numbers and all between them."""
        return f"{self.number(low)} to {self.number(high)}"

    def _with_unit(self, text: str) -> str:
        return f"{text} {self.unit}".rstrip()


def probability(p: float, alpha: float, digits: int = 2) -> str:
    """p as it is written after "p": so many digits, and more where rounding would put it on the other side of alpha.

    >>> probability(0.0132, 0.05), probability(0.00002, 0.05), probability(0.04996, 0.05)
    ('= 0.013', '< 0.001', '= 0.04996')
    """
    if p < 0.001 <= alpha:
        return "< 0.001"
    for places in range(digits, 17):
        text = f"{p:.{places}g}"
        if (float(text) < alpha) == (p < alpha):
            break
    return f"= {text}"


def counted(number: int, noun: str) -> str:
    """A number and what is counted, in the plural where there is not one of it."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listed(names: Sequence[str]) -> str:
    """Names as a sentence lists them.

    >>> listed(["erm", "irm", "dfr"])
    'erm, irm and dfr'
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
