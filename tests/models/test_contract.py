"""Every model: what its file says, and that it does what `Net` promises."""

from copy import deepcopy
from functools import cache
from typing import Any, NamedTuple

import pytest
import torch
from safetensors.torch import load, save
from torch import nn

from spurgen.learning import MODELS, Model, Net
from tests.models.rows import SHAPES, built, raw

NAMES = MODELS.names()


class Case(NamedTuple):
    """A model, a network of it that the test may change, and stored rows."""

    model: Model
    net: Net
    stored: Any


@cache
def made(name: str) -> Net | None:
    return built(MODELS.get(name))


@pytest.fixture(params=NAMES)
def case(request: pytest.FixtureRequest) -> Case:
    net = made(request.param)
    if net is None:
        pytest.skip("its extra is not installed")
    model = MODELS.get(request.param)
    return Case(model, deepcopy(net), raw(model.modality))


def each(stored: Any, what: Any) -> Any:
    """The same done to the tensor, or to each of a pair's."""
    return {name: what(rows) for name, rows in stored.items()} if isinstance(stored, dict) else what(stored)


def test_all_models_are_found():
    assert {"small_cnn", "resnet18", "resnet50", "vit_small", "vit_base_16", "efficientnet_lite0"} <= set(NAMES)
    assert {"bag_of_words", "text_transformer", "paired"} <= set(NAMES)
    assert not [name for name in NAMES if name.startswith("_")]


@pytest.mark.parametrize("name", NAMES)
def test_models_are_described(name):
    model = MODELS.get(name)
    assert model.name == name
    assert model.about and model.modality in SHAPES
    assert model.paper or name in ("small_cnn", "paired"), "these two are of no paper"
    assert 0 < model.learning_rate < 0.1


def test_shapes(case):
    inputs = case.net.inputs(case.stored)
    features = case.net.features(inputs)
    assert inputs.dtype == features.dtype == torch.float32
    assert len(inputs) == 4 and features.shape == (4, case.net.width)
    assert isinstance(case.net.head, nn.Linear) and case.net.head.in_features == case.net.width
    assert case.net(inputs).shape == (4, 3)


def test_pictures_stay_channels_last(case):
    if case.model.modality == "image":
        assert case.net.inputs(case.stored).is_contiguous(memory_format=torch.channels_last)


def test_a_row_is_predicted_alone_as_among_others(case):
    net = case.net.eval()
    with torch.no_grad():
        together = net(net.inputs(case.stored))
        alone = net(net.inputs(each(case.stored, lambda rows: rows[:1])))
    assert torch.allclose(together[:1], alone, atol=1e-5, rtol=1e-4)


def test_what_is_stored_stays_as_it_is(case):
    before = each(case.stored, torch.clone)
    case.net(case.net.inputs(case.stored))
    assert str(each(case.stored, torch.Tensor.tolist)) == str(each(before, torch.Tensor.tolist))


def test_gradients_reach_every_parameter(case):
    with torch.no_grad():
        for parameter in case.net.parameters():
            if not parameter.any():  # a branch that begins at zero passes no gradient on before the second step
                parameter.normal_(0, 0.1)
    scores = case.net(case.net.inputs(case.stored))
    nn.functional.cross_entropy(scores, torch.tensor([0, 1, 2, 0])).backward()
    for name, parameter in case.net.named_parameters():
        assert parameter.grad is not None and parameter.grad.isfinite().all(), name
        assert parameter.grad.any(), name


def test_the_state_survives_safetensors(case):
    case.net(case.net.inputs(case.stored))  # running statistics move
    other = built(case.model, seed=1)
    assert other is not None
    other.load_state_dict(load(save(case.net.state_dict())))
    nets = case.net.eval(), other.eval()
    with torch.no_grad():
        one, two = (net(net.inputs(case.stored)) for net in nets)
    assert torch.equal(one, two)


def test_weights_depend_on_the_generator_alone(case):
    again, another = built(case.model, seed=0), built(case.model, seed=1)
    assert again is not None and another is not None
    state = again.state_dict()
    assert all(torch.equal(value, state[key]) for key, value in case.net.state_dict().items())
    assert not torch.equal(case.net.head.weight, another.head.weight)


def test_the_same_rows_give_the_same_scores_and_gradients(case):
    seen = []
    for _ in range(2):
        case.net.zero_grad()
        scores = case.net(case.net.inputs(case.stored))
        scores.square().sum().backward()
        seen.append([scores.detach(), *(p.grad.clone() for p in case.net.parameters())])
    assert all(torch.equal(a, b) for a, b in zip(*seen, strict=True))


def test_nothing_waits_for_the_device(case):
    """On the meta device there are no numbers, so that whatever looks at one fails."""
    net = case.net.to("meta")
    inputs = net.inputs(each(case.stored, lambda rows: rows.to("meta")))
    assert inputs.device.type == "meta"
    net(inputs).sum().backward()


def test_half_precision_under_autocast(case):
    inputs = case.net.inputs(case.stored)
    with torch.autocast("cpu", torch.bfloat16):
        under = case.net.inputs(case.stored)
        scores = case.net(under)
    assert under.dtype == torch.float32 and torch.equal(under, inputs)
    assert scores.isfinite().all()


def test_mixtures_of_inputs_are_inputs(case):
    inputs = case.net.inputs(case.stored)
    assert case.net(0.3 * inputs + 0.7 * inputs.flip(0)).isfinite().all()
