"""The same spec and seed give the same rows, pictures and captions, on this machine as on every other."""

import json

import pytest

from spurgen.spec import presets
from tests.golden import FILE, digests

GOLDEN = json.loads(FILE.read_text())


@pytest.mark.parametrize("name", presets())
def test_presets(name):
    assert digests(name) == GOLDEN[name]


def test_every_preset_has_its_digests():
    assert sorted(GOLDEN) == presets()
