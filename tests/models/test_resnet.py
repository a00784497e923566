"""Residual networks: published sizes, an initialisation that passes on, and the library of others as an oracle."""

import pytest
import torch
from torch import nn

from spurgen.learning import MODELS, Net, Shape
from tests.models.rows import pictures


def build(name: str, *shape: int, classes: int = 3) -> Net:
    torch.manual_seed(0)
    return MODELS.get(name).build(Shape(classes, shape))


@pytest.mark.parametrize(("name", "count"), [("resnet18", 11_689_512), ("resnet50", 25_557_032)])
def test_published_sizes(name, count):
    net = build(name, 3, 224, 224, classes=1000)
    assert sum(p.numel() for p in net.parameters()) == count


def test_every_block_begins_by_passing_on_what_it_is_given():
    block = build("resnet18", 3, 32, 32).stages[1]
    x = torch.rand(2, 64, 8, 8)
    assert torch.equal(block(x), x)


@pytest.mark.parametrize(("name", "kind", "depths"), [("resnet18", "basic", [2, 2, 2, 2])])
def test_transformers_says_the_same(name, kind, depths):
    check_against_transformers(name, kind, depths, [64, 128, 256, 512])


def test_transformers_says_the_same_of_bottlenecks():
    check_against_transformers("resnet50", "bottleneck", [3, 4, 6, 3], [256, 512, 1024, 2048])


def check_against_transformers(name: str, kind: str, depths: list[int], widths: list[int]) -> None:
    """Both hold their layers in the order in which they are used, but for where the shortcut comes."""
    transformers = pytest.importorskip("transformers")
    config = transformers.ResNetConfig(embedding_size=64, hidden_sizes=widths, depths=depths, layer_type=kind)
    other = transformers.ResNetModel(config).eval()
    net = build(name, 3, 64, 64).eval()
    with torch.no_grad():
        for module in net.modules():
            if isinstance(module, nn.BatchNorm2d):  # otherwise the branches would add nothing
                module.weight.uniform_(0.5, 1.5), module.bias.normal_(0, 0.1)
        ours = [v for k, v in net.state_dict().items() if "head" not in k and "shortcut" not in k]
        theirs = [v for k, v in other.state_dict().items() if "shortcut" not in k]
        copy(ours, theirs)
        copy(*([v for k, v in n.state_dict().items() if "shortcut" in k] for n in (net, other)))
        inputs = net.inputs(pictures(2, 64))
        assert torch.allclose(net.features(inputs), other(inputs).pooler_output.flatten(1), atol=1e-4, rtol=1e-4)


def copy(ours: list[torch.Tensor], theirs: list[torch.Tensor]) -> None:
    assert [v.shape for v in ours] == [v.shape for v in theirs]
    for one, other in zip(ours, theirs, strict=True):
        other.copy_(one)
