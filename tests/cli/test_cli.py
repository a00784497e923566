"""The command line as a person meets it: answers, JSON, exit codes, one sentence for each mistake."""

import json
import os
import subprocess
import sys

import pytest
from PIL import Image

from spurgen.cli import VERBS, main
from spurgen.spec import World
from tests.cli.calls import run
from tests.worlds import small


def width_px(path):
    with Image.open(path) as picture:
        return picture.width


@pytest.fixture(scope="module")
def spec_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("specs") / "small.toml"
    path.write_text(World.from_dict(small(modalities=["image", "caption"])).to_toml())
    return path


@pytest.fixture(scope="module")
def dataset(tmp_path_factory, spec_file):
    out = tmp_path_factory.mktemp("data") / "d"
    with pytest.raises(SystemExit) as end:
        main(["generate", str(spec_file), "--out", str(out), "--quiet"])
    assert not end.value.code
    return out


def test_help_names_every_verb(capsys):
    code, out, _ = run(capsys, "--help")
    assert code == 0 and all(verb in out for verb in VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself(capsys, verb):
    code, out, _ = run(capsys, verb, "--help")
    assert code == 0 and "Usage: spurgen" in out


def test_help_imports_nothing_heavy():
    code = "import sys; from spurgen.cli import app; app.main(['--help'], standalone_mode=False); "
    code += "print([m for m in ('numpy', 'pyarrow', 'numba', 'pydantic', 'rich', 'torch', 'PIL') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("[]")


def test_importing_spurgen_imports_nothing_heavy():
    code = "import sys, spurgen; heavy = ('numpy', 'pyarrow', 'numba', 'pydantic', 'torch'); "
    code += "print([m for m in heavy if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("what", ["presets", "classes", "channels", "couplings", "modalities", "exports"])
def test_lists(capsys, what):
    code, out, _ = run(capsys, "list", what, "--json")
    found = json.loads(out)
    assert code == 0 and len(found) >= 2 and all(entry["name"] for entry in found)
    code, out, _ = run(capsys, "list", what)
    assert code == 0 and found[0]["name"] in out


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["genrate"], 2, "did you mean 'generate'"),
        (["list", "chanels"], 2, "did you mean 'channels'"),
        (["generate", "quick/v1"], 2, "Missing option '--out'"),
        (["generate", "quick/v1", "--out", "x", "--rows", "0"], 2, "0 is not in the range"),
        (["generate", "quick/v1", "--out", "x", "--rwos", "5"], 2, "--rows"),
        (["generate", "quik/v1", "--out", "x"], 1, "did you mean 'quick/v1'"),
        (["generate", "none.toml", "--out", "x"], 1, "there is no file none.toml"),
        (
            ["generate", "quick/v1", "--out", "x", "--set", "rowz=1"],
            1,
            "rowz: is not a field of the spec; did you mean 'rows'",
        ),
        (
            ["generate", "quick/v1", "--out", "x", "--set", "channels.hue.values=['red','blu']"],
            1,
            "did you mean 'blue'",
        ),
        (["generate", "quick/v1", "--out", "x", "--rows", "5"], 1, "ask for at least"),
        (["inspect", "nowhere"], 1, "there is no directory and no preset 'nowhere'; known"),
        (["inspect", "nope/v1"], 1, "no preset 'nope/v1'; known"),
        (["list", "datasets"], 2, "there is no list 'datasets'; known"),
        (["generate", "", "--out", "x"], 1, "there is no preset ''"),
        (["inspect", "quick/v1", "--set", f"rows={'1' * 5000}"], 1, "rows: is '111"),
        (["inspect", "quick/v1", "--set", f"rows=0x{'f' * 5000}"], 1, "rows: is a number of thousands of digits"),
        (["inspect", "quick/v1", "--set", f"id={'x' * 5000}"], 1, "id: is 'xxx"),
        (["inspect", "x" * 5000], 1, "no preset 'xxx"),
        (["inspect", "quick/v1", "--rows", "1" * 5000], 2, "Invalid value for '--rows'"),
        (["inspect", "quick/v1", "--seed", str(2**64)], 2, "not in the range"),
        (["inspect", "quick/v1", "--set", "image.engine=nope"], 1, "image.engine: there is no image engine 'nope'"),
        (["inspect", "quick/v1", "--set", "environments.nope.hue.p=0.5"], 1, "there is no environment 'nope'"),
        (
            ["inspect", "quick/v1", "--set", "environments.strong.hues.p=0.5"],
            1,
            "environments.strong: there is no coupling of a channel 'hues'; did you mean 'hue'?",
        ),
        (["verify", "nowhere"], 1, "there is no dataset at nowhere"),
        (["inspect", "quick/v1", "--out", "s.gif"], 1, "let it end in .png"),
        (["counterfactual", "quick/v1", "--row", "1", "--out", "s"], 1, "let it end in .png"),
        (["counterfactual", "quick/v1", "--row", "99999"], 1, "there is no row 99999; rows run from 0 to 2999"),
        (
            ["counterfactual", "quick/v1", "--row", "1", "--channel", "hues"],
            1,
            "no channel 'hues' in quick/v1; did you mean 'hue'?",
        ),
        (["export", "nowhere", "--to", "wilds", "--out", "x"], 1, "nowhere"),
    ],
)
def test_mistakes_are_one_sentence(capsys, tmp_path, monkeypatch, words, code, sentence):
    monkeypatch.chdir(tmp_path)
    got, out, err = run(capsys, *words)
    assert got == code and sentence in err
    assert err.startswith("error: ") and err.count("\n") == 1 and len(err) < 600
    assert not list(tmp_path.iterdir()), "a mistake leaves nothing behind"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("rows = =", "spec.toml is not valid TOML"),
        (f"rows = {'1' * 5000}", "spec.toml holds a number of thousands of digits"),
        (None, "spec.toml is not a regular file"),
    ],
)
def test_spec_files_are_named(capsys, tmp_path, content, sentence):
    path = tmp_path / "spec.toml"
    if content is None:
        os.mkfifo(path)
    else:
        path.write_text(content)
    code, _, err = run(capsys, "inspect", path)
    assert code == 1 and sentence in err


