"""The same spec and seed give the same rows, pictures and captions, on this machine as on every other."""

import json

import pytest

from spurgen.errors import SpurgenError
from spurgen.spec import presets
from tests import golden
from tests.golden import FILE, digests

GOLDEN = json.loads(FILE.read_text())


@pytest.mark.parametrize("name", presets())
def test_presets(name):
    assert digests(name) == GOLDEN[name]


def test_a_machine_without_a_gpu_says_so(monkeypatch):
    def absent(*args):
        raise SpurgenError("there is no GPU")

    monkeypatch.setattr(golden, "digests", absent)
    with pytest.raises(SystemExit, match="nothing was compared on cuda: there is no GPU"):
        golden.check("cuda")


def test_every_preset_has_its_digests():
    assert sorted(GOLDEN) == presets()
