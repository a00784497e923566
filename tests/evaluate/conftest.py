"""A built dataset, and a run of a network that learns it in a second."""

from __future__ import annotations

from pathlib import Path

import pytest

from spurgen.learning import MODELS
from spurgen.store import reader
from tests.train.conftest import TINY, _tiny_model, built  # noqa: F401


@pytest.fixture(scope="session")
def dataset(built) -> reader.Dataset:  # noqa: F811
    return reader.open(built)


@pytest.fixture(scope="session")
def trained(built, tmp_path_factory) -> Path:  # noqa: F811
    """The directory of a run; tests that write say where."""
    from spurgen.train import train

    MODELS.add("tiny", TINY)
    out = tmp_path_factory.mktemp("runs") / "run"
    train(built, model="tiny", out=out, options={"epochs": 6, "batch_size": 32, "schedule": "constant"})
    return out
