"""Which configuration and which check of it is chosen, by rules applied after training to what was recorded."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any, Literal

from spurgen.compare.plain import plain
from spurgen.errors import DataError, SpurgenError, UnknownName, brief, unknown

Record = Mapping[str, Any]
Checks = Literal["all", "last"]


@dataclass(frozen=True)
class Rule:
    """A way to choose: by the highest number in one column of the records."""

    name: str
    about: str
    column: str

    @property
    def looks_at_test(self) -> bool:
        """Whether it chooses by the rows that scores are reported on; nobody could choose so in earnest."""
        return self.column.startswith("test_")


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        rule.name: rule
        for rule in (
            Rule("worst_group", "highest accuracy in the worst group of the validation rows", "val_worst_group"),
            Rule("average", "highest accuracy on the validation rows", "val_accuracy"),
            Rule(
                "worst_class", "highest recall of the worst class: for when attributes are unknown", "val_worst_class"
            ),
            Rule("training", "highest accuracy on fresh rows of the training distribution", "training_accuracy"),
            Rule("oracle", "an upper bound: it looks at the worst group of the test rows", "test_worst_group"),
        )
    }
)


@dataclass(frozen=True)
class Chosen:
    """The check that stands for one seed."""

    seed: int
    config: str
    step: int
    value: float  # what the rule looked at
    test_accuracy: float
    test_worst_group: float


@dataclass(frozen=True)
class Selection:
    """What a rule chose, a check for each seed in ascending order; or nothing, with the reason."""

    rule: str
    chosen: tuple[Chosen, ...]
    reason: str  # why nothing was chosen; "" where something was
    missing: tuple[int, ...] = ()  # seeds in which what was chosen has no check with a number
    passed_over: tuple[str, ...] = ()  # configurations that lost because they have numbers in fewer seeds

    def scores(self, column: Literal["test_worst_group", "test_accuracy", "value"]) -> dict[int, float]:
        """One number for each seed, as `compare` takes them."""
        return {found.seed: getattr(found, column) for found in self.chosen}

    def as_dict(self) -> dict[str, Any]:
        """All fields as plain data for JSON."""
        return plain(asdict(self))


def select(records: Iterable[Record], rule: str, checks: Checks = "all", per_seed: bool = False) -> Selection:
    """The configuration of which the mean over seeds of each seed's best check is highest, and those best checks.

    `records` are the checks of one method, model and world: `config`, `seed`, `step` and the columns of the rules.
    With `checks="last"` each trial has only its last check: no early stopping. With `per_seed` every seed chooses its
    own configuration, as DomainBed does, where each trial seed draws settings of its own.

    A configuration that failed in some seeds must not win by having lost its bad ones: those with numbers in the most
    seeds go first, whatever their mean, and `passed_over` names the others. A NaN is never chosen; a trial whose checks
    are all NaN has failed. Ties go to the configuration that is first in the alphabet and then to the earliest step, so
    that nothing depends on the order of records, which is that in which trials happened to end.
    """
    if rule not in RULES:
        raise UnknownName(unknown("rule", rule, RULES))
    if checks not in ("all", "last"):
        raise SpurgenError(f"checks is {brief(checks)}; give 'all' or 'last'")
    trials = _trials(records)
    if not trials:
        return Selection(rule, (), "there are no checks to choose from")
    seeds = sorted({seed for _, seed in trials})
    best = {trial: found for trial, of in trials.items() if (found := _best(of, RULES[rule].column, checks))}
    if not best:
        which = "last check" if checks == "last" else "check"
        return Selection(rule, (), f"no {which} has a number for {RULES[rule].column}", tuple(seeds))
    if per_seed:
        chosen = [min((best[t] for t in best if t[1] == seed), key=_order, default=None) for seed in seeds]
        return _selection(rule, [found for found in chosen if found], seeds)
    configs: dict[str, list[Chosen]] = {}
    for config, seed in sorted(best):
        configs.setdefault(config, []).append(best[config, seed])
    most = max(map(len, configs.values()))
    means = {config: _mean(of) for config, of in configs.items() if len(of) == most}
    winner = max(means, key=means.__getitem__)  # the first of those that tie, and they are in the alphabet's order
    every = {config for config, _ in trials}
    return _selection(rule, configs[winner], seeds, tuple(sorted(every - set(means))))


def _trials(records: Iterable[Record]) -> dict[tuple[str, int], list[Record]]:
    """The checks of each configuration and seed, by step."""
    steps: dict[tuple[str, int], dict[int, Record]] = {}
    for record in records:
        try:
            config, seed, step = str(record["config"]), int(record["seed"]), int(record["step"])
        except KeyError as lost:
            raise DataError(f"a check has no {lost.args[0]!r}; give each its config, seed and step") from None
        of_trial = steps.setdefault((config, seed), {})
        if step in of_trial:
            where = f"configuration {config!r}, seed {seed}, step {step}"
            raise DataError(f"there are two checks of {where}; give the checks of one trial for each")
        of_trial[step] = record
    return {trial: [of[step] for step in sorted(of)] for trial, of in steps.items()}


def _best(records: Sequence[Record], column: str, checks: Checks) -> Chosen | None:
    """The check with the highest number, the earliest of those that tie; None where none has a number."""
    found = [_chosen(record, column) for record in (records[-1:] if checks == "last" else records)]
    return min((check for check in found if math.isfinite(check.value)), key=_order, default=None)


def _chosen(record: Record, column: str) -> Chosen:
    value, accuracy, worst = (_number(record.get(name)) for name in (column, "test_accuracy", "test_worst_group"))
    return Chosen(int(record["seed"]), str(record["config"]), int(record["step"]), value, accuracy, worst)


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)


def _order(check: Chosen) -> tuple[float, str, int]:
    """The highest first; of those that tie the first configuration, then the earliest step."""
    return -check.value, check.config, check.step


def _mean(of: Sequence[Chosen]) -> float:
    return math.fsum(check.value for check in of) / len(of)


def _selection(
    rule: str, chosen: Sequence[Chosen], seeds: Sequence[int], passed_over: tuple[str, ...] = ()
) -> Selection:
    missing = tuple(sorted(set(seeds) - {found.seed for found in chosen}))
    return Selection(rule, tuple(chosen), "", missing, passed_over)
