"""`spurgen train`: every method from the command line, what it prints and keeps, and a sentence for each mistake."""

import inspect
import json
import os
import subprocess
import sys

import pyarrow.parquet as pq
import pytest

pytest.importorskip("torch")

from spurgen.learning import METHODS, MODELS
from spurgen.train.options import Options
from tests.cli.calls import run
from tests.train.conftest import world

QUICK = ("--model", "small_cnn", "--steps", "4", "--batch-size", "16")
KEYS = {
    "directory", "format", "spurgen", "method", "settings", "model", "options", "seed", "device", "data", "data_digest",
    "stream", "splits", "group_by", "size_px", "key", "torch", "python", "task", "state", "steps", "seconds",
}  # fmt: skip


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    from spurgen.store.writer import build

    out = tmp_path_factory.mktemp("cli") / "d"
    build(world(), out)
    return out


@pytest.fixture(scope="module")
def spec_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("specs") / "small.toml"
    path.write_text(world().to_toml())
    return path


@pytest.mark.filterwarnings("ignore:JTT's first stage gets every training row right")
@pytest.mark.parametrize("method", METHODS.names())
def test_every_method_is_trained_and_evaluated(capsys, data, tmp_path, method):
    code, out, err = run(capsys, "train", data, "--method", method, *QUICK, "--out", tmp_path / "r")
    assert code == 0, err
    assert method in out and "4 steps" in out and "spurgen evaluate" in out
    code, out, err = run(capsys, "evaluate", tmp_path / "r", "--on", data, "--draws", 1)
    assert code == 0, err
    assert "worst-group accuracy" in out and "SSS" in out and "Invariance Gap" in out and "In short: right in" in out


def test_json_holds_what_is_documented(capsys, data, tmp_path):
    code, out, _ = run(capsys, "train", data, *QUICK, "--out", tmp_path / "r", "--json")
    found = json.loads(out)
    assert code == 0 and set(found) == KEYS
    assert set(found["task"]) == {"classes", "groups", "environments", "channels", "rows"}
    assert found["options"]["learning_rate"] == MODELS.get("small_cnn").learning_rate
    assert found == {"directory": str(tmp_path / "r")} | json.loads((tmp_path / "r/run.json").read_text())
    code, again, _ = run(capsys, "train", data, *QUICK, "--out", tmp_path / "r", "--json")
    assert json.loads(again) == found, "a complete run is only opened"


def test_a_stream_is_trained_on(capsys, spec_file, tmp_path):
    code, out, err = run(capsys, "train", spec_file, "--stream", *QUICK, "--out", tmp_path / "r")
    assert code == 0, err
    assert "4 steps" in out and "--on DIR" in out


def test_tensorboard_gets_scalars(capsys, data, tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    code, _, err = run(capsys, "train", data, *QUICK, "--out", tmp_path / "r", "--tensorboard", tmp_path / "logs")
    assert code == 0, err
    logs = EventAccumulator(str(tmp_path / "logs")).Reload()
    assert {"train/loss", "train/learning_rate", "val/accuracy"} <= set(logs.Tags()["scalars"])
    assert logs.Scalars("train/loss")[-1].step == 4


def test_quiet_says_nothing(capsys, data, tmp_path):
    assert run(capsys, "train", data, *QUICK, "--out", tmp_path / "r", "--quiet") == (0, "", "")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--method", "grop_dro"), "there is no method 'grop_dro'; did you mean 'group_dro'?"),
        (("--model", "small_cn"), "there is no model 'small_cn'; did you mean 'small_cnn'?"),
        (("--set", "eta=0.1"), "there is no setting of method erm, 'eta'; method erm has none"),
        (("--set", "eta"), "'eta' is no KEY=VALUE; write for example eta=0.01"),
        (("--method", "group_dro", "--set", "eta=1", "--set", "eta=2"), "eta is set twice; set it once"),
        (("--method", "group_dro", "--set", "eta=nan"), "eta of method group_dro is nan; it must be a finite number"),
        (("--option", "momentum=0.5"), "momentum would have no effect: only the optimiser sgd has one; leave it out"),
        (("--option", "stepps=5"), "there is no setting of training, 'stepps'; did you mean 'steps'?"),
        (("--epochs", "1"), "both epochs and steps are given; give one of them"),
        (("--option", "steps=5"), "steps is given twice; give it once"),
        (("--group-by", "colour"), "there is no column to group by 'colour'"),
        (("--device", "tpu"), "there is no device 'tpu'; take auto, cpu or cuda"),
        (("--graphs", "on", "--device", "cpu"), "graphs are for GPUs"),
    ],
)
def test_mistakes_get_one_sentence(capsys, data, tmp_path, words, sentence):
    code, out, err = run(capsys, "train", data, *QUICK, "--out", tmp_path / "r", *words)
    assert code != 0 and not out
    assert sentence in err and err.startswith("error: ") and err.count("\n") == 1
    assert not (tmp_path / "r").exists(), "nothing is left behind"


