"""Reports of studies that have little to say yet: a page, and what it lacks in words."""

from __future__ import annotations

import pytest

from spurgen.report import report
from spurgen.report.sentences import headline
from spurgen.report.summarize import summarize
from spurgen.study import directory as place
from spurgen.study.plan import plan
from spurgen.study.spec import StudySpec
from tests.study.conftest import _tiny_model, folder, study
from tests.study.test_choice import BEST, NAMES, checks, constructed, write

__all__ = ["_tiny_model", "folder"]


def test_while_a_search_goes_on(folder):
    asked = StudySpec.from_dict(study(search={"samples": 3, "options": ["learning_rate"]}, seeds=2))
    trials = plan(asked, folder, "cpu")
    place.settle(
        folder / "s", "", {"id": "tiny", "device": "cpu", "description": "", "study": asked.dump(), "folder": ""}
    )
    place.write_plan(folder / "s", trials)
    for trial in trials[:4]:
        write(folder / "s", trial, checks(trial.seed))
    assert "tiny" in report(folder / "s").read_text("utf-8")


def test_where_a_rule_can_choose_nothing_of_the_reference(folder):
    def told(trial):
        table = checks(trial.seed, "training accuracy" if trial.config.startswith("eta=0.2") else "")
        return {name: [None, None] if name in NAMES else values for name, values in table.items()}

    options = {"steps": 12, "batch_size": 32, "checks": 3, "learning_rate": [0.01, 0.02]}
    constructed(folder, told, options=options)
    found = summarize(folder / "s")
    assert found.scopes[0].panels["worst_group"]["worst_group_accuracy"].comparisons == ()
    assert found.scopes[0].panels["training"]["worst_group_accuracy"].comparisons
    assert report(folder / "s").is_file()


@pytest.mark.parametrize("rule", ["average", "training"])
def test_the_headline_is_that_of_the_studys_own_rule(folder, rule):
    constructed(folder, lambda t: checks(t.seed, BEST.get(t.config, "")), rule=rule)
    found = summarize(folder / "s")
    assert next(iter(found.scopes[0].panels)) == rule and found.rules[0] == rule
    assert headline(found.scopes[0])


def test_with_nothing_done_or_all_failed(folder):
    constructed(folder, lambda t: None)
    page = report(folder / "s").read_text("utf-8")
    assert "it broke" in page
