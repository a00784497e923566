"""Studies as a person runs them: whole, killed, twice, with more methods, by several processes at once."""

from __future__ import annotations

import collections
import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time

import pyarrow.parquet as pq
import pytest

from spurgen.errors import DataError, SpurgenError
from spurgen.learning import METHODS
from spurgen.study import directory as place
from spurgen.study import ledger
from spurgen.study.choice import records_of
from spurgen.study.launch import Job
from spurgen.study.launch.local import launch
from spurgen.study.perform import claiming
from spurgen.study.plan import plan
from spurgen.study.results import read_results
from spurgen.study.run import run_study
from spurgen.study.spec import read
from spurgen.train.turns import beside
from tests.study.conftest import file_of


def run(path, out, **how):
    return run_study(path, out, jobs=1, device="cpu", **how)


def events(directory, state):
    return collections.Counter(line["key"] for line in ledger.lines(directory) if line["event"] == state)


def test_a_study_from_file_to_table(folder):
    told = []
    found = run(file_of(folder), folder / "s", progress=told.append)
    assert found.counts == {"done": 4, "failed": 0, "started": 0, "lost": 0, "open": 0}
    assert told[0][:3] == (0, 0, 4) and told[-1][:3] == (4, 0, 4) and told[-1].left_seconds == 0
    table = pq.read_table(folder / "s" / place.RESULTS).to_pylist()
    assert [(r["method"], r["seed"]) for r in table] == [(m, s) for s in (0, 1) for m in ("erm", "group_dro")]
    for row in table:
        scores = json.loads((folder / "s" / "trials" / row["key"] / "scores" / "results.json").read_text())
        assert row["accuracy"] == scores["metrics"]["accuracy"]
        assert row["sss_hue"] == scores["sss"]["hue"]["value"]
        assert row["state"] == "done" and row["train_seconds"] > 0
    cell = found.cell(found.places[0], "worst_group")
    assert [line.method for line in cell.lines] == ["erm", "group_dro"]
    assert [c.method for c in cell.comparisons["worst_group_accuracy"]] == ["group_dro"]
    json.dumps(found.as_dict(), allow_nan=False)


def test_a_study_killed_before_it_said_who_it_is_goes_on(folder):
    path = file_of(folder, seeds=1)
    (folder / "s").mkdir()
    (folder / "s" / place.FILE).write_text(path.read_text())
    (folder / "s" / f".{place.ABOUT}.7.tmp").write_text("{")
    assert run(path, folder / "s").counts["done"] == 2


def test_weights_need_not_be_kept(folder):
    found = run(file_of(folder, keep_weights=False, seeds=1), folder / "s")
    for trial in found.trials:
        there = {path.name for path in (folder / "s" / "trials" / trial.key / "run").iterdir()}
        assert "weights.safetensors" not in there and {"run.json", "checks.parquet", "records.parquet"} <= there
    again = run(file_of(folder, seeds=1), folder / "s")  # they were no part of what determines a trial
    assert sum(events(folder / "s", "started").values()) == len(again.trials)


def test_the_last_check_scores_the_same_rows_as_the_evaluation(folder):
    found = run(file_of(folder), folder / "s")
    for trial, row in zip(found.trials, found.rows(), strict=True):
        records = records_of(folder / "s", trial)
        assert [r["step"] for r in records] == [4, 8, 12]
        assert records[-1]["test_accuracy"] == pytest.approx(row["accuracy"], abs=1e-12)
        assert records[-1]["test_worst_group"] == pytest.approx(row["worst_group_accuracy"], abs=1e-12)
        assert 0 <= records[-1]["training_accuracy"] <= 1 and 0 <= records[-1]["val_worst_class"] <= 1


def test_run_again_it_does_nothing(folder):
    path = file_of(folder)
    run(path, folder / "s")
    before = (folder / "s" / ledger.LEDGER).read_bytes()
    told = []
    again = run(path, folder / "s", progress=told.append)
    assert again.counts["done"] == 4 and (folder / "s" / ledger.LEDGER).read_bytes() == before
    assert {(p.done, p.total) for p in told} == {(4, 4)}
    assert run(folder / "s", None).counts["done"] == 4  # and by its directory


