"""spurgen study at the command line: runs, says how far it is, and exits with 0 only when all was done."""

from __future__ import annotations

import json

import pytest

from tests.cli.calls import run
from tests.study.conftest import _tiny_model, file_of, folder

__all__ = ["_tiny_model", "folder"]


def study(capsys, *words):
    return run(capsys, "study", *words)


def test_a_study_at_the_terminal(capsys, folder):
    path, out = file_of(folder), folder / "s"
    code, said, _ = study(capsys, path, "--out", out, "--jobs", "1", "--device", "cpu")
    assert code == 0, said
    for words in ("group_dro", "erm", "worst group", "4 of 4 trials were run meanwhile", f"next: spurgen report {out}"):
        assert words in said
    code, said, _ = study(capsys, path, "--out", out, "--jobs", "1")
    assert code == 0 and "all 4 trials were settled already; nothing was run" in said
    code, said, _ = study(capsys, out, "--status")
    assert code == 0 and "4 done" in said and "group_dro" in said
    code, said, _ = study(capsys, out, "--status", "--json")
    told = json.loads(said)
    assert told["trials"] == {"done": 4, "failed": 0, "started": 0, "lost": 0, "open": 0, "total": 4}
    assert {cell["rule"] for cell in told["cells"]} == {"worst_group", "average", "worst_class", "training", "oracle"}
    code, said, _ = study(capsys, out, "--jobs", "1", "--quiet")
    assert (code, said) == (0, "")


def test_failures_end_with_a_sentence_and_another_code(capsys, folder):
    options = {"steps": 1, "batch_size": 32, "checks": 1}
    path = file_of(folder, methods={"erm": {}, "crt": {}}, options=options, seeds=1)
    code, said, error = study(capsys, path, "--out", folder / "s", "--jobs", "1", "--device", "cpu")
    assert code == 1 and "erm" in said
    assert "1 of 2 trials failed, the first of them crt, tiny, small, seed 0: 1 steps are too few" in error
    code, said, _ = study(capsys, folder / "s", "--status")
    assert code == 0 and "1 done, 1 failed" in said and "failed: crt, tiny" in said


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["quik", "--out", "x"], "there is no study 'quik'; did you mean 'quick'?"),
        (["quick"], "say where the study is to be kept (--out DIR)"),
        (["nothere", "--status"], "nothere is no directory; --status is for the directory of a study"),
        (["quick", "--out", "x", "--launcher", "lokal"], "there is no launcher 'lokal'; did you mean 'local'?"),
        (["quick", "--out", "x", "--device", "tpu"], "there is no device 'tpu'"),
        (["quick", "--out", "x", "--set", "options.epoch=3"], "did you mean 'epochs'?"),
        (["quick", "--out", "x", "--set", "worlds.quick.set.image.size_px=4"], "image.size_px"),
        (["quick", "--out", "x", "--set", "seeds"], "cannot read --set"),
    ],
)
def test_mistakes(capsys, tmp_path, monkeypatch, words, sentence):
    monkeypatch.chdir(tmp_path)
    code, _, error = study(capsys, *words)
    assert code == 1 and sentence in error and not list(tmp_path.iterdir())


@pytest.mark.parametrize("what", ["studies", "rules", "launchers"])
def test_what_there_is(capsys, what):
    code, said, _ = run(capsys, "list", what, "--json")
    assert code == 0 and all(row["name"] and row["about"] for row in json.loads(said))
