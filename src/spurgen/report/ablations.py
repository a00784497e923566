"""What variants of a world show: accuracy against the strength of the shortcuts, and each channel left out."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from spurgen.report.choices import Choice, Scope, choose
from spurgen.report.seeds import Estimate

Estimator = Callable[[Choice | None], Estimate]


@dataclass(frozen=True)
class Variant:
    """One variant of a world: what each method scored there."""

    name: str
    place: float  # the number in its name, where it has one; NaN otherwise
    scores: dict[str, Estimate]  # by method


@dataclass(frozen=True)
class Ablation:
    """All variants of one kind for one world, model and start; first the world as it is, where it was run."""

    name: str
    world: str
    model: str
    start: str
    variants: tuple[Variant, ...]
    methods: tuple[str, ...]

    @property
    def has_places(self) -> bool:
        """Whether variants can be put along an axis."""
        return len({v.place for v in self.variants if v.place == v.place}) > 1


def ablations(plain: list[Scope], found: list[Scope], rule: str, estimate: Estimator) -> list[Ablation]:
    """`found` are the scopes of all variants; each is measured by what `rule` chooses in it."""
    kinds: dict[tuple[str, str, str, str], list[Scope]] = {}
    for scope in found:
        p = scope.place
        kinds.setdefault((p.ablation, p.world, p.model, p.start), []).append(scope)
    out = []
    for kind, mine in kinds.items():
        as_it_is = [
            s for s in plain if (s.place.world, s.place.model, s.place.start) == kind[1:] and not s.place.variant
        ]
        rows = [_variant(s, "as it is", rule, estimate) for s in as_it_is]
        rows += sorted((_variant(s, s.place.variant, rule, estimate) for s in mine), key=_order)
        methods = tuple(dict.fromkeys(m for s in mine for m in s.methods))
        out.append(Ablation(*kind, tuple(rows), methods))
    return out


def _variant(scope: Scope, name: str, rule: str, estimate: Estimator) -> Variant:
    number = re.search(r"=\s*(-?\d+(?:\.\d+)?)$", name)
    place = float(number[1]) if number else float("nan")
    return Variant(name, place, {m: estimate(choose(scope, m, rule)) for m in scope.methods})


def _order(variant: Variant) -> tuple[float, str]:
    return (variant.place if variant.place == variant.place else -1.0, variant.name)
