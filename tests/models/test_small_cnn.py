"""The small CNN: every size of picture, and that it learns."""

import pytest
import torch
from torch.nn.functional import cross_entropy

from spurgen.learning import MODELS, Shape
from spurgen.models.small_cnn import SmallCnn
from tests.models.rows import pictures


@pytest.mark.parametrize("size", [32, 48, 64, 100, 128, 224, 512])
def test_every_size(size):
    net = SmallCnn(Shape(3, (3, size, size)))
    assert net(net.inputs(pictures(2, size))).shape == (2, 3)


def test_one_network_serves_pictures_of_every_size():
    net = SmallCnn(Shape(3, (3, 64, 64))).eval()
    assert net(net.inputs(pictures(2, 128))).shape == (2, 3)


def test_its_size():
    net = MODELS.get("small_cnn").build(Shape(10, (3, 64, 64)))
    # convolutions 3 × 32 × 7² + (32 × 64 + 64 × 128 + 128 × 256) × 3² = 4704 + 387,072;
    # two numbers for each of 32 + 64 + 128 + 256 = 480 maps = 960; the head 256 × 10 + 10 = 2570
    assert sum(p.numel() for p in net.parameters()) == 4704 + 387_072 + 960 + 2570


def test_it_learns_which_half_is_bright():
    torch.manual_seed(0)
    net = SmallCnn(Shape(2, (3, 32, 32)))
    optimiser = torch.optim.AdamW(net.parameters(), lr=2e-3)
    y = torch.arange(64) % 2
    dark = pictures(64) // 2
    dark[y == 0, :, :16] += 100
    dark[y == 1, :, 16:] += 100
    for _ in range(15):
        loss = cross_entropy(net(net.inputs(dark)), y)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert loss.detach() < 0.1
