"""The paired model: inputs are one tensor and lose nothing, and both halves are read."""

import torch

from spurgen.models._pictures import centred
from spurgen.models.paired import Paired
from tests.models.rows import SHAPES, SIZE, TOKENS, raw

STORED = raw("image+caption")


def build() -> Paired:
    torch.manual_seed(0)
    return Paired(SHAPES["image+caption"]).eval()


def test_inputs_are_a_row_of_numbers():
    assert build().inputs(STORED).shape == (4, 3 * SIZE**2 + TOKENS * 129)


def test_features_are_those_of_the_towers():
    net = build()
    towers = net.picture(centred(STORED["image"])), net.caption(net.caption.inputs(STORED["caption"]))
    assert torch.equal(net.features(net.inputs(STORED)), net.projection(torch.cat(towers, 1)))


def test_both_are_read():
    net = build()
    for part in STORED:
        other = {**STORED, part: STORED[part].flip(0)}
        assert not torch.allclose(net(net.inputs(other)), net(net.inputs(STORED)), atol=1e-5)
