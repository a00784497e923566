import math

import pytest
import torch

from spurgen.learning import METHODS, Sampling
from tests.methods.course import Deep, looks_at_no_value, reached, rows, same, trained
from tests.methods.tiny import batch, data, learner, split


def test_weights_are_those_of_reweight():
    """1/70, 1/20, 1/10 times 100/3, so that the mean over the training rows is 1; 0 for the group without rows."""
    trial = learner("reweight_crt")
    assert trial.weights.tolist() == pytest.approx([100 / 3 / 70, 100 / 3 / 20, 100 / 3 / 10, 0])
    assert (torch.tensor([70.0, 20, 10, 0]) * trial.weights).sum().item() == pytest.approx(100)


def test_only_the_second_stage_is_weighted():
    """Scores 0, ln 3 each; groups 0 and 2 weigh 0.4762 and 3.3333, classes 0 and 1 0.5556 and 1.1111."""
    of = batch([[0, 0, 0]] * 2, [0, 1], group=[0, 2])
    trial = learner("reweight_crt")
    assert trial.loss(of, "features").total.item() == pytest.approx(math.log(3))
    assert trial.loss(of, "head").total.item() == pytest.approx((0.4762 + 3.3333) / 2 * math.log(3), abs=1e-4)
    by_class = learner("reweight_crt", {"over": "class"})
    assert by_class.loss(of, "head").total.item() == pytest.approx((0.5556 + 1.1111) / 2 * math.log(3), abs=1e-4)


def test_rows_are_sampled_as_they_come_and_the_head_is_new():
    trial = learner("reweight_crt", build=Deep)
    assert [trial.sampling(stage) for stage in (0, 1)] == [Sampling(), Sampling()]
    with torch.no_grad():
        trial.net.head.weight.fill_(7.0)
    trial.begin(1, data())
    assert not trial.net.head.weight.any()
    assert reached(trial, trial.loss(rows(split(), range(8)), "head").total) == {"net.head.weight", "net.head.bias"}


def test_declares_what_it_needs_and_the_weights_are_saved():
    assert METHODS.get("reweight_crt").needs.groups
    assert "weights" in learner("reweight_crt").state_dict()


@pytest.mark.parametrize("stop", [15, 40])
def test_sixty_steps_lower_the_loss_also_when_another_goes_on(stop):
    trial, before, after = trained("reweight_crt", build=Deep)
    assert after < before / 2
    assert same(trial, trained("reweight_crt", build=Deep, stop=stop)[0])


def test_looks_at_no_value():
    assert looks_at_no_value("reweight_crt", phases=("features", "head"))
