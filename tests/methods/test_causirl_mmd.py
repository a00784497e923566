import math

import pytest
import torch

from spurgen.errors import SpurgenError
from spurgen.learning import METHODS
from tests.methods.descent import Bent, descend, reached, rows, runs_without_values, total
from tests.methods.tiny import Line, batch, learner


def test_distance_between_mixtures_by_hand(monkeypatch):
    """First mixture (0, 0, 0) twice, second (1, 0, 0) twice: as two rows 1 apart in MMD's test, 7.4763. Environments,
    a row of each in either mixture, make no difference.
    """
    trial = learner("causirl_mmd")
    of = batch([[0, 0, 0], [1, 0, 0], [0, 0, 0], [1, 0, 0]], [0] * 4, environment=[0, 0, 1, 1])
    monkeypatch.setattr(trial, "first", lambda batch: torch.tensor([True, False, True, False]))
    expected = 14 - 2 * sum(math.exp(-(10.0**k)) for k in range(-3, 4))
    assert trial.penalty(of.inputs, of).item() == pytest.approx(expected)
    assert expected == pytest.approx(7.4763, abs=1e-4)


@pytest.mark.parametrize("first", [[False] * 4, [True, False, False, False], [True, True, True, False]])
def test_a_mixture_of_fewer_than_two_rows_is_skipped(monkeypatch, first):
    trial = learner("causirl_mmd", build=Bent)
    of = batch(torch.randn(4, 3), [0] * 4, environment=[0, 0, 1, 1])
    monkeypatch.setattr(trial, "first", lambda batch: torch.tensor(first))
    found = trial.penalty(trial.net.features(of.inputs), of)
    assert found.item() == 0
    reached(trial, found)


def test_mixtures_differ_from_step_to_step():
    trial = learner("causirl_mmd")
    assert len({tuple(trial.first(rows()).tolist()) for _ in range(20)}) > 10


def test_one_environment_is_an_error():
    with pytest.raises(SpurgenError, match="compares training environments"):
        learner("causirl_mmd", environments=("weak",), environment_sizes=torch.tensor([100]))


def test_declares_what_it_needs():
    trial = learner("causirl_mmd")
    assert METHODS.get("causirl_mmd").needs.environments and trial.sampling(0).kind == "by_environment"


def test_the_penalty_reaches_the_features_and_not_the_head():
    trial = learner("causirl_mmd", build=Bent)
    found = trial.penalty(trial.net.features(rows().inputs), rows())
    assert reached(trial, found) == {"net.body.weight", "net.body.bias"}
    assert reached(trial, trial.loss(rows(), "train").total) == set(trial.state_dict())


@pytest.mark.parametrize("build", [Line, Bent])
def test_sixty_steps_lower_the_loss(build):
    trial = learner("causirl_mmd", build=build)
    before, after = descend(trial, total(trial, "train"))
    assert after < before


def test_looks_at_no_value():
    assert runs_without_values("causirl_mmd", {}, ("train",))
