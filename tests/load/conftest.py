"""A built dataset that tests of loading share, and no cache outside the test's own directories."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tiles import world

from spurgen.store.writer import build


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """240 rows in several shards; not to be changed."""
    out = tmp_path_factory.mktemp("load") / "data"
    build(world(), out, shard_rows=48)
    return out


@pytest.fixture
def copy(built: Path, tmp_path: Path) -> Path:
    """A copy without caches that a test may damage."""
    return Path(shutil.copytree(built, tmp_path / "copy", ignore=shutil.ignore_patterns(".spurgen-cache")))


@pytest.fixture(autouse=True)
def _no_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home-cache"))
