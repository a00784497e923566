"""Which trials stand for a method under a rule of selection, and what they scored."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from spurgen.compare.select import Selection, select
from spurgen.report.reading import Study, Trial

_RECORDED = {
    "val_accuracy": "accuracy",
    "val_worst_group": "worst_group_accuracy",
    "val_worst_class": "worst_class_accuracy",
    "training_accuracy": "training accuracy",
    "test_accuracy": "test accuracy",
    "test_worst_group": "test worst_group_accuracy",
}


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

    world: str
    ablation: str
    variant: str
    model: str
    start: str
    trials: tuple[Trial, ...]
    early_stopping: bool = True  # whether any check may be chosen, or the last one only
    per_seed: bool = False  # whether each seed chooses settings of its own
    order: tuple[str, ...] = ()  # of methods

    @property
    def methods(self) -> tuple[str, ...]:
        """Methods with a trial that is done, in the order of the study's file."""
        found = dict.fromkeys(t.method for t in self.trials if t.state == "done")
        return tuple(sorted(found, key=lambda m: self.order.index(m) if m in self.order else len(self.order)))

    def of(self, method: str, phase: str) -> tuple[Trial, ...]:
        """The trials of a method that are done: those that count ("final"), or that were only chosen by ("search")."""
        done = (t for t in self.trials if t.method == method and t.state == "done")
        return tuple(t for t in done if t.about.get("phase", "final") == phase)


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
            value = float("nan") if at is None else float(at)
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
            "Accuracy on clean data",
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
    return float("nan") if found is None else float(found)


def scopes(study: Study) -> list[Scope]:
    """The worlds as they are, under each model and start; variants only of worlds that were run in no other way."""
    plain = {t.world for t in study.trials if not t.variant}
    return _scopes(study, (t for t in study.trials if not t.variant or t.world not in plain))


def variants(study: Study, ablation: str) -> list[Scope]:
    """The variants of one ablation, each under each model and start."""
    return _scopes(study, (t for t in study.trials if t.ablation == ablation and t.variant))


def _scopes(study: Study, trials: Iterable[Trial]) -> list[Scope]:
    found: dict[tuple[str, ...], list[Trial]] = {}
    for trial in trials:
        key = (trial.world, trial.ablation, trial.variant, trial.model, trial.start)
        found.setdefault(key, []).append(trial)
    methods = study.asked.get("methods")
    order = tuple(methods) if isinstance(methods, dict | list) else ()
    how = bool(study.asked.get("early_stopping", True)), bool((study.asked.get("search") or {}).get("per_seed"))
    return [Scope(*key, tuple(mine), *how, order) for key, mine in found.items() if any(t.state == "done" for t in mine)]


def recorded(trials: Iterable[Trial]) -> list[dict[str, Any]]:
    """A record for selection for each check of the last stage of each trial."""
    found = []
    for trial in trials:
        checks = trial.checks
        if "step" not in checks:
            continue
        stage = checks.get("stage")
        # a method that learns from validation rows is judged by fresh ones like them
        judged = "validation " if "validation accuracy" in checks else ""
        columns = {name: judged + column if name.startswith("val_") else column for name, column in _RECORDED.items()}
        for i, step in enumerate(checks["step"].tolist()):
            if stage is None or stage[i] == stage.max():
                values = {k: float(checks[c][i]) if c in checks else math.nan for k, c in columns.items()}
                found.append({"config": trial.config, "seed": trial.seed, "step": int(step), **values})
    return found


def choose(scope: Scope, method: str, rule: str) -> Choice | None:
    """What a rule chooses for a method; where no checks were kept, the configuration that comes first."""
    trials = scope.of(method, "final")
    searched = scope.of(method, "search")
    if searched:
        wanted = {c.config for c in _select(scope, recorded(searched), rule).chosen}
        again = tuple(t for t in trials if t.config in wanted)
        trials = again or trials or searched
    if not trials:
        return None
    records = recorded(trials)
    found = _select(scope, records, rule)
    by = {(t.config, t.seed): t for t in trials}
    if not found.chosen:
        config = trials[0].config
        return Choice(method, rule, config, {t.seed: t for t in trials if t.config == config}, {})
    checks = {(r["config"], r["seed"], r["step"]): r for r in records}
    configs = dict.fromkeys(c.config for c in found.chosen)
    return Choice(
        method,
        rule,
        " | ".join(configs),
        {c.seed: by[c.config, c.seed] for c in found.chosen},
        {c.seed: checks[c.config, c.seed, c.step] for c in found.chosen},
    )


def _select(scope: Scope, records: Sequence[Mapping[str, Any]], rule: str) -> Selection:
    return select(records, rule, "all" if scope.early_stopping else "last", scope.per_seed)
