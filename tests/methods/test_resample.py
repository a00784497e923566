import pytest
import torch

from spurgen.errors import UnknownName
from spurgen.learning import METHODS, Sampling
from tests.methods.course import looks_at_no_value, same, trained
from tests.methods.tiny import batch, learner


def test_groups_are_drawn_equally_often_or_classes_where_told():
    assert learner("resample").sampling(0) == Sampling("balanced", over="group")
    assert learner("resample", {"over": "class"}).sampling(0) == Sampling("balanced", over="class")
    with pytest.raises(UnknownName, match="over of resample"):
        learner("resample", {"over": "rows"})


def test_loss_is_plain():
    """Scores 0 for three classes: ln 3 = 1.0986, whatever the group."""
    found = learner("resample").loss(batch([[0, 0, 0]] * 2, [0, 1], group=[0, 2]), "train")
    assert found.total.item() == pytest.approx(1.0986, abs=1e-4) and found.scores.shape == (2, 3)


def test_declares_what_it_needs():
    assert METHODS.get("resample").needs.groups and METHODS.get("resample").needs.rows


def test_gradients_reach_the_network_and_there_is_nothing_else_to_save():
    trial = learner("resample")
    trial.loss(batch([[1.0, 0, 0]], [0]), "train").total.backward()
    assert torch.isfinite(trial.net.head.weight.grad).all()
    assert set(trial.state_dict()) == {"net.head.weight", "net.head.bias"}


def test_sixty_steps_lower_the_loss_also_when_another_goes_on():
    trial, before, after = trained("resample")
    assert after < before / 2
    assert same(trial, trained("resample", stop=30)[0])


def test_looks_at_no_value():
    assert looks_at_no_value("resample")