def test_data_and_directories_that_are_not_what_they_should_be(capsys, data, tmp_path):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("mine")
    for words, sentence in (
        ((tmp_path / "nothing", "--out", tmp_path / "r"), "is no dataset; draw one first (spurgen generate)"),
        ((mine, "--out", tmp_path / "r"), "holds no dataset"),
        ((data, "--out", mine), "is not empty and holds no run"),
        (("nonsense/v1", "--stream", "--out", tmp_path / "r"), "there is no preset 'nonsense/v1'"),
    ):
        code, _, err = run(capsys, "train", *words, *QUICK)
        assert code != 0 and sentence in err and err.count("\n") == 1
    assert (mine / "thesis.txt").read_text() == "mine"


def test_another_run_is_replaced_only_when_asked(capsys, data, tmp_path):
    assert run(capsys, "train", data, *QUICK, "--out", tmp_path / "r")[0] == 0
    code, _, err = run(capsys, "train", data, *QUICK, "--out", tmp_path / "r", "--seed", 1)
    assert code != 0 and "holds another run (erm, small_cnn, seed 0; its seed is 0, not 1)" in err and "--force" in err
    assert run(capsys, "train", data, *QUICK, "--out", tmp_path / "r", "--seed", 1, "--force")[0] == 0


def test_lists_of_methods_options_models_and_metrics(capsys):
    code, out, _ = run(capsys, "list", "methods", "--json")
    found = {row["name"]: row for row in json.loads(out)}
    assert code == 0 and list(found) == METHODS.names()
    keys = {"name", "needs", "settings", "paper", "about"}
    assert all(set(row) == keys for row in found.values())
    eta = next(s for s in found["group_dro"]["settings"] if s["name"] == "eta")
    assert eta["default"] == 0.01 and eta["search"] == "10^U(-3, -1)" and eta["about"]
    _, out, _ = run(capsys, "list", "methods")
    for row in found.values():
        assert f"{row['name']}   needs {row['needs']}" in out and row["paper"] in out
        assert all(f"{s['name']} = {s['default']}" in out and s["about"] in out for s in row["settings"])
    _, out, _ = run(capsys, "list", "options")
    assert all(name in out for name in Options.__dataclass_fields__)
    for what in ("options", "models", "metrics"):
        assert len(json.loads(run(capsys, "list", what, "--json")[1])) >= 5


WITHOUT = "import sys; sys.modules['torch'] = None; from spurgen.cli import main; main(sys.argv[1:])"


def test_without_torch_the_install_line_is_said_and_predictions_are_scored(data, tmp_path):
    def call(*words):
        words = [sys.executable, "-c", WITHOUT, *map(str, words)]
        return subprocess.run(words, capture_output=True, text=True, env=os.environ | {"COLUMNS": "200"})

    for words in (("train", data, "--out", tmp_path / "r"), ("evaluate", tmp_path / "r", "--on", data)):
        done = call(*words)
        assert done.returncode == 1
        assert "training needs an optional dependency; install it with: pip install 'spurgen[train]'" in done.stderr
    ids = pq.read_table(data / "data", columns=["row_id", "split"]).to_pylist()
    said = tmp_path / "said.csv"
    rows = [f"{row['row_id']},0.5,0.25,0.25" for row in ids if row["split"] == "test"]
    said.write_text("row_id,p_mug,p_heart,p_star\n" + "\n".join(rows))
    done = call("evaluate", "--predictions", said, "--on", data)
    assert done.returncode == 0 and "worst-group accuracy" in done.stdout, done.stderr


def test_a_method_whose_file_is_broken_is_named(capsys, monkeypatch, tmp_path):
    import spurgen.methods

    (tmp_path / "broken_one.py").write_text("import nope\n")
    monkeypatch.setattr(spurgen.methods, "__path__", [*spurgen.methods.__path__, str(tmp_path)])
    METHODS._modules.cache_clear()
    try:
        code, _, err = run(capsys, "list", "methods")
    finally:
        monkeypatch.undo()
        METHODS._modules.cache_clear()
    assert code == 1 and "the method 'broken_one' cannot be loaded from spurgen.methods.broken_one" in err
    assert "No module named 'nope'" in err and err.count("\n") == 1


def test_verbs_of_the_package_show_what_they_take():
    import spurgen

    assert {"method", "model", "out", "seed"} <= set(inspect.signature(spurgen.train).parameters)
    assert {"run", "on", "plan", "group_by"} <= set(inspect.signature(spurgen.evaluate).parameters)