def test_with_one_more_method_only_that_runs(folder):
    run(file_of(folder), folder / "s")
    found = run(file_of(folder, methods={"erm": {}, "irm": {}, "group_dro": {}}), folder / "s")
    assert found.counts["done"] == 6
    started = events(folder / "s", "started")
    assert len(started) == 6 and set(started.values()) == {1}


def test_what_left_the_file_leaves_the_results_and_comes_back_for_nothing(folder):
    run(file_of(folder), folder / "s")
    found = run(file_of(folder, methods={"erm": {}}), folder / "s")
    assert {t.method for t in found.trials} == {"erm"}
    assert run(file_of(folder), folder / "s").counts["done"] == 4
    assert sum(events(folder / "s", "started").values()) == 4


def test_a_failure_is_recorded_and_stops_nothing(folder):
    short = {"steps": [12, 1], "batch_size": 32, "checks": 3}
    path = file_of(folder, methods={"erm": {}, "crt": {}, "group_dro": {}}, options=short, seeds=1)
    found = run(path, folder / "s")
    assert found.counts == {"done": 5, "failed": 1, "started": 0, "lost": 0, "open": 0}
    ((trial, reason),) = found.failures
    assert trial.method == "crt" and reason == "1 steps are too few for 2 stages; train for more steps"
    failed = events(folder / "s", "failed")
    run(path, folder / "s")
    assert events(folder / "s", "failed") == failed  # not tried again unless asked
    run(path, folder / "s", retry=True)
    assert events(folder / "s", "failed") == failed + failed  # once more, and no more often
    line = found.cell(found.places[0], "worst_group").lines[1]
    assert (line.method, line.failed, line.config) == ("crt", 1, "steps=12")


def test_whatever_goes_wrong_is_a_failure_of_one_trial(folder, monkeypatch):
    def broken(*args, **how):
        raise AttributeError("a mistake of ours")

    monkeypatch.setattr("spurgen.study.perform.prepare", broken)
    found = run(file_of(folder), folder / "s")
    assert [reason for _, reason in found.failures] == ["AttributeError: a mistake of ours"] * 4


def test_what_no_trial_survives_ends_the_study(folder, monkeypatch):
    def broken(*args, **how):
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    monkeypatch.setattr("spurgen.study.perform.prepare", broken)
    with pytest.raises(SpurgenError, match="the GPU is in a state that no trial survives"):
        run(file_of(folder), folder / "s")
    assert read_results(folder / "s").counts["failed"] == 0


def test_one_content_with_two_names_is_run_once_and_shown_twice(folder):
    twice = {name: {"spec": "world.toml", "rows": 300} for name in ("one", "two")}
    found = run(file_of(folder, worlds=twice, seeds=1), folder / "s")
    assert len(found.trials) == 4 and found.counts["done"] == len(found.unique) == 2 == found.ran
    one, two = (found.cell(where, "average") for where in found.places)
    assert (one.place.world, two.place.world) == ("one", "two")
    assert [line.accuracy for line in one.lines] == [line.accuracy for line in two.lines] != []


def test_a_study_file_of_somebody_is_not_written_over(folder):
    (folder / "s").mkdir()
    mine = file_of(folder / "s")
    mine.write_text("# mine\n" + mine.read_text())
    with pytest.raises(DataError, match=r"holds a study.toml that is not this study's"):
        run(file_of(folder, id="tiny"), folder / "s")
    assert mine.read_text().startswith("# mine")


def test_directories_of_others_are_refused(folder):
    path = file_of(folder)
    run(path, folder / "s")
    with pytest.raises(DataError, match=r"holds the study 'tiny', not 'other'; choose another directory"):
        run(file_of(folder, "other.toml", id="other"), folder / "s")
    (folder / "full").mkdir()
    (folder / "full" / "letter.txt").write_text("dear")
    with pytest.raises(DataError, match="is not empty and holds no study"):
        run(path, folder / "full")
    with pytest.raises(DataError, match="is a file; choose a directory"):
        run(path, path)
    with pytest.raises(DataError, match="holds no study"):
        run(folder / "full", None)
    with pytest.raises(SpurgenError, match="say where the study is to be kept"):
        run(path, None)
    with pytest.raises(SpurgenError, match="leave out --out"):
        run(folder / "s", folder / "t")
    for name in ("jobs", "threads"):
        with pytest.raises(SpurgenError, match=rf"{name} is 0; it must be a whole number"):
            run_study(path, folder / "s", **{name: 0})


