import math

import pytest
import torch

from spurgen.learning import METHODS
from spurgen.methods._mixing import beta
from tests.methods.course import flat, looks_at_no_value, reached, same, trained
from tests.methods.tiny import batch, learner


def test_two_rows_by_hand():
    """Rows (4, 0, 0) of class 0 and (0, 4, 0) of class 1, in shares s and 1 − s or not at all, as the order falls.

    Mixed, the scores are (4s, 4 − 4s, 0) and (4 − 4s, 4s, 0), and the loss of each is
    s·(L − 4s) + (1 − s)·(L − 4 + 4s) with L = ln(e^(4s) + e^(4 − 4s) + 1). Unmixed it is ln(e⁴ + 2) − 4.
    """
    trial = learner("mixup", {"alpha": 1})
    of, orders = batch([[4, 0, 0], [0, 4, 0]], [0, 1]), set()
    for seed in range(8):
        torch.manual_seed(seed)
        found = trial.loss(of, "train")
        torch.manual_seed(seed)
        s, order = beta(1, 1, of.inputs).item(), torch.rand(2).argsort().tolist()
        top = math.log(math.exp(4 * s) + math.exp(4 - 4 * s) + 1)
        mixed = s * (top - 4 * s) + (1 - s) * (top - 4 + 4 * s)
        expected = mixed if order == [1, 0] else math.log(math.exp(4) + 2) - 4
        assert found.total.item() == pytest.approx(expected, rel=1e-5) and found.scores is None
        orders.add(tuple(order))
    assert orders == {(0, 1), (1, 0)}


@pytest.mark.parametrize("alpha", [0.1, 0.2, 1.0, 10.0])
def test_shares_have_the_moments_of_their_distribution(alpha):
    """Beta(a, a): mean 1/2, variance 1 / (4·(2a + 1))."""
    torch.manual_seed(0)
    shares = beta(alpha, 100_000, torch.zeros(1))
    assert shares.dtype == torch.float32 and shares.isfinite().all() and shares.min() >= 0 and shares.max() <= 1
    assert shares.mean().item() == pytest.approx(0.5, abs=0.01)
    assert shares.var().item() == pytest.approx(1 / (4 * (2 * alpha + 1)), rel=0.03)


def test_shares_of_a_very_small_alpha_are_numbers():
    torch.manual_seed(0)
    assert beta(0.001, 10_000, torch.zeros(1)).isfinite().all()


def test_pictures_keep_their_shape_and_type():
    seen = []

    class Net(type(flat())):
        def features(self, inputs):
            seen.append(inputs)
            return inputs.float().mean((2, 3))

    trial = learner("mixup", build=Net)
    trial.loss(batch(torch.rand(5, 3, 2, 2), [0, 1, 2, 0, 1]), "train")
    assert seen[0].shape == (5, 3, 2, 2) and seen[0].dtype == torch.float32


def test_declares_what_it_needs():
    method = METHODS.get("mixup")
    assert str(method.needs) == "labels" and method.settings.__dataclass_fields__["alpha"].default == 0.2


def test_gradients_reach_the_network_and_there_is_nothing_else_to_save():
    trial = learner("mixup")
    of = batch([[1.0, 0, 0], [0, 1.0, 0]], [0, 1])
    assert reached(trial, trial.loss(of, "train").total) == set(trial.state_dict())


def test_nothing_is_seeded():
    torch.manual_seed(1)
    trial, of = learner("mixup"), batch([[1.0, 0, 0], [0, 1.0, 0]], [0, 1])
    torch.manual_seed(1)
    first = [trial.loss(of, "train").total.item() for _ in range(4)]
    assert len(set(first)) > 1
    torch.manual_seed(1)
    assert [trial.loss(of, "train").total.item() for _ in range(4)] == first


def test_sixty_steps_lower_the_loss_also_when_another_goes_on():
    trial, before, after = trained("mixup")
    assert after < before / 2
    assert same(trial, trained("mixup", stop=30)[0])


def test_looks_at_no_value():
    assert looks_at_no_value("mixup")
