"""What rules choose, from a study's directory that nobody trained: ledger and checks are written by hand."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from spurgen.study import directory as place
from spurgen.study import ledger
from spurgen.study.plan import again, plan
from spurgen.study.results import Results, read_results
from spurgen.study.spec import StudySpec
from tests.study.conftest import study

ETAS = [0.001, 0.01, 0.1, 0.2, 0.3]
# Each setting of GroupDRO is the best by one rule and by no other.
BEST = {
    "eta=0.001": "worst_group_accuracy",
    "eta=0.01": "accuracy",
    "eta=0.1": "worst_class_accuracy",
    "eta=0.2": "training accuracy",
    "eta=0.3": "test worst_group_accuracy",
}
NAMES = ("loss", "accuracy", "worst_group_accuracy", "worst_class_accuracy")


def checks(seed: int, bonus: str = "", everywhere: float = 0.4, stages: tuple[int, ...] = (0, 0)) -> dict[str, Any]:
    """Two checks; the last has more of one thing, the first has it all where it is of another stage."""
    columns = ["", "test ", "training "]
    table = {f"{kind}{name}": [everywhere] * len(stages) for kind in columns for name in NAMES}
    if bonus:
        table[bonus][-1] = 0.8 + seed / 100
    for name in table:
        for i, stage in enumerate(stages):
            table[name][i] = 1.0 if stage < stages[-1] else table[name][i]
    return {"step": [10 * (i + 1) for i in range(len(stages))], **table, "stage": [float(s) for s in stages]}


def constructed(folder, told, **changes: Any) -> Results:
    """A study whose trials have the checks that `told` gives for them; None for one that failed."""
    asked = StudySpec.from_dict(study(methods={"erm": {}, "group_dro": {"eta": ETAS}}, **changes))
    trials = plan(asked, folder, "cpu")
    there = folder / "s"
    place.settle(there, "", {"id": "tiny", "device": "cpu", "description": "", "study": asked.dump(), "folder": ""})
    place.write_plan(there, trials)
    for trial in trials:
        write(there, trial, told(trial))
    return read_results(there)


def write(there, trial, found):
    if found is None:
        return ledger.append(there, trial.key, "failed", reason="it broke")
    run = place.trial_folder(there, trial.key) / "run"
    run.mkdir(parents=True)
    pq.write_table(pa.table(found), run / "checks.parquet")
    return ledger.append(there, trial.key, "done", seconds=1.0, row={"accuracy": 0.4})


@pytest.mark.parametrize("config", BEST)
def test_each_rule_picks_another_trial(folder, config):
    found = constructed(folder, lambda t: checks(t.seed, BEST.get(t.config, "")))
    rules = dict(zip(BEST, ("worst_group", "average", "worst_class", "training", "oracle"), strict=True))
    line = found.cell(found.places[0], rules[config]).lines[1]
    assert line.method == "group_dro" and line.config == config and line.seeds == [0, 1]
    assert {t.config for t in line.trials} == {config}
    # only the oracle's choice is better on the rows that are reported
    expected = {0: 0.8, 1: 0.81} if config == "eta=0.3" else {0: 0.4, 1: 0.4}
    assert line.worst_group_accuracy == pytest.approx(expected)


def test_checks_of_stages_before_the_last_do_not_count(folder):
    found = constructed(folder, lambda t: checks(t.seed, "accuracy", stages=(0, 1)), early_stopping=True)
    for line in found.cell(found.places[0], "average").lines:
        assert line.accuracy == {0: 0.4, 1: 0.4}


def test_settings_that_lost_a_seed_do_not_win(folder):
    def told(trial):
        if trial.config == "eta=0.001" and trial.seed == 1:
            return None
        return checks(trial.seed, "worst_group_accuracy" if trial.config == "eta=0.001" else "", 0.3)

    found = constructed(folder, told)
    line = found.cell(found.places[0], "worst_group").lines[1]
    assert line.config != "eta=0.001" and line.seeds == [0, 1] and line.failed == 1


def test_a_method_of_which_all_failed_or_nothing_is_done_says_so(folder):
    found = constructed(folder, lambda t: None if t.method == "group_dro" else checks(t.seed))
    erm, dro = found.cell(found.places[0], "average").lines
    assert erm.seeds == [0, 1] and not erm.reason
    assert (dro.seeds, dro.reason, dro.failed) == ([], "all its trials failed", 10)
    assert found.cell(found.places[0], "average").comparisons == {}


def test_without_validation_rows_only_the_other_rules_can_choose(folder):
    def told(trial):
        table = checks(trial.seed, "training accuracy" if trial.config == "eta=0.2" else "")
        return {name: [None, None] if name in NAMES else values for name, values in table.items()}

    found = constructed(folder, told)
    for rule, chosen in (("worst_group", ""), ("average", ""), ("training", "eta=0.2")):
        line = found.cell(found.places[0], rule).lines[1]
        assert line.config == chosen and bool(line.reason) == (chosen == "")


def test_of_a_search_what_counts_is_run_with_all_seeds(folder):
    search = {"samples": 4, "options": ["learning_rate"]}
    asked = StudySpec.from_dict(study(search=search, seeds=3))
    trials = plan(asked, folder, "cpu")
    best = {t.key: t for t in trials if t.config.startswith("#2")}
    final = [t for trial in best.values() for t in again(asked, trial)]
    there = folder / "s"
    place.settle(there, "", {"id": "tiny", "device": "cpu", "description": "", "study": asked.dump(), "folder": ""})
    kept = {t.key: t for t in trials} | {t.key: t for t in final}
    place.write_plan(there, list(kept.values()))
    for trial in trials:
        write(there, trial, checks(0, "worst_group_accuracy" if trial.key in best else ""))
    line = read_results(there).cell(read_results(there).places[0], "worst_group").lines[0]
    assert line.config.startswith("#2") and line.seeds == [0]  # an early look: the search's own seed is there
    for trial in final:
        if trial.seed:
            write(there, trial, checks(trial.seed, "test worst_group_accuracy"))
    found = read_results(there)
    line = found.cell(found.places[0], "worst_group").lines[0]
    assert line.seeds == [0, 1, 2] and line.worst_group_accuracy == pytest.approx({0: 0.4, 1: 0.81, 2: 0.82})
    # by the average all are alike, and what comes first was not run with all seeds: nothing stands for it
    line = found.cell(found.places[0], "average").lines[0]
    assert (line.seeds, line.reason) == ([], "no trial that counts is done yet")


def test_ranks_over_worlds_and_seeds(folder):
    value = {"erm": 0.3, "group_dro": 0.5, "irm": 0.4}
    asked = StudySpec.from_dict(study(methods={m: {} for m in value}, seeds=4, ablations={"s": {"p": [0.5]}}))
    trials = plan(asked, folder, "cpu")
    there = folder / "s"
    place.settle(there, "", {"id": "tiny", "device": "cpu", "description": "", "study": asked.dump(), "folder": ""})
    place.write_plan(there, trials)
    for trial in trials:
        write(there, trial, checks(trial.seed, everywhere=value[trial.method]))
    ranking = read_results(there).ranking("average")
    # 2 worlds x 4 seeds, the same order in each: ranks 1, 2, 3
    assert ranking is not None and ranking.blocks == 8
    assert dict(ranking.average_ranks) == {"group_dro": 1.0, "irm": 2.0, "erm": 3.0}
    assert read_results(there).as_dict()["ranks"]["accuracy"]["decided"] is True
