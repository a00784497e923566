"""Which trials stand for a method under a rule of selection, and what they scored."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from spurgen.report.reading import Study, Trial
from spurgen.study.choice import settle_on
from spurgen.study.spec import StudySpec
from spurgen.study.trial import Place, place_of


class Measure(NamedTuple):
    """Something that is compared between methods."""

    key: str
    title: str
    about: str
    higher_is_better: bool = True
    is_share: bool = True  # shown in percent, differences in points
    checked: str = ""  # where it stands in the records of selection; "" for scores of the final weights


@dataclass(frozen=True, eq=False)
class Scope:
    """Trials that may be compared with each other: one world (or variant of one), one model, one start."""

    place: Place
    trials: tuple[Trial, ...]
    study: StudySpec

    @property
    def methods(self) -> tuple[str, ...]:
        """Methods with a trial that is done, in the order of the study's file."""
        done = {t.plan.method for t in self.trials if t.state == "done"}
        return tuple(method for method in self.study.methods if method in done)

    def done(self, method: str) -> tuple[Trial, ...]:
        """The trials of a method that are done."""
        return tuple(t for t in self.trials if t.plan.method == method and t.state == "done")


@dataclass(frozen=True, eq=False)
class Choice:
    """The configuration of a method that a rule chose, and for each seed the check that it chose."""

    method: str
    rule: str
    config: str
    trials: Mapping[int, Trial]  # by seed
    checks: Mapping[int, Mapping[str, Any]]  # by seed; empty where none were kept

    def values(self, measure: Measure) -> dict[int, float]:
        """What each seed scored: at the check that was chosen, otherwise with the final weights."""
        found = {}
        for seed, trial in self.trials.items():
            at = self.checks.get(seed, {}).get(measure.checked) if measure.checked else None
            value = math.nan if at is None else float(at)
            if not math.isfinite(value):
                value = final(trial, measure.key)
            if math.isfinite(value):
                found[seed] = value
        return found


def measures(channels: Sequence[str]) -> list[Measure]:
    """All that methods are compared by, the headline first."""
    found = [
        Measure(
            "worst_group_accuracy",
            "Worst-group accuracy",
            "accuracy on test rows of the group that is served worst; groups are patterns of which channels agree",
            checked="test_worst_group",
        ),
        Measure("accuracy", "Average accuracy", "accuracy on all test rows", checked="test_accuracy"),
        Measure(
            "weighted_accuracy",
            "Accuracy on rows as in training",
            "accuracy on fresh rows that are mixed as in training, shortcuts and all",
            checked="training_accuracy",
        ),
    ]
    for name in channels:
        about = f"how far the right class's probability moves when {name} alone is drawn anew"
        found.append(Measure(f"sss_{name}", f"Sensitivity to {name}", about, False))
    about = "what it costs, in nats, when every channel shows what belongs to another class"
    found.append(Measure("ig_conflicting", "Invariance gap", about, False, False))
    about = "how far stated probabilities are from how often they are right"
    found.append(Measure("calibration_error", "Calibration error", about, False))
    return found


def final(trial: Trial, key: str) -> float:
    """One score of the final weights, from the ledger's row or from the results."""
    found = trial.row.get(key, trial.scores.get("metrics", {}).get(key))
    if found is None and key.startswith("sss_"):
        found = trial.scores.get("sss", {}).get(key.removeprefix("sss_"), {}).get("value")
    if found is None and key.startswith("ig_"):
        found = trial.scores.get("ig", {}).get(key.removeprefix("ig_"), {}).get("value")
    return math.nan if found is None else float(found)


def scopes(study: Study) -> list[Scope]:
    """The worlds as they are, under each model and start; variants only of worlds that were run in no other way."""
    plain = {t.plan.world for t in study.trials if not t.plan.variant}
    return _scopes(study, (t for t in study.trials if not t.plan.variant or t.plan.world not in plain))


def variants(study: Study, ablation: str) -> list[Scope]:
    """The variants of one ablation, each under each model and start."""
    return _scopes(study, (t for t in study.trials if t.plan.ablation == ablation and t.plan.variant))


def _scopes(study: Study, trials: Iterable[Trial]) -> list[Scope]:
    found: dict[Place, list[Trial]] = {}
    for trial in trials:
        found.setdefault(place_of(trial.plan), []).append(trial)
    return [
        Scope(place, tuple(mine), study.spec) for place, mine in found.items() if any(t.state == "done" for t in mine)
    ]


def choose(scope: Scope, method: str, rule: str) -> Choice | None:
    """What a rule chooses for a method; where there is one configuration only, that, whether a rule can or not."""
    by = {t.plan.key: t for t in scope.done(method)}
    found = settle_on(scope.study, [t.plan for t in by.values()], rule, lambda trial: by[trial.key].selection)
    final = {(t.plan.config, t.plan.seed): t for t in by.values() if t.plan.phase == "final"}
    if not found.chosen:
        configs = {config for config, _ in final}
        if len(configs) != 1:
            return None
        return Choice(method, rule, configs.pop(), {seed: t for (_, seed), t in final.items()}, {})
    checks = {(r["config"], r["seed"], r["step"]): r for t in final.values() for r in t.selection}
    return Choice(
        method,
        rule,
        " | ".join(dict.fromkeys(c.config for c in found.chosen)),
        {c.seed: final[c.config, c.seed] for c in found.chosen},
        {c.seed: checks[c.config, c.seed, c.step] for c in found.chosen},
    )
