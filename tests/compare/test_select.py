"""Selection rules: each picks the trial it should, and none can be fooled by failures, NaNs or the order of records."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spurgen.compare.select import RULES, select
from spurgen.errors import DataError, SpurgenError, UnknownName

NAN = math.nan
COLUMNS = (
    "val_accuracy",
    "val_worst_group",
    "val_worst_class",
    "training_accuracy",
    "test_accuracy",
    "test_worst_group",
)


def check(config: str, seed: int, step: int, everywhere: float = 0.5, **columns: Any) -> dict[str, Any]:
    return {"config": config, "seed": seed, "step": step, **dict.fromkeys(COLUMNS, everywhere), **columns}


def constructed() -> list[dict[str, Any]]:
    """Five configurations, two seeds, three checks each; one column tells each configuration from the others."""
    best = {
        "lr=1": "val_worst_group",
        "lr=2": "val_accuracy",
        "lr=3": "val_worst_class",
        "lr=4": "training_accuracy",
        "lr=5": "test_worst_group",
    }
    return [
        # the second check is the best; the other seed is .1 worse
        check(config, seed, step, **{column: (0.9 if step == 20 else 0.7) - seed / 10})
        for config, column in best.items()
        for seed in (0, 1)
        for step in (10, 20, 30)
    ]


@pytest.mark.parametrize(
    ("rule", "config"),
    [("worst_group", "lr=1"), ("average", "lr=2"), ("worst_class", "lr=3"), ("training", "lr=4"), ("oracle", "lr=5")],
)
def test_every_rule_picks_another_trial(rule: str, config: str) -> None:
    found = select(constructed(), rule)
    assert [(c.config, c.seed, c.step) for c in found.chosen] == [(config, 0, 20), (config, 1, 20)]
    assert [c.value for c in found.chosen] == pytest.approx([0.9, 0.8])
    assert found.reason == "" and found.missing == () and found.passed_over == ()
    expected = [0.9, 0.8] if rule == "oracle" else [0.5, 0.5]
    assert list(found.scores("test_worst_group").values()) == pytest.approx(expected)
    last = select(constructed(), rule, checks="last")
    assert [(c.config, c.step) for c in last.chosen] == [(config, 30)] * 2


def test_there_are_five_rules_and_one_looks_at_test() -> None:
    assert list(RULES) == ["worst_group", "average", "worst_class", "training", "oracle"]
    assert [name for name, rule in RULES.items() if rule.looks_at_test] == ["oracle"]
    assert all(name == rule.name and rule.about for name, rule in RULES.items())


def test_the_mean_over_seeds_decides_and_not_the_best_seed() -> None:
    # a: (1.0 + .2)/2 = .6; b: (.7 + .7)/2 = .7
    records = [check("a", 0, 1, 1.0), check("a", 1, 1, 0.2), check("b", 0, 1, 0.7), check("b", 1, 1, 0.7)]
    assert {c.config for c in select(records, "average").chosen} == {"b"}
    assert [c.config for c in select(records, "average", per_seed=True).chosen] == ["a", "b"]


def test_each_seed_has_its_own_best_check() -> None:
    records = [check("", 0, 1, 0.3), check("", 0, 2, 0.6), check("", 1, 1, 0.8), check("", 1, 2, 0.4)]
    assert [(c.step, c.value) for c in select(records, "worst_group").chosen] == [(2, 0.6), (1, 0.8)]
    assert [(c.step, c.value) for c in select(records, "worst_group", checks="last").chosen] == [(2, 0.6), (2, 0.4)]


def test_a_configuration_does_not_win_by_losing_its_bad_seed() -> None:
    # a: .9 and a failure; b: (.8 + .4)/2 = .6
    records = [check("a", 0, 1, 0.9), check("b", 0, 1, 0.8), check("b", 1, 1, 0.4)]
    for failed in ([], [check("a", 1, 1, NAN)]):  # no checks at all, or none that is a number
        found = select(records + failed, "average")
        assert {c.config for c in found.chosen} == {"b"}
        assert found.passed_over == ("a",)
        assert found.missing == ()
    # where nobody has all seeds, those that have most go first, and it is said which is missing
    found = select([check("a", 0, 1, 0.5), check("b", 1, 1, 0.4), check("b", 0, 1, NAN)], "average")
    assert [(c.config, c.seed) for c in found.chosen] == [("a", 0)]
    assert found.missing == (1,)
    # in a seed of its own it may be chosen
    assert [c.config for c in select(records, "average", per_seed=True).chosen] == ["a", "b"]


def test_ties_go_to_the_first_in_the_alphabet_and_the_earliest_step() -> None:
    records = [check("b", 0, 1), check("a", 0, 2), check("a", 0, 1)]
    for per_seed in (False, True):
        assert [(c.config, c.step) for c in select(records, "average", per_seed=per_seed).chosen] == [("a", 1)]


def test_what_no_rule_can_choose_says_why() -> None:
    records = [check("a", 0, 1, val_worst_group=NAN), check("a", 1, 1, val_worst_group=None)]
    found = select(records, "worst_group")
    assert found.chosen == ()
    assert found.reason == "no check has a number for val_worst_group"
    assert found.missing == (0, 1)
    assert select(records, "average").chosen
    assert select([], "average").reason == "there are no checks to choose from"
    # the last check is the last, also if it is NaN
    records = [check("a", 0, 1), check("a", 0, 2, NAN)]
    assert select(records, "average").chosen
    assert select(records, "average", checks="last").reason == "no last check has a number for val_accuracy"
    # a column that was never recorded has no numbers either
    bare = [{"config": "a", "seed": 0, "step": 1, "val_accuracy": 0.5}]
    assert "training_accuracy" in select(bare, "training").reason
    assert math.isnan(select(bare, "average").chosen[0].test_accuracy)
    assert select(bare, "average", per_seed=True).missing == ()


def test_plain_data() -> None:
    data = select([check("a", 0, 1, test_accuracy=NAN)], "average").as_dict()
    assert data["chosen"][0]["test_accuracy"] is None
    assert json.loads(json.dumps(data, allow_nan=False)) == data


def test_mistakes_are_one_sentence() -> None:
    with pytest.raises(UnknownName, match="did you mean 'worst_group'"):
        select([], "worst-group")
    with pytest.raises(SpurgenError, match="'all' or 'last'"):
        select([], "average", checks="best")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="two checks of configuration 'a', seed 0, step 1"):
        select([check("a", 0, 1), check("a", 0, 1)], "average")
    with pytest.raises(DataError, match="no 'step'"):
        select([{"config": "a", "seed": 0}], "average")


SCORES = st.sampled_from([0.0, 0.1, 0.2, 0.5, 0.7, 1.0])  # so that there are ties


@st.composite
def histories(draw: st.DrawFn, scores: st.SearchStrategy[float] = SCORES) -> list[dict[str, Any]]:
    """Checks of up to three configurations in up to three seeds; some trials are missing."""
    trials = draw(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 2)), min_size=1, max_size=9, unique=True))
    steps = [(config, seed, step) for config, seed in trials for step in range(draw(st.integers(1, 3)))]
    return [check(*at, **{column: draw(scores) for column in COLUMNS}) for at in steps]


ANY = st.one_of(SCORES, st.just(NAN))
WAYS = {"checks": st.sampled_from(["all", "last"]), "per_seed": st.booleans()}


@settings(max_examples=80, deadline=None)
@given(records=histories(ANY), ways=st.fixed_dictionaries(WAYS), rule=st.sampled_from(list(RULES)), data=st.data())
def test_the_order_of_records_does_not_matter(records: Any, ways: Any, rule: str, data: st.DataObject) -> None:
    other = data.draw(st.permutations(records))
    assert select(records, rule, **ways).as_dict() == select(other, rule, **ways).as_dict()


@settings(max_examples=80, deadline=None)
@given(records=histories(ANY), ways=st.fixed_dictionaries(WAYS), rule=st.sampled_from(list(RULES)))
def test_a_nan_is_never_chosen(records: Any, ways: Any, rule: str) -> None:
    found = select(records, rule, **ways)
    assert all(math.isfinite(c.value) for c in found.chosen)
    assert bool(found.chosen) != bool(found.reason)
    seeds = [c.seed for c in found.chosen]
    assert seeds == sorted(set(seeds))
    assert sorted([*seeds, *found.missing]) == sorted({r["seed"] for r in records})
    if found.chosen and not ways["per_seed"]:
        assert len({c.config for c in found.chosen}) == 1


@settings(max_examples=80, deadline=None)
@given(records=histories(), ways=st.fixed_dictionaries(WAYS), rule=st.sampled_from(list(RULES)))
def test_the_oracle_is_an_upper_bound(records: Any, ways: Any, rule: str) -> None:
    """Of the same trials: where a column has no numbers for some, rules choose among different ones."""
    worst, bound = (
        list(select(records, name, **ways).scores("test_worst_group").values()) for name in (rule, "oracle")
    )
    assert len(worst) == len(bound)
    assert sum(worst) / len(worst) <= sum(bound) / len(bound) + 1e-12
