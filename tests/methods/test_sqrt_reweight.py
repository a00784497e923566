import math

import pytest
import torch

from spurgen.learning import METHODS
from tests.methods.course import looks_at_no_value, reached, same, trained
from tests.methods.tiny import batch, learner

SIZES = torch.tensor([70.0, 20.0, 10.0, 0.0])
IN_ALL = math.sqrt(70) + math.sqrt(20) + math.sqrt(10)  # Σ n / √n = 8.3666 + 4.4721 + 3.1623 = 16.0010


def test_weights_by_hand():
    """1/√70 = 0.1195, 1/√20 = 0.2236, 1/√10 = 0.3162, times 100 / 16.0010: 0.7470, 1.3975, 1.9763."""
    weights = learner("sqrt_reweight").weights
    assert weights.tolist() == pytest.approx([0.7470, 1.3975, 1.9763, 0], abs=1e-4)
    assert weights.tolist() == pytest.approx([100 / IN_ALL / math.sqrt(n) for n in (70, 20, 10)] + [0])
    assert (SIZES * weights).sum().item() == pytest.approx(100), "the mean over the training rows is 1"


def test_over_classes():
    weights = learner("sqrt_reweight", {"over": "class"}).weights
    assert (torch.tensor([60.0, 30.0, 10.0]) * weights).sum().item() == pytest.approx(100)
    assert (weights[2] / weights[0]).item() == pytest.approx(math.sqrt(6))


def test_loss_by_hand():
    of = batch([[0, 0, 0]] * 2, [0, 1], group=[0, 2])
    expected = (100 / IN_ALL / math.sqrt(70) + 100 / IN_ALL / math.sqrt(10)) / 2 * math.log(3)
    assert learner("sqrt_reweight").loss(of, "train").total.item() == pytest.approx(expected)


def test_declares_what_it_needs():
    assert METHODS.get("sqrt_reweight").needs.groups


def test_gradients_reach_the_network_and_the_weights_are_saved():
    trial = learner("sqrt_reweight")
    assert reached(trial, trial.loss(batch([[1.0, 0, 0]], [0]), "train").total) == {"net.head.weight", "net.head.bias"}
    assert "weights" in trial.state_dict()


def test_sixty_steps_lower_the_loss_also_when_another_goes_on():
    trial, before, after = trained("sqrt_reweight")
    assert after < before / 2
    assert same(trial, trained("sqrt_reweight", stop=30)[0])


def test_looks_at_no_value():
    assert looks_at_no_value("sqrt_reweight")
