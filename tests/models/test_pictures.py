"""Pictures as numbers: the range, the memory, and the size."""

import torch

from spurgen.models._pictures import centred, floating, resized
from tests.models.rows import pictures


def test_levels_go_from_minus_one_to_one():
    levels = torch.tensor([0, 255, 51], dtype=torch.uint8).view(1, 3, 1, 1)
    assert torch.allclose(centred(levels).flatten(), torch.tensor([-1.0, 1.0, -0.6]))


def test_pictures_of_any_memory_become_channels_last():
    stored = pictures(2)
    for raw in (stored, stored.contiguous()):
        assert centred(raw).is_contiguous(memory_format=torch.channels_last)
    assert torch.equal(centred(stored), centred(stored.contiguous()))


def test_floating_pictures_are_not_written_to():
    levels = pictures(1).float()
    before = levels.clone()
    centred(levels), floating(levels)
    assert torch.equal(levels, before)


def test_resizing():
    levels = floating(pictures(2, 32))
    assert resized(levels, 32, 32) is levels
    assert resized(levels, 48, 64).shape == (2, 3, 48, 64)
    assert resized(levels, 48, 64).is_contiguous(memory_format=torch.channels_last)
    # a smaller picture is made of all pixels: the mean stays, which four pixels in a hundred would not give
    assert torch.allclose(resized(levels, 4, 4).mean((2, 3)), levels.mean((2, 3)), atol=5.0)
