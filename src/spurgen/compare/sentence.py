"""The plain sentence of one comparison, also where nothing is decided."""

from __future__ import annotations

import math
from dataclasses import dataclass

from spurgen.compare.paired import Pairs, Tested
from spurgen.compare.permutation import least_sign_flip_p, seeds_to_decide
from spurgen.compare.words import Quantity, counted, probability


@dataclass(frozen=True)
class Said:
    """Who is compared with whom, in what, and how strictly."""

    method: str
    reference: str
    quantity: Quantity
    alpha: float
    asked: int  # questions in the family

    def sentence(self, found: Pairs, tested: Tested, p_holm: float) -> str:
        """What is decided, or that nothing is."""
        differences = found.differences
        n = len(differences)
        if n == 0:
            return f"Nothing to compare: {self.method} and {self.reference} have no seed in common."
        difference = float(differences.mean())
        if n == 1:
            return f"One seed decides nothing: {self._of_one(difference, found.seeds[0])}."
        if p_holm < self.alpha:
            return self._decided(found, difference, tested, p_holm)
        return self._undecided(found, difference, tested, p_holm)

    def of_signs(self, n: int, p: float) -> str:
        """The permutation test, and what it could have found at best."""
        if n < 2:
            return "The sign-flip permutation test needs at least two seeds."
        least, needed = least_sign_flip_p(n), seeds_to_decide(self.alpha)
        short = f" (with {n} seeds at least {least:.3g}; to fall below {self.alpha:g} it needs {needed} seeds)"
        return f"Sign-flip permutation test: p {probability(p, self.alpha, digits=3)}{short if n < needed else ''}."

    def _of_one(self, difference: float, seed: int) -> str:
        q = self.quantity.fine_enough(difference)
        if not difference:
            return f"{self.method} and {self.reference} have the same {q.what} with seed {seed}"
        side = "above" if difference > 0 else "below"
        return f"{self.method} is {q.size(difference)} {side} {self.reference} in {q.what} with seed {seed}"

    def _decided(self, found: Pairs, difference: float, tested: Tested, p_holm: float) -> str:
        q = self.quantity.fine_enough(difference)
        verb, than = ("raises", "over") if difference > 0 else ("lowers", "compared with")
        change = f"{self.method} {verb} {q.what} by {q.size(difference)} {than} {self.reference}"
        if not q.higher_is_better:  # where lower is better, "raises" alone could be taken for praise
            change += ", which is worse" if difference > 0 else ", which is better"
        if math.isnan(tested.t):
            return f"{change}, in each of {_seeds(found)} alike ({self._p(tested, p_holm)}, by flipping signs)."
        # the interval of how much, not of the signed difference: "lowers by 3 (−5 to −1)" takes two readings
        ends = (tested.low, tested.high) if difference > 0 else (-tested.high, -tested.low)
        return f"{change} ({_seeds(found)}, {self._interval(q, *ends)}, {self._p(tested, p_holm)})."

    def _undecided(self, found: Pairs, difference: float, tested: Tested, p_holm: float) -> str:
        q = self.quantity
        start = f"No decisive difference between {self.method} and {self.reference}"
        if math.isnan(tested.t) and not difference:
            return f"{start}: {q.what} is the same in each of {_seeds(found)}."
        shown = q.signed(difference)
        change = f"{start}: {shown} of {q.what}" if q.unit else f"{start} in {q.what}: {shown}"
        if math.isnan(tested.t):
            alike = f"in each of {_seeds(found)} alike, but without any spread only signs can be counted"
            return f"{change} {alike} ({self._p(tested, p_holm)})."
        return f"{change} ({_seeds(found)}, {self._interval(q, tested.low, tested.high)}, {self._p(tested, p_holm)})."

    def _interval(self, q: Quantity, low: float, high: float) -> str:
        return f"{100 * (1 - self.alpha):g}% interval {q.interval(low, high)}"

    def _p(self, tested: Tested, p_holm: float) -> str:
        """The corrected p; where only the correction keeps it from being decided, also that before."""
        counted_out = math.isnan(tested.t)  # such p are fractions of 2ⁿ, and 0.0625 is not 0.062
        text = f"p {probability(p_holm, self.alpha, digits=3 if counted_out else 2)}"
        if self.asked < 2:
            return text
        if tested.p < self.alpha <= p_holm:
            before = probability(tested.p, self.alpha).removeprefix("= ")
            return f"{text} after Holm's correction for {self.asked} comparisons, {before} before"
        return f"{text} after Holm's correction"


def _seeds(found: Pairs) -> str:
    """How many seeds were paired, of how many."""
    n = len(found.seeds)
    return f"{n} of {counted(n + len(found.dropped), 'seed')}" if found.dropped else counted(n, "seed")
