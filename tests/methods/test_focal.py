import math

import pytest
import torch

from spurgen.learning import METHODS
from tests.methods.course import looks_at_no_value, reached, same, trained
from tests.methods.tiny import batch, learner


def test_loss_by_hand():
    """Scores (2, 0, 0) of class 0: p = e²/(e² + 2) = 0.7870, loss 0.2395; of class 1: p = 0.1065, loss 2.2395.

    gamma 2: 0.2130²·0.2395 = 0.0109 and 0.8935²·2.2395 = 1.7879; mean 0.8994.
    """
    of = batch([[2, 0, 0]] * 2, [0, 1])
    found = learner("focal", {"gamma": 2}).loss(of, "train")
    top = math.exp(2) + 2
    rows = [(1 - math.exp(2) / top) ** 2 * (math.log(top) - 2), (1 - 1 / top) ** 2 * math.log(top)]
    assert found.total.item() == pytest.approx(sum(rows) / 2) and sum(rows) / 2 == pytest.approx(0.8994, abs=1e-4)
    plain = learner("erm").loss(of, "train").total
    assert learner("focal", {"gamma": 0}).loss(of, "train").total.item() == pytest.approx(plain.item())


@pytest.mark.parametrize("gamma", [0.5, 1.0, 5.0])
@pytest.mark.parametrize("score", [30.0, 200.0, -200.0])
def test_rows_that_are_certain_have_finite_gradients(gamma, score):
    """With p = 1 the slope of (1 − p)^0.5 is infinite, and times a loss of 0 it would be no number."""
    trial = learner("focal", {"gamma": gamma})
    found = trial.loss(batch([[score, 0, 0]], [0]), "train")
    assert torch.isfinite(found.total)
    reached(trial, found.total)


def test_gradient_against_64_bits():
    """Score 8: 1 − p = 2·e^−8 = 6.7e-4, of which 32 bits keep some four digits."""
    trial = learner("focal", {"gamma": 0.5})
    trial.loss(batch([[8.0, 0, 0]], [0]), "train").total.backward()
    scores = torch.tensor([[8.0, 0, 0]], dtype=torch.float64, requires_grad=True)
    log_p = scores.log_softmax(1)[0, 0]
    ((-torch.expm1(log_p)) ** 0.5 * -log_p).backward()
    assert trial.net.head.bias.grad[1].item() == pytest.approx(scores.grad[0, 1].item(), rel=1e-3)


def test_declares_what_it_needs():
    method = METHODS.get("focal")
    assert str(method.needs) == "labels"
    assert str(method.settings.__dataclass_fields__["gamma"].metadata["search"]) == "0.5·10^U(0, 1)"


def test_gradients_reach_the_network_and_there_is_nothing_else_to_save():
    trial = learner("focal")
    assert reached(trial, trial.loss(batch([[1.0, 0, 0]], [0]), "train").total) == set(trial.state_dict())


def test_sixty_steps_lower_the_loss_also_when_another_goes_on():
    trial, before, after = trained("focal")
    assert after < before / 2
    assert same(trial, trained("focal", stop=30)[0])


def test_looks_at_no_value():
    assert looks_at_no_value("focal")
