import math

import pytest
import torch

from spurgen.learning import METHODS
from tests.methods.course import looks_at_no_value, reached, same, trained
from tests.methods.tiny import batch, learner


def test_margins_by_hand():
    """Sizes 70, 20, 10 and none: (10/70)^¼ = 0.6148 and (10/20)^¼ = 0.8409 of the largest margin, 0.5."""
    margins = learner("ldam").margins
    assert margins.tolist() == pytest.approx([0.5 * 0.6148, 0.5 * 0.8409, 0.5, 0], abs=1e-4)
    by_class = learner("ldam", {"over": "class", "max_margin": 0.8}).margins
    assert by_class.tolist() == pytest.approx([0.8 * (10 / n) ** 0.25 for n in (60, 30, 10)])
    absent = learner("ldam", {"over": "class"}, class_sizes=torch.tensor([0, 16, 1])).margins
    assert absent.tolist() == pytest.approx([0, 0.25, 0.5])


def test_loss_by_hand():
    """Scores (1, 0, 0), scale 2, a row of class 0 in group 2, whose margin is 0.5: 2·(0.5, 0, 0) = (1, 0, 0).

    ln(e + 2) − 1 = 0.5514. A row of class 1 in group 3, which has no margin: 2·(1, 0, 0), ln(e² + 2) = 2.2395.
    """
    found = learner("ldam", {"scale": 2}).loss(batch([[1, 0, 0]] * 2, [0, 1], group=[2, 3]), "train")
    assert found.total.item() == pytest.approx((math.log(math.e + 2) - 1 + math.log(math.exp(2) + 2)) / 2)
    trial = learner("ldam", {"scale": 2})
    assert found.scores.tolist() == trial(torch.tensor([[1.0, 0, 0]] * 2)).tolist() == [[2, 0, 0]] * 2, "no margin"


def test_margin_of_the_class_where_told():
    """Over classes the margin of class 2 is 0.5 whatever the group: 2·(0, 0, −0.5), ln(2 + e^−1) + 1 = 1.8620."""
    trial = learner("ldam", {"scale": 2, "over": "class"})
    found = trial.loss(batch([[0, 0, 0]], [2], group=[3]), "train")
    assert found.total.item() == pytest.approx(math.log(2 + math.exp(-1)) + 1)


def test_declares_what_it_needs():
    method = METHODS.get("ldam")
    fields = method.settings.__dataclass_fields__
    assert method.needs.groups and (fields["max_margin"].default, fields["scale"].default) == (0.5, 30.0)
    assert str(fields["scale"].metadata["search"]) == "{10.0, 30.0}"


def test_gradients_reach_the_network_and_the_margins_are_saved():
    trial = learner("ldam")
    assert reached(trial, trial.loss(batch([[1.0, 0, 0]], [0]), "train").total) == {"net.head.weight", "net.head.bias"}
    assert "margins" in trial.state_dict()


def test_sixty_steps_lower_the_loss_also_when_another_goes_on():
    trial, before, after = trained("ldam", {"scale": 10})
    assert after < before
    assert same(trial, trained("ldam", {"scale": 10}, stop=30)[0])


def test_looks_at_no_value():
    assert looks_at_no_value("ldam")
