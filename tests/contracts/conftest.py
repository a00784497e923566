"""What the contracts of methods train on; torch comes in with them alone."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def built(tmp_path_factory) -> Path:
    """600 rows in three splits, two environments in training."""
    from spurgen.store.writer import build
    from tests.train.conftest import world

    out = tmp_path_factory.mktemp("contracts") / "data"
    build(world(), out)
    return out