def test_a_byte_order_mark_is_no_mistake(capsys, tmp_path, spec_file):
    path = tmp_path / "spec.toml"
    path.write_text("\ufeff" + spec_file.read_text())
    assert run(capsys, "inspect", path, "--quiet")[0] == 0


def test_terminals_that_know_few_letters():
    code = "from spurgen.cli import main; main(['inspect', 'quick/v1', '--rows', '600'])"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=os.environ | {"PYTHONIOENCODING": "ascii"}, capture_output=True, check=False)
    assert done.returncode == 0 and b"asked" in done.stdout and not done.stderr


def test_generate_again_and_verify(capsys, dataset, spec_file):
    code, out, _ = run(capsys, "generate", spec_file, "--out", dataset)
    assert code == 0 and "complete, every file as its manifest says" in out
    code, out, _ = run(capsys, "verify", dataset)
    assert code == 0 and "is clean" in out
    code, out, _ = run(capsys, "verify", dataset, "--json")
    assert code == 0 and json.loads(out) == {"clean": True, "problems": []}


def test_generate_refuses_another_spec(capsys, dataset):
    code, _, err = run(capsys, "generate", "quick/v1", "--out", dataset)
    assert (code == 1 and "--force" in err) or "force" in err


def test_generate_tells_what_it_did_as_json(capsys, tmp_path, spec_file):
    code, out, _ = run(capsys, "generate", spec_file, "--out", tmp_path / "d", "--rows", 120, "--seed", 3, "--json")
    answer = json.loads(out)
    assert code == 0 and answer["rows"] == 120 and len(answer["digest"]) == 64


def test_inspect(capsys, tmp_path, dataset):
    code, out, _ = run(capsys, "inspect", dataset, "--out", tmp_path / "sheet.png")
    assert code == 0 and "asked" in out and "achieved" in out and "background+hue" in out
    assert width_px(tmp_path / "sheet.png") > 300
    code, out, _ = run(capsys, "inspect", "quick/v1", "--rows", 600, "--json")
    assert code == 0 and json.loads(out)["rows"] == 600
    code, _, err = run(capsys, "inspect", dataset, "--rows", 5)
    assert code == 1 and "are for specs" in err


def test_counterfactual(capsys, tmp_path, dataset):
    code, out, _ = run(capsys, "counterfactual", dataset, "--row", 5, "--channel", "hue", "--out", tmp_path / "s.png")
    assert code == 0 and out.count("*") == 1 and "pink" in out
    assert width_px(tmp_path / "s.png") > 300
    code, out, _ = run(capsys, "counterfactual", dataset, "--row", 5, "--json")
    answer = json.loads(out)
    assert set(answer["channels"]) == {"background", "hue"}
    assert sum(v["own"] for v in answer["channels"]["hue"]) == 1


@pytest.mark.parametrize("target", ["webdataset", "wilds", "imagefolder"])
def test_export(capsys, tmp_path, dataset, target):
    code, out, _ = run(capsys, "export", dataset, "--to", target, "--out", tmp_path / "e")
    assert code == 0 and "240 rows" in out and any((tmp_path / "e").iterdir())
    code, _, err = run(capsys, "export", dataset, "--to", target, "--out", tmp_path / "e")
    assert code == 1, "an earlier export is not overwritten"


def test_damage_is_named_and_mended(capsys, dataset, spec_file):
    shard = next((dataset / "data").glob("train-*.parquet"))
    content = bytearray(shard.read_bytes())
    content[len(content) // 2] ^= 1
    shard.write_bytes(bytes(content))
    code, _, err = run(capsys, "verify", dataset)
    assert code == 1 and shard.name in err
    code, _, _ = run(capsys, "generate", spec_file, "--out", dataset)
    assert code == 0
    assert run(capsys, "verify", dataset)[0] == 0


def test_an_unexpected_error_is_a_sentence_too(capsys, monkeypatch):
    import spurgen.cli.list as verb

    monkeypatch.setitem(verb.LISTS, "classes", lambda: 1 / 0)
    code, _, err = run(capsys, "list", "classes")
    assert code == 70 and "ZeroDivisionError" in err and "--debug" in err
    with pytest.raises(ZeroDivisionError):
        main(["list", "classes", "--debug"])
