import math

import pytest
import torch

from tests.methods.tiny import batch, learner


def test_weights_follow_the_losses():
    """Two rows of group 0 and one of group 2, scores 0 for all but the first class.

    Scores are the inputs. Row (2, 0, 0) of class 0: ln(e^2 + 2) - 2 = 0.2395; row (0, 0, 0): ln 3 = 1.0986.
    Group 0 has both: mean 0.6691. Group 2 has (2, 0, 0) of class 1: ln(e^2 + 2) = 2.2395.
    """
    dro = learner("group_dro", {"eta": 1.0})
    assert dro.log_q.exp().tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0])  # group 3 has no training rows
    found = dro.loss(batch([[2, 0, 0], [0, 0, 0], [2, 0, 0]], [0, 0, 1], group=[0, 0, 2]), "train")
    first = math.log(math.exp(2) + 2)
    a, c = (first - 2 + math.log(3)) / 2, first
    weights = [math.exp(a), 1.0, math.exp(c)]  # group 1 is not in the batch: its weight moves by the norm alone
    q = [w / sum(weights) for w in weights]
    assert dro.log_q.exp().tolist() == pytest.approx([*q, 0])
    assert found.total.item() == pytest.approx(q[0] * a + q[2] * c)
    dro.loss(batch([[2, 0, 0]], [1], group=[2]), "train")
    assert dro.log_q[2].exp() > q[2], "weights persist from step to step"


def test_a_weight_that_has_become_very_small_can_grow_again():
    """Group 0 has a loss of 0 or next to it, group 2 of about 1,000, for which e^loss is no number."""
    dro = learner("group_dro", {"eta": 1.0})
    for _ in range(3):
        found = dro.loss(batch([[1000, 0, 0], [1000, 0, 0]], [0, 1], group=[0, 2]), "train")
    assert found.total.item() == pytest.approx(1000)
    for _ in range(4):
        found = dro.loss(batch([[1000, 0, 0], [1000, 0, 0]], [1, 0], group=[0, 2]), "train")
    assert dro.log_q.exp().tolist() == pytest.approx([1, 0, 0, 0])


def test_weights_are_part_of_what_is_saved():
    assert "log_q" in learner("group_dro").state_dict()


def test_groups_are_sampled_equally_unless_told_otherwise():
    assert learner("group_dro").sampling(0).kind == "balanced"
    assert learner("group_dro", {"balanced": False}).sampling(0).kind == "shuffled"


def test_gradients_reach_the_network_and_not_the_weights():
    dro = learner("group_dro")
    dro.loss(batch([[1.0, 0, 0]], [0]), "train").total.backward()
    assert dro.net.head.weight.grad is not None and not dro.log_q.requires_grad
    assert torch.isfinite(dro.net.head.weight.grad).all()
