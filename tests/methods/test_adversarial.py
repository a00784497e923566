import math

import pytest
import torch
from torch import nn

from spurgen.errors import SpurgenError
from spurgen.learning import METHODS
from tests.methods.descent import Bent, descend, error, reached, rows, runs_without_values
from tests.methods.tiny import Line, batch, learner


def plain(settings):
    """An adversary of one linear layer: background's 3 heads get the features, hue's 2 get 0."""
    trial = learner("adversarial", {"depth": 1, **settings})
    with torch.no_grad():
        trial.adversary[0].weight.copy_(torch.eye(5, 3))
        trial.adversary[0].bias.zero_()
    return trial


def test_losses_by_hand():
    """A row (2, 0, 0) of class 0 with background 1 and hue 1. The adversary's scores: (2, 0, 0) for background, so
    ln(e² + 2) = 2.2395, and (0, 0) for hue, ln 2 = 0.6931; mean 1.4663. Cross-entropy 0.2395.
    """
    of = batch([[2, 0, 0]], [0], attributes=[[1, 1]])
    trial = plain({"weight": 0.5})
    top = math.log(math.exp(2) + 2)
    adversary = (top + math.log(2)) / 2
    assert trial.loss(of, "adversary").total.item() == pytest.approx(adversary)
    found = trial.loss(of, "learn")
    assert found.total.item() == pytest.approx(top - 2 - 0.5 * adversary)
    assert found.scores.tolist() == trial.loss(of, "adversary").scores.tolist() == [[2, 0, 0]]


def test_gradient_penalty_by_hand():
    """Two rows (0, 0, 0) with background 0: the gradient of a row's background loss by the features is
    (1/3 − 1, 1/3, 1/3), of the mean with hue's (which has none) half of it: squares 1/9 + 1/36 + 1/36 = 1/6.
    It is a row's own gradient, so any number of such rows has the same penalty.
    """
    for n in (1, 2):
        of = batch([[0, 0, 0]] * n, [0] * n, attributes=[[0, 0]] * n)
        bare = plain({}).loss(of, "adversary").total.item()
        assert plain({"gradient_penalty": 6}).loss(of, "adversary").total.item() == pytest.approx(bare + 1)
    trial = plain({"gradient_penalty": 6})
    assert all(name.startswith("adversary.") for name in reached(trial, trial.loss(of, "adversary").total))


@pytest.mark.parametrize(("turns", "expected"), [(1, "ALALAL"), (3, "AAALAA")])
def test_turns(turns, expected):
    trial = learner("adversarial", {"adversary_steps": turns})
    assert "".join(trial.phase(0, s, 6)[0].upper() for s in range(6)) == expected


@pytest.mark.parametrize("penalty", [0, 1])
def test_each_turn_changes_its_own_side_only(penalty):
    trial = learner("adversarial", {"gradient_penalty": penalty}, build=Bent)
    net = {name for name in trial.state_dict() if name.startswith("net.")}
    adversary = set(trial.state_dict()) - net
    assert len(adversary) == 6 and len(net) == 4, "three layers, and all of it is saved"
    assert reached(trial, trial.loss(rows(), "adversary").total) == adversary
    assert reached(trial, trial.loss(rows(), "learn").total) == net


def test_the_network_makes_the_adversary_worse():
    """A step down the "learn" loss alone must raise the adversary's loss: the sign is not the wrong way round."""
    trial = learner("adversarial", {"weight": 1000}, build=Bent)
    before = trial.loss(rows(), "adversary").total.item()
    descent = torch.optim.SGD(trial.net.parameters(), lr=1e-4)
    trial.loss(rows(), "learn").total.backward()
    descent.step()
    assert trial.loss(rows(), "adversary").total.item() > before


def test_the_adversary_is_as_large_as_asked():
    layers = [m for m in learner("adversarial").adversary if isinstance(m, nn.Linear)]
    assert [(m.in_features, m.out_features) for m in layers] == [(3, 256), (256, 256), (256, 5)]


def test_what_it_cannot_work_with_is_an_error():
    with pytest.raises(SpurgenError, match="the data have no channel"):
        learner("adversarial", channels={})
    with pytest.raises(SpurgenError, match="must be at least 1"):
        learner("adversarial", {"adversary_steps": 0})


def test_declares_what_it_needs():
    assert METHODS.get("adversarial").needs.groups and not METHODS.get("adversarial").needs.environments
    assert learner("adversarial").sampling(0).kind == "shuffled"


@pytest.mark.parametrize("build", [Line, Bent])
def test_sixty_steps_lower_the_loss(build):
    """The cross-entropy; the adversary's loss in its turn; not their difference, which two pull at."""
    trial = learner("adversarial", build=build)
    before, after = descend(trial, lambda: error(trial, rows()))
    assert after < before
    other = learner("adversarial", {"gradient_penalty": 0.1}, build=build)
    before, after = descend(other, lambda: other.loss(rows(), "adversary").total.item())
    assert after < before


def test_looks_at_no_value():
    assert runs_without_values("adversarial", {"gradient_penalty": 1}, ("adversary", "learn"))