def test_what_trials_lost_is_made_again(folder):
    path = file_of(folder)
    whole = run(path, folder / "s")
    before = outcome(folder / "s")
    one, two, three, four = (folder / "s" / "trials" / t.key for t in whole.trials)
    other = (two / "run" / "checks.parquet").read_bytes()
    (one / "run" / "checks.parquet").unlink()
    content = (two / "scores" / "predictions.parquet").read_bytes()
    (two / "scores" / "predictions.parquet").write_bytes(content[: len(content) // 2])
    shutil.rmtree(three)
    (four / "run" / "checks.parquet").write_bytes(other)
    line = read_results(folder / "s").cell(whole.places[0], "average").lines[0]
    assert "is lost or damaged; the command that runs the study makes it again" in line.reason
    again = run(path, folder / "s")
    assert again.ran == 4 and outcome(folder / "s") == before
    assert run(path, folder / "s").ran == 0


def test_damaged_rows_are_drawn_again_before_anything_is_learnt(folder, monkeypatch):
    run(file_of(folder, methods={"erm": {}}, seeds=1), folder / "s")
    shard = next((folder / "s" / place.DATA).glob("*/data/train-*.parquet"))
    content = bytearray(shard.read_bytes())
    content[len(content) // 2] ^= 255
    shard.write_bytes(content)
    monkeypatch.setattr("spurgen.study.perform._WHOLE", set())  # as in another process
    assert run(file_of(folder, seeds=1), folder / "s").counts["done"] == 2
    assert shard.read_bytes() != bytes(content)


@pytest.mark.parametrize("content", [None, "", "{", "{}"])
def test_a_directory_that_lost_its_name_is_known_by_its_file(folder, content):
    path = file_of(folder)
    run(path, folder / "s")
    (folder / "s" / place.ABOUT).unlink()
    if content is not None:
        (folder / "s" / place.ABOUT).write_text(content)
    with pytest.raises(DataError, match="holds the study 'tiny', not 'other'"):
        run(file_of(folder, "other.toml", id="other"), folder / "s")
    assert run(path, folder / "s").ran == 0


@pytest.mark.parametrize("content", [None, "", "id = ", "id = 'tiny'"])
def test_a_directory_that_lost_its_file_is_known_by_its_name(folder, content):
    run(file_of(folder), folder / "s")
    (folder / "s" / place.FILE).unlink()
    if content is not None:
        (folder / "s" / place.FILE).write_text(content)
    assert run(folder / "s", None).ran == 0
    assert "tiny" in (folder / "s" / place.FILE).read_text()


def test_a_full_disk_ends_the_study_and_fails_no_trial(folder, monkeypatch):
    def full(*args, **how):
        try:
            raise OSError(errno.ENOSPC, "No space left on device")
        except OSError as error:
            raise DataError("no space left to write x; make room and run the same command again") from error

    with monkeypatch.context() as patched:
        patched.setattr("spurgen.study.perform.prepare", full)
        with pytest.raises(SpurgenError, match="no space left to write x; make room"):
            run(file_of(folder), folder / "s")
    assert run(file_of(folder), folder / "s").counts["done"] == 4


@pytest.mark.parametrize("name", [place.ABOUT, place.PLAN])
@pytest.mark.parametrize("content", ["", "{", "[1]", "{}", "[]"])
def test_damaged_files_get_a_sentence(folder, name, content):
    path = file_of(folder, seeds=1, methods={"erm": {}})
    run(path, folder / "s")
    (folder / "s" / name).write_text(content)
    if (name, content) == (place.PLAN, "[]"):
        assert read_results(folder / "s").trials == []
        return
    with pytest.raises(DataError) as raised:
        read_results(folder / "s")
    assert "\n" not in str(raised.value) and str(folder / "s") in str(raised.value)


def test_a_search_runs_its_best_again(folder):
    path = file_of(
        folder, seeds=3, search={"samples": 3, "options": ["learning_rate"]}, rules=["worst_group", "oracle"]
    )
    found = run(path, folder / "s")
    search = [t for t in found.trials if t.phase == "search"]
    final = [t for t in found.trials if t.phase == "final"]
    assert {t.seed for t in final} == {0, 1, 2} and len({t.key for t in found.trials}) == len(found.trials)
    # every method has three samples; those that a rule chose count, with all seeds, and are no longer of the search
    for method in ("erm", "group_dro"):
        chosen = {t.config for t in final if t.method == method}
        assert 1 <= len(chosen) <= 2
        assert len([t for t in search + final if t.method == method]) == 3 + 2 * len(chosen)
    for rule in ("worst_group", "oracle"):
        for line in found.cell(found.places[0], rule).lines:
            assert line.seeds == [0, 1, 2] and not line.reason
    before = (folder / "s" / ledger.LEDGER).read_bytes()
    run(path, folder / "s")
    assert (folder / "s" / ledger.LEDGER).read_bytes() == before


def test_a_method_that_learns_from_validation_rows_is_chosen_by_others(folder):
    found = run(file_of(folder, methods={"erm": {}, "dfr": {"reg": [0.1, 1.0]}}), folder / "s")
    dfr = [t for t in found.trials if t.method == "dfr"]
    for trial in dfr:
        (record,) = records_of(folder / "s", trial)  # that of the refitted head alone
        assert 0 <= record["val_accuracy"] <= 1
        checks = pq.read_table(folder / "s" / "trials" / trial.key / "run" / "checks.parquet").to_pylist()
        assert checks[-1]["stage"] == 1 and checks[-1]["accuracy"] != checks[-1]["accuracy"]  # NaN: it was fitted there
    assert found.cell(found.places[0], "average").lines[1].config in ("reg=0.1", "reg=1")


def test_groups_that_a_method_is_told_are_not_those_of_its_scores(folder):
    found = run(file_of(folder, methods={"erm": {}, "resample": {"group_by": ["label"]}}, seeds=1), folder / "s")
    plain, told = found.trials
    about = json.loads((folder / "s" / "trials" / told.key / "run" / "run.json").read_text())
    assert about["group_by"] == ["label"]
    for trial in (told, plain):
        scores = json.loads((folder / "s" / "trials" / trial.key / "scores" / "results.json").read_text())
        assert scores["group_by"] == ["background:aligned", "hue:aligned"]
        assert records_of(folder / "s", trial)[-1]["test_worst_group"] == scores["metrics"]["worst_group_accuracy"]
    checks = pq.read_table(folder / "s" / "trials" / told.key / "run" / "checks.parquet").to_pylist()[-1]
    assert records_of(folder / "s", told)[-1]["val_worst_group"] == checks["validation worst_group_accuracy"]


def test_a_start_is_made_once_and_begun_from(folder):
    models = {"tiny": {"starts": ["nothing", "pretrained"], "options": {"learning_rate": 0.001}}}
    path = file_of(folder, models=models, methods={"erm": {}}, pretrain={"steps": 6, "batch_size": 32})
    found = run(path, folder / "s")
    assert {t.start for t in found.trials} == {"nothing", "pretrained"} and found.counts["done"] == 4
    assert len(list((folder / "s" / place.STARTS).iterdir())) == 1
    for trial in found.trials:
        about = json.loads((folder / "s" / "trials" / trial.key / "run" / "run.json").read_text())
        assert bool(about.get("start")) == (trial.start == "pretrained")
    assert [where.words for where in found.places] == ["small, tiny", "small, tiny from pretrained"]


@pytest.mark.parametrize("method", METHODS.names())
def test_every_method_can_be_part_of_a_study(folder, method):
    methods = {"erm": {}, method: {"first_stage": 0.5} if method == "jtt" else {}}
    found = run(file_of(folder, methods=methods, seeds=1), folder / "s")
    assert found.counts["done"] == len(methods) == len(found.trials)


def test_trials_that_take_turns_find_what_they_would_alone(folder):
    path = file_of(folder, methods={"erm": {}, "mixup": {}, "dfr": {}})
    alone = run(path, folder / "alone")
    together = folder / "together"
    place.settle(together, path.read_text(), {"id": "tiny", "device": "cpu", "study": alone.study.dump(), "folder": ""})
    place.write_plan(together, alone.trials)
    shutil.copytree(folder / "alone" / place.WORLDS, together / place.WORLDS)
    work = (claiming(together, trial, retry=False) for trial in alone.trials)
    assert list(beside(work, 3)) == ["done"] * 6
    assert outcome(together) == outcome(folder / "alone")


# --------------------------------------------------------------------------------------------- several processes

STUDY = """
id = "cnn"
seeds = 2
[worlds.small]
spec = "world.toml"
rows = 300
[methods.erm]
[methods.group_dro]
[options]
steps = 30
batch_size = 32
checks = 2
"""


def start(folder, out="s", *more):
    (folder / "study.toml").write_text(STUDY)
    words = ["study", str(folder / "study.toml"), "--out", str(folder / out), "--device", "cpu", "--quiet", *more]
    program = f"from spurgen.cli import main; main({words!r})"
    return subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, text=True)


def outcome(directory):
    found = read_results(directory)
    rows = {row["key"]: {k: v for k, v in row.items() if k not in ("train_seconds",)} for row in found.rows()}
    return found.counts, rows


def test_two_processes_on_one_study_share_the_work(folder):
    both = [start(folder, "s", "--jobs", "1") for _ in range(2)]
    for process in both:
        _, said = process.communicate(timeout=300)
        assert process.returncode == 0, said
    counts, _ = outcome(folder / "s")
    assert counts == {"done": 4, "failed": 0, "started": 0, "lost": 0, "open": 0}
    assert set(events(folder / "s", "done").values()) == set(events(folder / "s", "started").values()) == {1}


def test_killed_again_and_again_it_ends_with_the_same_results(folder):
    whole = start(folder, "whole", "--jobs", "2")
    _, said = whole.communicate(timeout=300)
    assert whole.returncode == 0, said
    rng = random.Random(0)
    for _ in range(5):
        process = start(folder, "killed", "--jobs", "2")
        time.sleep(rng.uniform(0.5, 6))
        os.kill(process.pid, signal.SIGKILL)  # the parent alone: its processes must notice
        process.communicate()
    last = start(folder, "killed", "--jobs", "2")
    _, said = last.communicate(timeout=300)
    assert last.returncode == 0, said
    assert outcome(folder / "killed") == outcome(folder / "whole")
    assert set(events(folder / "killed", "done").values()) == {1}


def test_a_trial_that_keeps_killing_its_process_is_called_failed(folder):
    """Each process is killed as soon as it has begun the trial, by a thread that plays the system out of memory."""
    asked = read(STUDY.replace("seeds = 2", "seeds = 1").replace("[methods.group_dro]", ""), "x")
    trials, there = plan(asked, folder, "cpu"), folder / "s"
    there.mkdir()
    (there / place.WORLDS).mkdir()
    (there / place.WORLDS / f"{trials[0].spec_digest}.toml").write_text((folder / "world.toml").read_text())
    over, killed = threading.Event(), set()

    def kill():
        while not over.wait(0.01):
            for pid in {int(li["worker"].rpartition(":")[2]) for li in ledger.lines(there) if li["event"] == "started"}:
                if pid not in killed:
                    killed.add(pid)
                    os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        launch(Job(there, trials, "cpu", jobs=2))
    finally:
        over.set()
        killer.join()
    (entry,) = ledger.read(there).values()
    assert len(killed) == 2 and entry.state == "failed"
    assert entry.reason.startswith("its process was ended by signal 9") and "enough memory" in entry.reason


def test_a_world_that_cannot_be_read_fails_its_trials(folder):
    asked = read(STUDY.replace("seeds = 2", "seeds = 1"), "x")
    trials, there = plan(asked, folder, "cpu"), folder / "s"
    (there / place.WORLDS).mkdir(parents=True)
    (there / place.WORLDS / f"{trials[0].spec_digest}.toml").write_text("this is no TOML")
    launch(Job(there, trials, "cpu", jobs=2))
    assert ["is not valid TOML" in e.reason for e in ledger.read(there).values()] == [True, True]


def test_a_search_that_lost_its_checks_makes_them_again(folder):
    search = {"samples": 2, "options": ["learning_rate"]}
    path = file_of(folder, methods={"erm": {}}, search=search)
    run(path, folder / "s")
    before = outcome(folder / "s")
    for checks in (folder / "s" / "trials").glob("*/run/checks.parquet"):
        checks.unlink()
    assert run(path, folder / "s").ran == len(before[1]) and outcome(folder / "s") == before
