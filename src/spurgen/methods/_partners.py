"""For rows of a table, other rows that share one of two codes and not the other; drawn without searching."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]


class Sorted(NamedTuple):
    """All rows in the order of one code and then of another; where the rows of a code, and of a pair, stand in it."""

    order: Codes
    first: Codes  # of the rows that share the first code, for each row of the table
    many: Codes
    first_same: Codes  # of the rows that share both codes
    many_same: Codes

    @classmethod
    def by(cls, code: Codes, other: Codes) -> Sorted:
        """Sort by `code`, and within it by `other`."""
        width = int(other.max(initial=0)) + 1
        pair = code * width + other
        order = np.argsort(pair, kind="stable")
        _, place, first_same, many_same = _runs(pair[order])
        firsts, code_place, first, many = _runs(code[order])
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        at, at_code = place[back], code_place[back]
        return cls(order, first[at_code], many[at_code], first_same[at], many_same[at])

    def differing(self, rows: Codes) -> Codes:
        """How many rows share the first code with each of these and not the second."""
        return self.many[rows] - self.many_same[rows]

    def take(self, rows: Codes, ranks: Codes) -> Codes:
        """Of those, the one with this rank."""
        at = self.first[rows] + ranks
        return self.order[at + np.where(at >= self.first_same[rows], self.many_same[rows], 0)]


class Partners:
    """Partners for the rows of a table with labels and contexts."""

    def __init__(self, labels: Codes, contexts: Codes):
        self.within_label = Sorted.by(labels, contexts)
        self.within_context = Sorted.by(contexts, labels)

    @cached_property
    def any(self) -> NDArray[np.bool_]:
        """Whether a row has a partner by either rule."""
        rows = np.arange(len(self.within_label.order))
        return (self.within_label.differing(rows) > 0) | (self.within_context.differing(rows) > 0)

    def draw(self, rows: Codes, within_label: bool, bits: NDArray[np.uint64]) -> Codes:
        """A partner for each row by one rule, by the other where there is none, or the row itself."""
        found = rows.copy()
        rules = (self.within_label, self.within_context)
        for rule in rules if not within_label else rules[::-1]:  # the last has the last word
            many = rule.differing(rows)
            has = many > 0
            ranks = (bits[has] >> np.uint64(32)) * many[has].astype(np.uint64) >> np.uint64(32)
            found[has] = rule.take(rows[has], ranks.astype(np.int64))
        return found


def _runs(values: Codes) -> tuple[Codes, Codes, Codes, Codes]:
    """Of sorted values: the distinct ones, which of them each is, and where each starts and how often it stands."""
    distinct, first, place, many = np.unique(values, return_index=True, return_inverse=True, return_counts=True)
    return distinct, place, first, many
