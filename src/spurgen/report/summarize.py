"""A study as plain data: what its report says, before anything is drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spurgen.compare.decide import Comparison, compare
from spurgen.compare.ranks import rank
from spurgen.errors import SpurgenError
from spurgen.report import sentences
from spurgen.report.ablations import Ablation, ablations
from spurgen.report.choices import Choice, Measure, Scope, choose, final, measures, scopes, variants
from spurgen.report.courses import Course, courses
from spurgen.report.harm import Harm, answers, harms
from spurgen.report.mistakes import Confused, confused, confusion
from spurgen.report.reading import Study, Trial, read
from spurgen.report.seeds import Estimate, over_seeds
from spurgen.spec.world import size_px
from spurgen.study.directory import start_folder

if TYPE_CHECKING:
    from spurgen.latents.audit import Audit


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
    ranking: str = ""  # who stands where in all seeds, in words; "" where there are too few methods or seeds

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
    model: str  # and what it starts from, where that is not nothing
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
    planned: tuple[str, ...] = ()  # methods that the study asks for


@dataclass(frozen=True)
class Summary:
    """Everything that a report says but for its pictures."""

    about: dict[str, Any]
    text: str
    name: str  # of the study's directory
    rule: str
    rules: tuple[str, ...]
    early_stopping: bool  # whether rules choose among all checks of a trial, or take the last
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
    rule, reference = study.spec.rule, study.spec.reference
    rules = (rule, *(other for other in study.spec.rules if other != rule))  # the first is what a reader sees first
    plain = scopes(study)
    channels = list(dict.fromkeys(c for t in study.done for c in t.scores.get("sss", {})))
    wanted = [m for m in measures(channels) if any(_is_known(m, t) for scope in plain for t in scope.trials)]
    headline = measures([])[0]
    several = _several(plain)
    found = [_scope(study, scope, rules, rule, reference, wanted, several) for scope in plain]
    kinds = dict.fromkeys(t.plan.ablation for t in study.trials if t.plan.variant)
    varied = [scope for kind in kinds for scope in variants(study, kind)]
    rows = ablations(plain, varied, rule, lambda choice: _estimate(choice, headline)) if varied else []
    states = [t.state for t in study.trials]
    return Summary(
        about=dict(study.about),
        text=study.text,
        name=study.directory.resolve().name,
        rule=rule,
        rules=rules,
        early_stopping=study.spec.early_stopping,
        reference=reference,
        counts={state: states.count(state) for state in ("done", "failed", "open") if state in states},
        scopes=found,
        ablations=rows,
        trials=[_flat(t) for t in study.trials],
        settled=[{**t.plan.as_dict(), "state": t.state, "starts_from": _starts_from(study, t)} for t in study.trials],
        failed=[{**_name(t), "reason": t.reason} for t in study.trials if t.reason],
        datasets=[_dataset(study, name) for name in dict.fromkeys(t.plan.data for t in study.trials)],
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
    asked, reference = reference, reference if reference in scope.methods else scope.methods[0]
    chosen = {r: [c for m in scope.methods if (c := choose(scope, m, r)) is not None] for r in rules}
    panels = {r: {m.key: _panel(chosen[r], m, r, asked) for m in wanted} for r in rules}
    first = panels[rule].get(wanted[0].key) if wanted else None
    remedies = [s.method for s in first.scored if s.method != reference and s.estimate.n] if first else []
    best = remedies[0] if remedies else ""
    choices = {c.method: c for c in chosen[rule]}
    trials = {m: list(c.trials.values()) for m, c in choices.items()}
    given = {m: answers(study, ts) for m, ts in trials.items()}
    harmed = {m: harms(ts, given[m]) for m, ts in trials.items()}
    shown = _shown(choices, reference, best)
    place = scope.place
    model = place.model if place.start == "nothing" else f"{place.model} ({place.start})"
    return ScopeSummary(
        title=", ".join(_said(w, str(getattr(place, w))) for w in several),
        world=place.world,
        model=model,
        start=place.start,
        variant=place.variant,
        data=shown[reference].plan.data if reference in shown else done[0].plan.data,
        reference=reference,
        best=best,
        methods=scope.methods,
        trials=len(done),
        seeds=len({t.plan.seed for t in done}),
        panels=panels,
        harms=harmed,
        groups=_groups(trials),
        gaps=_gaps(trials),
        courses=courses(trials),
        confusion={m: counted for m, ts in trials.items() if (counted := confusion(ts))},
        confused={m: confused(given[m]) for m in (reference, best) if m in given},
        classes=tuple(next((t.scores["classes"] for t in done if t.scores.get("classes")), ())),
        sentences=sentences.of_scope(
            model, asked, reference, best, panels[rule], harmed.get(reference, []), len(scope.study.methods)
        ),
        planned=tuple(scope.study.methods),
        trial_of={m: t.plan.key for m, t in shown.items()},
    )


def _shown(choices: dict[str, Choice], reference: str, best: str) -> dict[str, Trial]:
    """For each method the trial whose pictures are shown: that of the first seed, the same for those compared."""
    both = [set(choices[m].trials) for m in (reference, best) if m in choices]
    common = set.intersection(*both) if both else set()
    found = {}
    for method, choice in choices.items():
        seeds = common if method in (reference, best) and common else set(choice.trials)
        if seeds:
            found[method] = choice.trials[min(seeds)]
    return found


def _panel(choices: Sequence[Choice], measure: Measure, rule: str, reference: str) -> Panel:
    scored = [Scored(c.method, c.config, _estimate(c, measure)) for c in choices]
    sign = -1 if measure.higher_is_better else 1
    scored.sort(key=lambda s: (math.isnan(s.estimate.mean), sign * s.estimate.mean, s.method))
    values = {c.method: c.values(measure) for c in choices}
    values = {m: v for m, v in values.items() if v}
    unit = (
        {"unit": "points", "scale": 100.0, "decimals": 1}
        if measure.is_share
        else {"unit": "nats", "scale": 1.0, "decimals": 2}
    )
    how: dict[str, Any] = {"higher_is_better": measure.higher_is_better, "what": measure.title.lower(), **unit}
    compared = tuple(compare(values, reference, **how)) if reference in values else ()
    return Panel(measure, tuple(scored), compared, _ranking(values, measure.higher_is_better))


def _ranking(values: Mapping[str, Mapping[int, float]], higher_is_better: bool) -> str:
    """The ranks of three methods or more over two seeds or more."""
    known: dict[str, Any] = {m: v for m, v in values.items() if v}
    if len(known) < 3:
        return ""
    found = rank(known, higher_is_better=higher_is_better)
    return found.sentence if found.blocks > 1 else ""


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
                row = found.setdefault(
                    g["name"], {"name": g["name"], "n": g["n"], "train": g["train_rows"], "methods": {}}
                )
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


def _said(what: str, value: str) -> str:
    """A part of a title; a start says that it is one."""
    if what != "start":
        return value
    return "from random weights" if value == "nothing" else f"from {value}"


def _several(plain: Sequence[Scope]) -> list[str]:
    """What scopes differ in, so that their titles say that and no more."""
    words = ["model", "world", "variant", "start"]
    return [w for w in words if len({getattr(s.place, w) for s in plain}) > 1] or ["model"]


def _is_known(measure: Measure, trial: Trial) -> bool:
    """Whether a trial was measured so, at its end or at a check."""
    if trial.state != "done":
        return False
    checked = (record.get(measure.checked, math.nan) for record in trial.selection) if measure.checked else ()
    return math.isfinite(final(trial, measure.key)) or any(map(math.isfinite, checked))


def _name(trial: Trial) -> dict[str, Any]:
    words = ("key", "world", "variant", "model", "start", "method", "config", "seed")
    return {w: getattr(trial.plan, w) for w in words}


def _starts_from(study: Study, trial: Trial) -> str:
    """What `spurgen train --start` is to be given; a path is seen from the study's directory."""
    if trial.plan.start != "pretrained":
        return trial.plan.start
    world = study.world(trial.plan.data)
    return str(start_folder(Path(), trial.plan, size_px(world) if world is not None else 0))


def _flat(trial: Trial) -> dict[str, Any]:
    """One row of the full table."""
    about = {**_name(trial), "phase": trial.plan.phase, "state": trial.state, "train_seconds": trial.seconds}
    return {**about, **{k: v for k, v in trial.row.items() if not isinstance(v, dict | list)}}


def _audit(study: Study, data: str) -> Audit | None:
    from spurgen.latents.audit import audit

    dataset = study.datasets.get(data)
    try:
        return audit(dataset.table(), dataset.spec) if dataset is not None else None
    except SpurgenError:
        return None


def _dataset(study: Study, name: str) -> dict[str, Any]:
    """What a reader needs to know that they have the same rows."""
    mine = [t.plan for t in study.trials if t.plan.data == name]
    first, dataset = mine[0], study.datasets.get(name)
    found = {"name": name, "spec_id": first.spec_id, "spec_digest": first.spec_digest, "trials": len(mine)}
    if dataset is None:
        return {**found, "rows": first.rows, "seed": first.data_seed, "digest": "", "toml": ""}
    toml = dataset.spec.to_toml()
    return {**found, "rows": len(dataset), "seed": dataset.seed, "digest": dataset.digest, "toml": toml}
