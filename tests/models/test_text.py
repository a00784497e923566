"""Models of captions: padding does not count, mixtures are weighted, and order matters where it should."""

import pytest
import torch

from spurgen.learning import MODELS, Net, Shape
from spurgen.models._text import attention_bias, parted, weighted_mean
from tests.models.rows import texts

NAMES = ["bag_of_words", "text_transformer"]


def build(name: str, tokens: int = 12) -> Net:
    torch.manual_seed(0)
    net = MODELS.get(name).build(Shape(3, (tokens,), 50)).eval()
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.mul_(3)  # so that every part has a say
    return net


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_inputs_are_embeddings_and_which_tokens_are_there(name, dtype):
    net = build(name)
    raw = texts().to(dtype)
    embeddings, there = parted(net.inputs(raw))
    assert embeddings.shape == (4, 12, 128)
    assert torch.equal(there, (raw != 0).float())
    assert not embeddings[raw == 0].any()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [1, 100])
def test_padding_does_not_count(name, size):
    net = build(name)
    inputs = net.inputs(texts())
    other = inputs.clone()
    other[..., :-1] += size * torch.randn(128) * (other[..., -1:] == 0)
    # What the padding holds may change how sums are rounded, and nothing else.
    assert torch.allclose(net.features(inputs), net.features(other), rtol=1e-4, atol=1e-4)


def test_more_padding_changes_nothing():
    net = build("bag_of_words")
    raw = texts()
    longer = torch.cat([raw, torch.zeros_like(raw)], 1)
    assert torch.allclose(net.features(net.inputs(raw)), net.features(net.inputs(longer)))


@pytest.mark.parametrize("name", NAMES)
def test_a_text_without_words_is_no_nan(name):
    net = build(name)
    inputs = net.inputs(torch.zeros(2, 12, dtype=torch.long))
    assert net(inputs).isfinite().all()
    assert not net.features(inputs).any()


@pytest.mark.parametrize("name", NAMES)
def test_mixing_goes_from_one_text_to_the_other(name):
    net = build(name)
    inputs = net.inputs(texts())
    with torch.no_grad():
        one, two = net.features(inputs), net.features(inputs.flip(0))
        mixtures = [net.features((1 - w) * inputs + w * inputs.flip(0)) for w in (0.0, 1e-6, 0.5, 1 - 1e-6, 1.0)]
    assert torch.equal(mixtures[0], one) and torch.equal(mixtures[-1], two)
    near = {"rtol": 1e-3, "atol": 1e-3}
    assert torch.allclose(mixtures[1], one, **near) and torch.allclose(mixtures[-2], two, **near)
    assert mixtures[2].isfinite().all() and not torch.allclose(mixtures[2], one, **near)


def test_order_counts_for_the_transformer_only():
    raw = texts(1)
    for name, same in (("bag_of_words", True), ("text_transformer", False)):
        net = build(name)
        features = [net.features(net.inputs(r)).detach() for r in (raw, raw.flip(1))]
        assert torch.allclose(*features, atol=1e-4) == same


def test_means_are_weighted():
    states = torch.tensor([[[2.0], [4.0], [100.0]]])
    # (1 × 2 + 0.5 × 4 + 0 × 100) / (1 + 0.5) = 4 / 1.5
    assert weighted_mean(states, torch.tensor([[1.0, 0.5, 0.0]])).item() == pytest.approx(8 / 3)


def test_attention_is_weighted():
    weights = torch.softmax(attention_bias(torch.tensor([[1.0, 0.5, 0.0]])), -1)
    assert weights.flatten().tolist() == pytest.approx([2 / 3, 1 / 3, 0.0])


def test_the_padding_stays_zero():
    net = build("bag_of_words").train()
    optimiser = torch.optim.AdamW(net.parameters(), lr=0.1)
    net(net.inputs(texts())).square().sum().backward()
    optimiser.step()
    assert not net.table.weight[0].any() and net.table.weight.grad[1:].any()


def test_a_forgotten_vocabulary_is_said():
    with pytest.raises(ValueError, match=r"Shape\.words"):
        MODELS.get("text_transformer").build(Shape(3, (12,)))


def test_their_sizes():
    # 50 × 128 + 3 × 129; and 12 × 128 positions, 4 blocks of 4 × 128² + 8 × 128² + 13 × 128, the last norm
    counts = [sum(p.numel() for p in build(name).parameters()) for name in NAMES]
    assert counts == [6787, 6787 + 1536 + 4 * (12 * 128**2 + 13 * 128) + 256]
