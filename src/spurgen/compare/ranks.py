"""Which methods rank best over many blocks, and which cannot be told apart: Friedman's test and Nemenyi's."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spurgen.compare.distributions import chi_square_above, normal_range_quantile
from spurgen.compare.plain import plain
from spurgen.compare.words import counted, listed, probability

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Ranking:
    """Methods by their average rank over blocks, the best first; rank 1 is the best of a block."""

    average_ranks: dict[str, float]  # the best first
    blocks: int  # in which every method has a number
    dropped: int  # in which some method has none
    chi_square: float  # Friedman's, corrected for ties
    p: float
    critical_difference: float  # of average ranks: methods closer than that are not decidedly different
    cliques: tuple[tuple[str, ...], ...]  # the largest sets of methods that are not decidedly different
    alpha: float
    decided: bool  # whether methods differ at all
    sentence: str

    def as_dict(self) -> dict[str, Any]:
        """All fields as plain data for JSON."""
        return plain(asdict(self))


def rank(
    scores: Mapping[str, Mapping[Hashable, float]], *, higher_is_better: bool = True, alpha: float = 0.05
) -> Ranking:
    """Ranks methods in every block (a world and a seed, say) and tests whether the ranks are more than chance.

    Only blocks in which every method has a number count. Scores that tie share the mean of their ranks. Friedman's test
    (1937) asks whether any method differs; only if so does Nemenyi's critical difference (1963, as in Demšar 2006),
    q/√2 · √(k(k + 1)/6N), q being the studentized range's for k methods, say which do. Both are approximations that
    need more than a few blocks. Seeds of one world are not different worlds: ranks over them speak for that world only.
    """
    blocks = {block: None for of_method in scores.values() for block in of_method}  # a set that keeps its order
    table = np.array([[float(of.get(block, math.nan)) for of in scores.values()] for block in blocks])
    table = table.reshape(len(blocks), len(scores))
    whole = table[np.isfinite(table).all(axis=1)]
    n, count = whole.shape
    if n == 0 or count < 2:
        return _nothing_to_rank(scores, len(blocks), alpha)
    ranks = np.array([ranks_of(-row if higher_is_better else row) for row in whole])
    averages = ranks.mean(axis=0)
    average_ranks = {list(scores)[at]: float(averages[at]) for at in np.argsort(averages, kind="stable")}
    chi_square, p = friedman(ranks)
    reach = critical_difference(count, n, alpha)
    decided = p < alpha
    cliques = cliques_within(average_ranks, reach) if decided else (tuple(average_ranks),)
    sentence = _sentence(average_ranks, cliques, n, p, reach, alpha)
    dropped = len(blocks) - n
    return Ranking(average_ranks, n, dropped, chi_square, p, reach, cliques, alpha, decided, sentence)


def ranks_of(values: Floats) -> Floats:
    """The place of each value from 1 for the smallest; values that tie share the mean of their places.

    >>> ranks_of(np.array([0.5, 0.1, 0.5])).tolist()
    [2.5, 1.0, 2.5]
    """
    _, place, ties = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(ties) - (ties - 1) / 2)[place]


def friedman(ranks: Floats) -> tuple[float, float]:
    """Friedman's χ² of ranks (blocks, methods), and P(χ² that large) with methods − 1 degrees of freedom.

    χ² = (k − 1) Σⱼ (Rⱼ − N(k + 1)/2)² / (Σ rᵢⱼ² − N k(k + 1)²/4), Rⱼ being the sum of method j's ranks; without ties
    the lower sum is N k(k² − 1)/12. Where all tie in every block nothing differs: χ² is 0 and p is 1.
    """
    n, count = ranks.shape
    below = float((ranks**2).sum()) - n * count * (count + 1) ** 2 / 4
    if below <= 0:
        return 0.0, 1.0
    chi_square = float((count - 1) * ((ranks.sum(axis=0) - n * (count + 1) / 2) ** 2).sum() / below)
    return chi_square, chi_square_above(chi_square, count - 1)


def critical_difference(methods: int, blocks: int, alpha: float = 0.05) -> float:
    """How far apart two average ranks must be at least to be decidedly different (Nemenyi 1963).

    >>> round(critical_difference(4, 14, 0.05), 2)
    1.25
    """
    width = normal_range_quantile(1 - alpha, methods) / math.sqrt(2)
    return width * math.sqrt(methods * (methods + 1) / (6 * blocks))


def cliques_within(average_ranks: Mapping[str, float], reach: float) -> tuple[tuple[str, ...], ...]:
    """The largest runs of methods, by rank, whose ends are closer than `reach`; some are of one method only."""
    names = sorted(average_ranks, key=average_ranks.__getitem__)
    found: list[tuple[str, ...]] = []
    end = 0
    for start, first in enumerate(names):
        inside = [at for at in range(start, len(names)) if average_ranks[names[at]] - average_ranks[first] < reach]
        if inside[-1] + 1 > end:  # otherwise it lies within the run before
            end = inside[-1] + 1
            found.append(tuple(names[start:end]))
    return tuple(found)


def _sentence(
    average_ranks: Mapping[str, float], cliques: Sequence[Sequence[str]], n: int, p: float, reach: float, alpha: float
) -> str:
    names = list(average_ranks)
    over = f"over {counted(n, 'block')}"
    friedmans = f"Friedman's test, p {probability(p, alpha)}"
    if p >= alpha:
        return f"The ranks of {listed(names)} {over} are not decidedly different ({friedmans})."
    first, rest = names[0], [name for name in names if name not in cliques[0]]
    near = list(cliques[0][1:])
    start = f"{first} ranks best, {average_ranks[first]:.1f} on average {over} ({friedmans})"
    if not rest:
        within = f"no two average ranks are {reach:.1f} apart, which is Nemenyi's critical difference"
        return f"{start}, but it cannot be said which methods differ: {within}."
    ahead = f"decidedly before {listed(rest)}"
    if near:
        ahead += f" but not before {listed(near)}"
    return f"{start}; it is {ahead} (Nemenyi's critical difference is {reach:.1f} ranks)."


def _nothing_to_rank(scores: Mapping[str, Mapping[Hashable, float]], blocks: int, alpha: float) -> Ranking:
    if len(scores) < 2:
        sentence = "Nothing to rank: there are not two methods."
    elif not blocks:
        sentence = "Nothing to rank: there are no scores."
    else:
        numbers = {name: sum(math.isfinite(score) for score in of.values()) for name, of in scores.items()}
        fewest = min(numbers, key=numbers.__getitem__)
        sentence = (
            f"Nothing to rank: no block has a number for every method; {fewest} has {numbers[fewest]} of {blocks}, "
            "the fewest."
        )
    nan = math.nan
    return Ranking(dict.fromkeys(scores, nan), 0, blocks, nan, nan, nan, (), alpha, False, sentence)
