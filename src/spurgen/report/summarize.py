"""A study as plain data: what its report says, before anything is drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spurgen.compare.decide import Comparison, compare
from spurgen.errors import SpurgenError
from spurgen.report import sentences
from spurgen.report.ablations import Ablation, ablations
from spurgen.report.choices import Choice, Measure, Scope, choose, measures, scopes, variants
from spurgen.report.courses import Course, courses
from spurgen.report.harm import Harm, chosen, harms
from spurgen.report.mistakes import Confused, confused, confusion
from spurgen.report.reading import Study, Trial, read
from spurgen.report.seeds import Estimate, over_seeds

if TYPE_CHECKING:
    import pyarrow as pa

    from spurgen.latents.audit import Audit
    from spurgen.spec import World

SPLIT = "test"


@dataclass(frozen=True)
class Scored:
    """One method by one measure under one rule."""

    method: str
    config: str
    estimate: Estimate


@dataclass(frozen=True)
class Panel:
    """All methods by one measure, and each against the reference."""

    measure: Measure
    scored: tuple[Scored, ...]  # best first
    comparisons: tuple[Comparison, ...]

    def of(self, method: str) -> Estimate:
        """What a method scored."""
        found = (s.estimate for s in self.scored if s.method == method)
        return next(found, Estimate(math.nan, math.nan, math.nan, math.nan, ()))

    def against(self, method: str) -> Comparison | None:
        """A method against the reference."""
        return next((c for c in self.comparisons if c.method == method), None)


@dataclass(frozen=True)
class ScopeSummary:
    """What is to be said of one world, model and start."""

    title: str
    world: str
    model: str
    start: str
    variant: str
    data: str
    reference: str
    best: str  # the remedy with the highest headline, "" where there is none
    methods: tuple[str, ...]
    trials: int
    seeds: int
    panels: dict[str, dict[str, Panel]]  # rule -> measure -> panel
    harms: dict[str, list[Harm]]  # method -> channels
    groups: list[dict[str, Any]]
    gaps: dict[str, dict[str, float]]  # method -> kind -> invariance gap
    courses: dict[str, list[Course]]
    confusion: dict[str, list[list[int]]]
    confused: dict[str, list[Confused]]
    classes: tuple[str, ...]
    sentences: tuple[str, ...]
    trial_of: dict[str, str] = field(default_factory=dict)  # method -> key of the trial whose pictures are shown


@dataclass(frozen=True)
class Summary:
    """Everything that a report says but for its pictures."""

    about: dict[str, Any]
    text: str
    name: str  # of the study's directory
    rule: str
    rules: tuple[str, ...]
    reference: str
    counts: dict[str, int]  # state -> trials
    scopes: list[ScopeSummary]
    ablations: list[Ablation]
    trials: list[dict[str, Any]]  # flat rows, with scores
    settled: list[dict[str, Any]]  # what determines each
    failed: list[dict[str, Any]]
    datasets: list[dict[str, Any]]
    audits: dict[str, Any]
    last: str

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        from spurgen.evaluate.score import plain

        return plain(asdict(self))  # type: ignore[no-any-return]


def summarize(study: Study | str | Path) -> Summary:
    """Read a study's directory and say what it holds; nothing is trained and nothing is drawn."""
    study = study if isinstance(study, Study) else read(study)
    rules = tuple(study.about.get("rules") or ("worst_group",))
    rule = study.about.get("rule") or rules[0]
    reference = study.about.get("reference") or "erm"
    plain = scopes(study)
    channels = list(dict.fromkeys(c for t in study.done for c in t.scores.get("sss", {})))
    wanted = [m for m in measures(channels) if any(math.isfinite(v) for v in _any_values(plain, m))]
    headline = measures([])[0]
    several = _several(plain)
    found = [_scope(study, scope, rules, rule, reference, wanted, several) for scope in plain]
    kinds = dict.fromkeys(t.ablation for t in study.trials if t.ablation and t.variant)
    varied = [scope for kind in kinds for scope in variants(study, kind)]
    rows = ablations(study, plain, varied, rule, lambda choice: _estimate(choice, headline)) if varied else []
    states = [t.state for t in study.trials]
    return Summary(
        about=dict(study.about),
        text=study.text,
        name=study.directory.resolve().name,
        rule=rule,
        rules=rules,
        reference=reference,
        counts={state: states.count(state) for state in ("done", "failed", "open") if state in states},
        scopes=found,
        ablations=rows,
        trials=[_flat(t) for t in study.trials],
        settled=[{**t.about, "state": t.state} for t in study.trials],
        failed=[{**_name(t), "reason": t.reason} for t in study.trials if t.state == "failed"],
        datasets=[_dataset(study, name) for name in dict.fromkeys(t.data for t in study.trials)],
        audits={s.data: audit.as_dict() for s in found if (audit := _audit(study, s.data)) is not None},
        last=study.last,
    )


