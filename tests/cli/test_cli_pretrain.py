"""`spurgen pretrain`, and `spurgen train --start`: what they print and keep, and a sentence for each mistake."""

import inspect
import json

import pytest

pytest.importorskip("torch")

from spurgen.cli.pretrain import command
from spurgen.store.writer import build
from spurgen.train.pretrain import OTHERS, pretrain
from tests.cli.calls import run
from tests.train.conftest import world

FEW = ("--steps", "2", "--batch-size", "8", "--size-px", "32")
SHORT = ("--steps", "2", "--batch-size", "16")
KEYS = {
    "directory", "format", "spurgen", "model", "world", "world_digest", "classes", "default_classes", "size_px",
    "options", "seed", "device", "key", "torch", "python", "state", "steps", "seconds", "accuracy", "digest",
}  # fmt: skip


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    out = tmp_path_factory.mktemp("cli") / "d"
    build(world(), out)
    return out


def test_a_start_is_made_and_begun_from(capsys, data, tmp_path):
    code, out, err = run(capsys, "pretrain", "--out", tmp_path / "s", *FEW)
    assert code == 0, err
    assert "small_cnn, 2 steps" in out and "tells 12 objects apart" in out and "spurgen train DIR" in out
    assert "note:" not in out
    code, out, _ = run(capsys, "pretrain", "--out", tmp_path / "s", *FEW, "--json")
    found = json.loads(out)
    assert code == 0 and set(found) == KEYS and found["classes"] == list(OTHERS)
    assert found == {"directory": str(tmp_path / "s")} | json.loads((tmp_path / "s/start.json").read_text())
    words = ("train", data, *SHORT, "--start", tmp_path / "s", "--out", tmp_path / "r")
    code, out, err = run(capsys, *words, "--json")
    assert code == 0, err
    told = json.loads(out)
    assert told["start"] == "pretrained" and told["start_digest"] == found["digest"]
    code, out, _ = run(capsys, *words)
    assert code == 0 and "start pretrained; complete already" in out
    code, out, err = run(capsys, "evaluate", tmp_path / "r", "--on", data, "--draws", 1)
    assert code == 0, err
    code, out, _ = run(capsys, "train", data, *SHORT, "--start", "nothing", "--out", tmp_path / "n", "--json")
    assert code == 0 and "start" not in json.loads(out)


def test_default_classes_are_said_and_quiet_says_nothing(capsys, tmp_path):
    words = ("pretrain", "--out", tmp_path / "s", *FEW, "--classes", "gear, mug,star")
    assert run(capsys, *words, "--quiet") == (0, "", "")
    code, out, _ = run(capsys, *words)
    assert code == 0 and "tells 3 objects apart" in out and "note: mug, star are classes of many worlds" in out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--model", "small_cn"), "there is no model 'small_cn'; did you mean 'small_cnn'?"),
        (("--model", "bag_of_words"), "bag_of_words reads captions, and a start is made of pictures alone"),
        (("--model", "efficientnet_lite0"), "train it as it is, without a start"),
        (("--classes", "gear,cactsu"), "did you mean 'cactus'?"),
        (("--classes", ""), "classes"),
        (("--learning-rate", "-1"), "learning_rate of training is -1.0; it must be at least 0"),
        (("--device", "tpu"), "there is no device 'tpu'; take auto, cpu or cuda"),
    ],
)
def test_mistakes_get_one_sentence(capsys, tmp_path, words, sentence):
    code, out, err = run(capsys, "pretrain", "--out", tmp_path / "s", *FEW, *words)
    assert code != 0 and not out
    assert sentence in err and err.startswith("error: ") and err.count("\n") == 1
    assert not (tmp_path / "s").exists(), "nothing is left behind"


def test_starts_that_are_none_get_one_sentence(capsys, data, tmp_path):
    for start, sentence in (
        (tmp_path / "nowhere", "holds no start, there is no start.json in it"),
        ("imagenet", "there are no weights of ImageNet for small_cnn"),
    ):
        code, out, err = run(capsys, "train", data, *SHORT, "--start", start, "--out", tmp_path / "r")
        assert code != 0 and not out and sentence in err and err.count("\n") == 1
        assert not (tmp_path / "r").exists()


def test_models_that_come_with_weights_are_shown(capsys):
    found = {row["name"]: row["pretrained"] for row in json.loads(run(capsys, "list", "models", "--json")[1])}
    assert found["efficientnet_lite0"] == "imagenet" and found["small_cnn"] == ""


def test_both_ways_of_calling_have_the_same_defaults():
    python = inspect.signature(pretrain).parameters
    for option in command.params:
        if option.name not in ("out", "classes", "learning_rate", "force", "as_json", "quiet"):
            assert option.default == python[option.name].default, option.name
