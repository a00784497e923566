from __future__ import annotations

import json
import math

import numpy as np
import pytest

from spurgen.errors import DataError
from spurgen.report.choices import choose, measures, scopes
from spurgen.report.harm import answers, harms
from spurgen.report.reading import read
from spurgen.report.seeds import over_seeds
from spurgen.report.sentences import headline
from spurgen.report.summarize import summarize
from tests.report.studies import ERM, Believer, Told, fabricate, usual
from tests.worlds import world

KNOWS = Believer(60.0, {}, noise=0.0)  # the right class, and no channel moves it
CHEATS = Believer(0.0, {"background": 60.0}, noise=0.0)  # the class that the background belongs to


def of_two(tmp_path, first, second, seeds=3, **how):
    """A study of erm and contrastive that believe what is given."""
    trials = [
        Told(m, b, seed=s) for s in range(seeds) for m, b in (("erm", first), ("contrastive", second)) if b is not None
    ]
    return fabricate(tmp_path / "study", {"small-0": world()}, trials, **how)


def test_whoever_cheats_is_found_out_by_arithmetic(tmp_path):
    found = summarize(of_two(tmp_path, CHEATS, KNOWS))
    (scope,) = found.scopes
    assert (scope.reference, scope.best, scope.title) == ("erm", "contrastive", "small_cnn")
    worst = scope.panels["worst_group"]["worst_group_accuracy"]
    assert (worst.of("erm").mean, worst.of("contrastive").mean) == (0.0, 1.0)
    background, hue = scope.harms["erm"]
    assert (background.channel, hue.channel) == ("background", "hue")
    # three backgrounds, one for each class: it is right where the background agrees, and nowhere else; every mistake
    # names the class of the background, which of two wrong classes one would hit by chance half of the time
    assert (background.agrees, background.disagrees, background.lost) == (1.0, 0.0, 1.0)
    assert (background.led, background.chance) == (1.0, 0.5)
    assert hue.sss.mean == 0.0
    # Shuffle gives another background in 2 of 3 draws, and moves belief by 1 where that makes or ends agreement
    assert background.sss.mean == pytest.approx(4 / 9, abs=0.1)  # 60 rows, 2 draws
    assert [h.sss.mean for h in scope.harms["contrastive"]] == [0.0, 0.0]
    assert np.trace(scope.confusion["contrastive"]) == np.sum(scope.confusion["contrastive"]) == 3 * 60
    assert scope.confused["contrastive"] == []
    assert all(pair.led["background"] == pair.times for pair in scope.confused["erm"])
    assert sum(p.times for p in scope.confused["erm"]) == np.sum(scope.confusion["erm"]) - np.trace(
        scope.confusion["erm"]
    )


def test_differences_without_any_spread_are_decided_by_signs(tmp_path):
    (scope,) = summarize(of_two(tmp_path, CHEATS, KNOWS)).scopes
    found = scope.panels["worst_group"]["worst_group_accuracy"].against("contrastive")
    assert found.difference == 1.0 and not found.decided  # three seeds alike: 2/2³ = 0.25
    assert "not decided" in scope.sentences[1] and headline(scope).endswith("that is not decided")


def test_six_seeds_alike_are_enough(tmp_path):
    (scope,) = summarize(of_two(tmp_path, CHEATS, KNOWS, seeds=6)).scopes
    found = scope.panels["worst_group"]["worst_group_accuracy"].against("contrastive")
    assert found.decided and found.better  # 2/2⁶ = 0.031
    assert headline(scope) == "small_cnn leans on the background; contrastive helps"
    assert "lifts the worst group from 0% to 100%, which is decided" in scope.sentences[1]


def test_a_remedy_that_does_not_help_is_said_not_to(tmp_path):
    (scope,) = summarize(of_two(tmp_path, KNOWS, CHEATS)).scopes
    assert "No remedy does better" in scope.sentences[1]
    assert headline(scope).endswith("no remedy helps")


def test_one_method_alone_is_compared_with_nothing(tmp_path):
    (scope,) = summarize(of_two(tmp_path, CHEATS, None)).scopes
    assert scope.best == "" and scope.panels["worst_group"]["accuracy"].comparisons == ()
    assert headline(scope).endswith("no remedy was tried")


def test_another_reference_where_that_of_the_study_has_not_come_to_its_end(tmp_path):
    trials = [Told("erm", ERM, fails="no memory"), Told("dfr", KNOWS)]
    (scope,) = summarize(fabricate(tmp_path / "s", {"small-0": world()}, trials)).scopes
    assert scope.reference == "dfr" and scope.methods == ("dfr",)


def test_rules_choose_configurations(study):
    (scope,) = scopes(study)
    assert choose(scope, "group_dro", "worst_group").config == "eta=0.1"
    chosen = choose(scope, "group_dro", "oracle")
    assert sorted(chosen.trials) == [0, 1, 2] and set(chosen.checks) == {0, 1, 2}