def _scope(
    study: Study,
    scope: Scope,
    rules: Sequence[str],
    rule: str,
    reference: str,
    wanted: Sequence[Measure],
    several: Sequence[str],
) -> ScopeSummary:
    done = [t for t in scope.trials if t.state == "done"]
    reference = reference if reference in scope.methods else scope.methods[0]
    panels = {r: {m.key: _panel(scope, m, r, reference) for m in wanted} for r in rules}
    first = panels[rule].get(wanted[0].key) if wanted else None
    remedies = [s.method for s in first.scored if s.method != reference and s.estimate.n] if first else []
    choices = {m: c for m in scope.methods if (c := choose(scope, m, rule)) is not None}
    trials = {m: list(c.trials.values()) for m, c in choices.items()}
    data = done[0].data
    spec, table = study.spec(data), _rows(study, data)
    harmed = {m: harms(ts, spec, table) for m, ts in trials.items()}
    best = remedies[0] if remedies else ""
    shown = [m for m in (reference, best) if m]
    return ScopeSummary(
        title=", ".join(str(getattr(scope, w)) for w in several) or scope.model,
        world=scope.world,
        model=scope.model,
        start=scope.start,
        variant=scope.variant,
        data=data,
        reference=reference,
        best=best,
        methods=scope.methods,
        trials=len(done),
        seeds=len({t.seed for t in done}),
        panels=panels,
        harms=harmed,
        groups=_groups(trials),
        gaps=_gaps(trials),
        courses=courses(trials),
        confusion={m: counted for m, ts in trials.items() if (counted := confusion(ts))},
        confused={m: _confused(trials[m], spec, table) for m in shown},
        classes=tuple(next((t.scores["classes"] for t in done if t.scores.get("classes")), ())),
        sentences=sentences.of_scope(scope.model, reference, best, panels[rule], harmed.get(reference, [])),
        trial_of={m: min(c.trials.items())[1].key for m, c in choices.items() if c.trials},
    )


def _panel(scope: Scope, measure: Measure, rule: str, reference: str) -> Panel:
    choices = [c for m in scope.methods if (c := choose(scope, m, rule)) is not None]
    scored = [Scored(c.method, c.config, _estimate(c, measure)) for c in choices]
    sign = -1 if measure.higher_is_better else 1
    scored.sort(key=lambda s: (math.isnan(s.estimate.mean), sign * s.estimate.mean, s.method))
    values = {c.method: c.values(measure) for c in choices}
    values = {m: v for m, v in values.items() if v or m == reference}
    unit = {"unit": "points", "scale": 100.0, "decimals": 1} if measure.is_share else {"unit": "nats", "scale": 1.0, "decimals": 2}
    how: dict[str, Any] = {"higher_is_better": measure.higher_is_better, "what": measure.title.lower(), **unit}
    return Panel(measure, tuple(scored), tuple(compare(values, reference, **how)))


def _estimate(choice: Choice | None, measure: Measure) -> Estimate:
    values = {} if choice is None else choice.values(measure)
    of_one = None
    if choice is not None and len(values) == 1 and not choice.checks and measure.key == "worst_group_accuracy":
        worst = next(iter(choice.trials.values())).scores.get("worst_group", {})
        of_one = (worst["low"], worst["high"]) if worst.get("low") is not None else None
    return over_seeds(values, of_one, (0.0, 1.0) if measure.is_share else (-math.inf, math.inf))


