"""Every method against one reference over the same seeds: what is decided, by how much, in numbers and a sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from spurgen.compare.bootstrap import bootstrap_interval
from spurgen.compare.holm import holm
from spurgen.compare.paired import Pairs, Tested, pair, paired_t, spread
from spurgen.compare.permutation import least_sign_flip_p, sign_flip_p
from spurgen.compare.plain import plain
from spurgen.compare.sentence import Said
from spurgen.compare.words import Quantity
from spurgen.errors import SpurgenError, unknown


@dataclass(frozen=True)
class Comparison:
    """One method against the reference, over the n seeds that both have; numbers are in the scores' own unit.

    `decided` is p_holm < alpha, and p_holm is that of the paired t-test. What cannot be computed is NaN.
    """

    method: str
    reference: str
    n: int  # seeds that both have
    dropped: tuple[int, ...]  # seeds that only one of the two has
    mean: float  # of the method
    sd: float
    reference_mean: float
    reference_sd: float
    difference: float  # mean − reference_mean
    difference_sd: float
    t: float
    p: float  # of the paired t-test, by itself
    p_holm: float  # the same, corrected for all methods of this call
    permutation_p: float  # of flipping signs, by itself
    least_permutation_p: float  # what n seeds can reach at best
    low: float  # 1 − alpha interval of the difference, from the t-test
    high: float
    bootstrap_low: float  # the same by the bootstrap, which is too narrow for few seeds
    bootstrap_high: float
    cohens_dz: float
    effect_size: float  # Cohen's d_z with Hedges' correction
    alpha: float
    decided: bool
    better: bool | None  # None unless decided
    sentence: str
    permutation_sentence: str

    def as_dict(self) -> dict[str, Any]:
        """All fields as plain data for JSON."""
        return plain(asdict(self))


def compare(
    scores: Mapping[str, Mapping[int, float]],
    reference: str = "erm",
    *,
    higher_is_better: bool = True,
    alpha: float = 0.05,
    what: str = "worst-group accuracy",
    unit: str = "points",
    scale: float = 100.0,
    decimals: int = 1,
) -> list[Comparison]:
    """Compares every other method's scores, by seed, with those of the reference, in the order given.

    The methods of one call are one family for Holm's correction: several worlds, models or scores in several calls are
    several families, each with its own α. A seed counts where both have a number for it. Scores that are multiplied by
    `scale` are in `unit`, with so many `decimals` where a sentence says them.

    The interval is that of the t-test, because it agrees with what is tested and because with three to five seeds the
    bootstrap's is far too narrow; both are there. With one seed nothing is decided; without any spread between seeds
    signs are counted instead (see `paired_t`).
    """
    if reference not in scores:
        raise SpurgenError(unknown("method", reference, scores, "what is compared"))
    if not 0 < alpha < 1:
        raise SpurgenError(f"alpha is {alpha}; give a probability between 0 and 1, such as 0.05")
    quantity = Quantity(what, unit, scale, decimals, higher_is_better)
    methods = [method for method in scores if method != reference]
    pairs = [pair(scores[method], scores[reference]) for method in methods]
    tested = [paired_t(found.differences, alpha) for found in pairs]
    corrected = holm([found.p for found in tested])
    asked = sum(not math.isnan(p) for p in corrected)
    return [
        _comparison(Said(method, reference, quantity, alpha, asked), found, by_t, p_holm)
        for method, found, by_t, p_holm in zip(methods, pairs, tested, corrected, strict=True)
    ]


def _comparison(said: Said, found: Pairs, tested: Tested, p_holm: float) -> Comparison:
    differences = found.differences
    first, second, both = map(spread, (found.first, found.second, differences))
    decided = p_holm < said.alpha
    low, high = bootstrap_interval(differences, said.alpha)
    permutation_p = sign_flip_p(differences)
    return Comparison(
        method=said.method,
        reference=said.reference,
        n=both.n,
        dropped=found.dropped,
        mean=first.mean,
        sd=first.sd,
        reference_mean=second.mean,
        reference_sd=second.sd,
        difference=both.mean,
        difference_sd=both.sd,
        t=tested.t,
        p=tested.p,
        p_holm=p_holm,
        permutation_p=permutation_p,
        least_permutation_p=least_sign_flip_p(both.n),
        low=tested.low,
        high=tested.high,
        bootstrap_low=low,
        bootstrap_high=high,
        cohens_dz=tested.cohens_dz,
        effect_size=tested.hedges_gz,
        alpha=said.alpha,
        decided=decided,
        better=(both.mean > 0) == said.quantity.higher_is_better if decided else None,
        sentence=said.sentence(found, tested, p_holm),
        permutation_sentence=said.of_signs(both.n, permutation_p),
    )
