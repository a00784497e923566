from __future__ import annotations

import json

import pytest

from tests.cli.calls import run
from tests.report.studies import METHODS, Told, fabricate
from tests.worlds import world


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    trials = [Told(m, METHODS[m], seed=s) for m in ("erm", "contrastive") for s in range(2)]
    return fabricate(tmp_path_factory.mktemp("studies") / "made", {"small-0": world()}, trials)


def test_says_where_the_page_is(capsys, made):
    code, out, err = run(capsys, "report", made)
    assert code == 0 and out.startswith(f"report: {made / 'report' / 'index.html'} (") and not err


def test_goes_where_it_is_told_to(capsys, made, tmp_path):
    assert run(capsys, "report", made, "--out", tmp_path / "deep" / "page.html", "--quiet") == (0, "", "")
    assert (tmp_path / "deep" / "page.html").read_text("utf-8").startswith("<!doctype html>")


def test_says_it_as_data(capsys, made):
    code, out, _ = run(capsys, "report", made, "--json")
    data = json.loads(out)
    assert code == 0 and data["page"].endswith("index.html")
    assert data["scopes"][0]["best"] == "contrastive" and len(data["scopes"][0]["sentences"]) == 3


@pytest.mark.parametrize(
    ("name", "said"), [("nowhere", "there is no directory"), (".", "holds no study"), ("x" * 300, "cannot be used")]
)
def test_what_is_no_study_is_one_sentence(capsys, tmp_path, name, said):
    code, out, err = run(capsys, "report", tmp_path / name)
    assert (code, out) == (1, "") and said in err and err.count("\n") == 1


def test_a_directory_is_no_page(capsys, made, tmp_path):
    code, _, err = run(capsys, "report", made, "--out", tmp_path)
    assert code == 2 and "is a directory" in err
