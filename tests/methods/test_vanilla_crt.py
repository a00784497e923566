import math

import pytest
import torch

from spurgen.learning import METHODS, Sampling
from tests.methods.course import Deep, looks_at_no_value, reached, rows, same, trained
from tests.methods.tiny import batch, data, learner, split


def test_both_stages_are_plain():
    trial = learner("vanilla_crt")
    of = batch([[0, 0, 0]] * 2, [0, 1], group=[0, 2])
    for stage, phase in enumerate(("features", "head")):
        assert trial.sampling(stage) == Sampling() and trial.phase(stage, 0, 10) == phase
        assert trial.loss(of, phase).total.item() == pytest.approx(math.log(3))


def test_second_stage_has_a_new_head_and_trains_it_alone():
    trial = learner("vanilla_crt", build=Deep)
    with torch.no_grad():
        trial.net.head.weight.fill_(7.0)
    trial.begin(1, data())
    assert not trial.net.head.weight.any() and trial.frozen(1) == [trial.net.body]
    assert reached(trial, trial.loss(rows(split(), range(8)), "head").total) == {"net.head.weight", "net.head.bias"}


def test_needs_labels_only_and_there_is_nothing_but_the_network_to_save():
    assert str(METHODS.get("vanilla_crt").needs) == "labels"
    assert all(name.startswith("net.") for name in learner("vanilla_crt").state_dict())


@pytest.mark.parametrize("stop", [15, 40])
def test_sixty_steps_lower_the_loss_also_when_another_goes_on(stop):
    trial, before, after = trained("vanilla_crt", build=Deep)
    assert after < before / 2
    assert same(trial, trained("vanilla_crt", build=Deep, stop=stop)[0])


def test_looks_at_no_value():
    assert looks_at_no_value("vanilla_crt", phases=("features", "head"))
