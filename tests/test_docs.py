"""Pages that are written from the code are as the code is; what they quote is there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").glob("*.md")]


@pytest.mark.parametrize("script", ["build_reference.py", "build_pages.py"])
def test_what_is_written_from_the_code_is_current(script):
    done = subprocess.run([sys.executable, f"docs/{script}", "--check"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_and_quotes_lead_somewhere(page):
    text = page.read_text()
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", text):
        assert (page.parent / target).exists(), target
    assert "{{" not in text, "a placeholder that only a build would fill"


def test_pages_hold_the_files_they_quote():
    quoted = [
        (ROOT / name, code)
        for page in (ROOT / "docs").glob("adding-*.md")
        for name, code in re.findall(r"<!-- (\S+\.py) -->\n```python\n(.*?)```", page.read_text(), re.S)
    ]
    assert len(quoted) >= 6
    assert all(path.read_text() == code for path, code in quoted)


def test_the_lean_channel_joins_the_readmes_world():
    from spurgen.spec import World

    world = re.search(r"```toml\n(.*?)```", (ROOT / "README.md").read_text(), re.S)[1]
    lean = re.search(r"```toml\n(.*?)```", (ROOT / "docs/adding-a-channel.md").read_text(), re.S)[1]
    channel, environment = lean.split("[environments.strong]\n")
    merged = world.replace("[environments.strong]\n", f"{channel}[environments.strong]\n{environment}")
    assert "lean" in World.from_toml(merged).channels


def test_the_readmes_python_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    scope: dict = {}
    for block in blocks:
        block = block.replace("...", "break")  # the endless loop
        block = re.sub(r"^.*load_dataset.*$", "", block, flags=re.M)  # tested with the store
        exec(compile(block, "README.md", "exec"), scope)
    assert scope["pictures"].shape == (100, 64, 64, 3)


def test_the_readmes_world_is_a_world():
    from spurgen.latents.sample import Plan
    from spurgen.spec import World

    block = re.search(r"```toml\n(.*?)```", (ROOT / "README.md").read_text(), re.S)[1]
    assert Plan(World.from_toml(block)).splits == {"train": 2400, "val": 800, "test": 800}
