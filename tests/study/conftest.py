"""Studies that take seconds: the tiny network on a small world."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from spurgen.learning import MODELS
from spurgen.spec.toml import write
from tests.train.conftest import TINY
from tests.train.conftest import world as small_world

torch.set_num_threads(1)  # networks this small only make threads wait for one another


@pytest.fixture(autouse=True, scope="session")
def _tiny_model():
    """Known before the fixtures of a session that train it."""
    MODELS.add("tiny", TINY)


def study(**changes: Any) -> dict[str, Any]:
    """Two methods, two seeds, a dozen steps."""
    return {
        "id": "tiny",
        "worlds": {"small": {"spec": "world.toml", "rows": 300}},
        "methods": {"erm": {}, "group_dro": {}},
        "models": ["tiny"],
        "seeds": 2,
        "options": {"steps": 12, "batch_size": 32, "checks": 3},
        "draws": 1,
        **changes,
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the world that the studies name."""
    (tmp_path / "world.toml").write_text(small_world().to_toml(), "utf-8")
    return tmp_path


def file_of(folder: Path, name: str = "study.toml", **changes: Any) -> Path:
    """A study file in the folder."""
    path = folder / name
    path.write_text(write(study(**changes)), "utf-8")
    return path