def test_scores_are_those_of_the_check_that_was_chosen(study):
    (scope,) = scopes(study)
    worst = measures([])[0]
    chosen = choose(scope, "erm", "training")
    for seed, value in chosen.values(worst).items():
        assert value == chosen.checks[seed]["test_worst_group"]
        best = max(r["training_accuracy"] for r in chosen.trials[seed].selection)
        assert chosen.checks[seed]["training_accuracy"] == best


def test_without_checks_the_final_weights_count(tmp_path):
    path = of_two(tmp_path, CHEATS, KNOWS, keep_checks=False)
    found = summarize(path)
    (scope,) = found.scopes
    assert scope.panels["oracle"]["worst_group_accuracy"].of("contrastive").mean == 1.0
    assert scope.courses == {}


def test_every_trial_is_scored_on_the_rows_of_its_own_seed(tmp_path):
    trials = [Told("erm", CHEATS, seed=seed, data=f"small-{seed}") for seed in range(2)]
    worlds = {"small-0": world(), "small-1": world(channels__background__values=["bricks", "stripes", "dots"])}
    study = read(fabricate(tmp_path / "s", worlds, trials))
    given = answers(study, study.done)
    assert [a.spec.values("background")[0] for a in given] == ["stripes", "bricks"]
    assert harms(study.done, given)[0].led == 1.0


def test_ablations(summary):
    strength, without = summary.ablations
    assert strength.has_places and [v.place for v in strength.variants[1:]] == [0.5, 0.8]
    assert [v.name for v in without.variants] == ["as it is", "without hue"] and not without.has_places
    assert set(strength.methods) == {"erm", "contrastive"}
    assert strength.variants[1].scores["erm"].mean > strength.variants[0].scores["erm"].mean


def test_curves_are_means_over_seeds(summary, study):
    (scope,) = summary.scopes
    curve = next(c for c in scope.courses["Average, test rows"] if c.method == "erm")
    mine = [t.checks["test accuracy"] for t in study.done if t.plan.method == "erm" and not t.plan.variant]
    assert curve.means == pytest.approx(np.mean(mine, 0)) and curve.lows == pytest.approx(np.min(mine, 0))
    assert len(scope.courses["Training loss"][0].steps) <= 60


def test_what_failed_is_counted_and_named(summary):
    assert summary.counts == {"done": 27, "failed": 1}
    (failed,) = summary.failed
    assert failed["method"] == "irm" and failed["reason"].startswith("the loss became NaN")


def test_a_summary_is_plain_data(summary):
    data = json.loads(json.dumps(summary.as_dict(), allow_nan=False))
    assert data["scopes"][0]["best"] == "contrastive" and data["datasets"][0]["digest"]
    assert data["datasets"][0]["toml"].startswith("id =")


def test_nothing_imports_torch():
    import subprocess
    import sys

    code = "import sys, spurgen; spurgen.report; import spurgen.report.page; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_intervals_over_seeds():
    found = over_seeds({0: 0.4, 1: 0.5, 2: 0.6})
    # t(0.975, 2) = 4.3027; 4.3027 × 0.1 / √3 = 0.24842
    assert (found.mean, found.sd, found.low, found.high) == pytest.approx((0.5, 0.1, 0.25158, 0.74842), abs=1e-5)
    assert over_seeds({0: 0.9, 1: 1.0}, bounds=(0.0, 1.0)).high == 1.0
    assert (over_seeds({0: 0.5}, (0.4, 0.6)).low, over_seeds({0: 0.5}).n) == (0.4, 1)
    assert over_seeds({}).n == 0 and math.isnan(over_seeds({}).mean)


def test_what_is_no_study_is_refused(tmp_path):
    with pytest.raises(DataError, match="no directory"):
        read(tmp_path / "nowhere")
    with pytest.raises(DataError, match="holds no study"):
        read(tmp_path)


def test_files_that_are_damaged_count_as_missing(tmp_path):
    path = of_two(tmp_path, CHEATS, KNOWS, seeds=1)
    for name in ("results.json", "predictions.parquet", "strips.parquet"):
        for file in path.glob(f"trials/*/scores/{name}"):
            file.write_bytes(b"{nothing")
    for file in path.glob("trials/*/run/*.parquet"):
        file.write_bytes(b"PAR1 nothing")
    (scope,) = summarize(path).scopes
    assert scope.panels["worst_group"]["worst_group_accuracy"].of("contrastive").mean == 1.0  # of the ledger's row
    assert not scope.harms["erm"] and not scope.groups and not scope.courses


def test_four_methods_are_told_apart(summary):
    (scope,) = summary.scopes
    order = [s.method for s in scope.panels["worst_group"]["worst_group_accuracy"].scored]
    assert order[0] == "contrastive" and order[-1] == "erm"
    assert len(usual(3)) == scope.trials == 15 and scope.seeds == 3
