import math

import pytest
import torch

from spurgen.learning import METHODS
from tests.methods.course import looks_at_no_value, reached, same, trained
from tests.methods.tiny import batch, learner

SIZES = torch.tensor([70.0, 20.0, 10.0, 0.0])


def test_weights_by_hand():
    """1/70, 1/20, 1/10 weigh 70/70 + 20/20 + 10/10 = 3 in all; times 100/3 for a mean of 1: 0.4762, 1.6667, 3.3333."""
    weights = learner("reweight").weights
    assert weights.tolist() == pytest.approx([100 / 3 / 70, 100 / 3 / 20, 100 / 3 / 10, 0])
    assert (SIZES * weights).sum().item() == pytest.approx(100), "the mean over the training rows is 1"
    assert len(set((SIZES * weights).round(decimals=3)[:3].tolist())) == 1, "every group weighs the same in all"


def test_over_classes():
    weights = learner("reweight", {"over": "class"}).weights
    assert weights.tolist() == pytest.approx([100 / 3 / 60, 100 / 3 / 30, 100 / 3 / 10])
    assert (torch.tensor([60.0, 30.0, 10.0]) * weights).sum().item() == pytest.approx(100)


def test_loss_by_hand():
    """Rows of scores 0: ln 3 each; the weighted sum over groups 0 and 2 is divided by the two rows, not by weights."""
    of = batch([[0, 0, 0]] * 2, [0, 1], group=[0, 2])
    expected = (100 / 3 / 70 + 100 / 3 / 10) / 2 * math.log(3)
    assert learner("reweight").loss(of, "train").total.item() == pytest.approx(expected)
    by_class = (100 / 3 / 60 + 100 / 3 / 30) / 2 * math.log(3)
    assert learner("reweight", {"over": "class"}).loss(of, "train").total.item() == pytest.approx(by_class)


def test_a_group_without_rows_is_no_nan():
    trial = learner("reweight", group_sizes=torch.tensor([0, 0, 100, 0]))
    assert trial.weights.tolist() == [0, 0, 1, 0]
    reached(trial, trial.loss(batch([[1, 0, 0]], [0], group=[3]), "train").total)


def test_declares_what_it_needs():
    assert METHODS.get("reweight").needs.groups


def test_gradients_reach_the_network_and_the_weights_are_saved():
    trial = learner("reweight")
    assert reached(trial, trial.loss(batch([[1.0, 0, 0]], [0]), "train").total) == {"net.head.weight", "net.head.bias"}
    assert "weights" in trial.state_dict()


def test_sixty_steps_lower_the_loss_also_when_another_goes_on():
    trial, before, after = trained("reweight")
    assert after < before / 2
    assert same(trial, trained("reweight", stop=30)[0])


def test_looks_at_no_value():
    assert looks_at_no_value("reweight") and looks_at_no_value("reweight", {"over": "class"})
