"""Pages that are written from the code are as the code is; what they quote is there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").glob("*.md")]


def test_the_reference_of_specs_is_current():
    done = subprocess.run(
        [sys.executable, "docs/build_reference.py", "--check"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_and_quotes_lead_somewhere(page):
    text = page.read_text()
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", text):
        assert (page.parent / target).exists(), target
    for quoted in re.findall(r"\{\{ (.+?) \}\}", text):
        assert (ROOT / quoted).exists(), quoted


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
    assert Plan(World.from_toml(block)).splits == {"train": 3200, "test": 800}