def _groups(trials: dict[str, list[Trial]]) -> list[dict[str, Any]]:
    """For every group its rows, and for each method the accuracy over seeds and its range of intervals."""
    found: dict[str, dict[str, Any]] = {}
    for method, mine in trials.items():
        for trial in mine:
            for g in trial.scores.get("groups", []):
                row = found.setdefault(g["name"], {"name": g["name"], "n": g["n"], "train": g["train_rows"], "methods": {}})
                row["methods"].setdefault(method, []).append((g["accuracy"], g["low"], g["high"]))
    for row in found.values():
        row["methods"] = {m: _of_group(v) for m, v in row["methods"].items()}
    return list(found.values())


def _gaps(trials: dict[str, list[Trial]]) -> dict[str, dict[str, float]]:
    """Means over seeds of every kind of invariance gap."""
    found = {}
    for method, mine in trials.items():
        kinds = dict.fromkeys(k for t in mine for k in t.scores.get("ig", {}))
        values = {k: [t.scores["ig"][k]["value"] for t in mine if k in t.scores.get("ig", {})] for k in kinds}
        found[method] = {k: sum(v) / len(v) for k, v in values.items() if None not in v}
    return {method: gaps for method, gaps in found.items() if gaps}


def _of_group(given: list[tuple[Any, Any, Any]]) -> dict[str, float]:
    there = [(a, low, high) for a, low, high in given if a is not None]
    if not there:
        return {"accuracy": math.nan, "low": math.nan, "high": math.nan}
    accuracies, lows, highs = zip(*there, strict=True)
    return {"accuracy": sum(accuracies) / len(there), "low": min(lows), "high": max(highs)}


def _confused(trials: Sequence[Trial], spec: World | None, table: pa.Table | None) -> list[Confused]:
    if spec is None or table is None:
        return []
    said = [c for t in trials if (c := chosen(t, spec, table)) is not None]
    return confused(said, spec, table)


def _several(plain: Sequence[Scope]) -> list[str]:
    """What scopes differ in, so that their titles say that and no more."""
    words = ["model", "world", "variant", "start"]
    return [w for w in words if len({getattr(s, w) for s in plain}) > 1] or ["model"]


def _any_values(plain: Sequence[Scope], measure: Measure) -> list[float]:
    found = []
    for scope in plain:
        for method in scope.methods:
            choice = choose(scope, method, "worst_group")
            found += list(choice.values(measure).values()) if choice else []
    return found


def _name(trial: Trial) -> dict[str, Any]:
    words = ("key", "world", "variant", "model", "start", "method", "config", "seed")
    return {w: trial.about.get(w, "") for w in words}


def _flat(trial: Trial) -> dict[str, Any]:
    """One row of the full table."""
    about = {**_name(trial), "phase": trial.about.get("phase", ""), "state": trial.state, "train_seconds": trial.seconds}
    return {**about, **{k: v for k, v in trial.row.items() if not isinstance(v, dict | list)}}


def _rows(study: Study, data: str) -> pa.Table | None:
    dataset = study.datasets.get(data)
    if dataset is None:
        return None
    try:
        return dataset.table(SPLIT)
    except SpurgenError:
        return None


def _audit(study: Study, data: str) -> Audit | None:
    from spurgen.latents.audit import audit

    dataset = study.datasets.get(data)
    try:
        return audit(dataset.table(), dataset.spec) if dataset is not None else None
    except SpurgenError:
        return None


def _dataset(study: Study, name: str) -> dict[str, Any]:
    """What a reader needs to know that they have the same rows."""
    mine = [t for t in study.trials if t.data == name]
    dataset = study.datasets.get(name)
    found = {"name": name, "spec_id": mine[0].about.get("spec_id", ""), "trials": len(mine), "spec_digest": mine[0].about.get("spec_digest", "")}
    if dataset is None:
        return {**found, "rows": mine[0].about.get("rows", 0), "seed": mine[0].about.get("data_seed", 0), "digest": "", "toml": ""}
    return {**found, "rows": len(dataset), "seed": dataset.seed, "digest": dataset.digest, "toml": dataset.spec.to_toml()}
