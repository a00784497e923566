"""A built dataset that tests copy before they damage it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from spurgen.store.writer import build
from worlds import world


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """240 rows in six shards; not to be changed."""
    out = tmp_path_factory.mktemp("built") / "data"
    build(world(), out, shard_rows=48)
    return out


@pytest.fixture
def copy(built: Path, tmp_path: Path) -> Path:
    """A copy that a test may damage."""
    return Path(shutil.copytree(built, tmp_path / "copy"))
