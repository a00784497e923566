import math

import pytest
import torch

from spurgen.errors import SpurgenError
from spurgen.learning import METHODS
from tests.methods.descent import Bent, descend, reached, rows, runs_without_values, total
from tests.methods.tiny import Line, batch, learner


def test_variance_by_hand():
    """Environment 0: rows (2, 0, 0) of classes 0 and 1, risks 0.2395 and 2.2395, mean 1.2395. Environment 1: (0, 0, 0),
    risk ln 3 = 1.0986. Mean 1.1690; deviations ±0.0704, so variance 0.00496.
    """
    vrex = learner("vrex", {"weight": 10})
    of = batch([[2, 0, 0], [0, 0, 0], [2, 0, 0]], [0, 2, 1], environment=[0, 1, 0])
    a, b = math.log(math.exp(2) + 2) - 1, math.log(3)
    variance = ((a - b) / 2) ** 2
    assert variance == pytest.approx(0.00496, abs=1e-5)
    assert vrex.loss(of, "before").total.item() == pytest.approx((a + b) / 2 + variance)
    assert vrex.loss(of, "after").total.item() == pytest.approx((a + b) / 2 + 10 * variance)


def test_an_environment_that_is_not_in_the_batch_has_no_say():
    vrex = learner("vrex", {"weight": 1000})
    found = vrex.loss(batch([[2, 0, 0], [0, 0, 0]], [0, 2], environment=[1, 1]), "after").total
    assert found.item() == pytest.approx((math.log(math.exp(2) + 2) - 2 + math.log(3)) / 2)  # the mean alone


def test_weight_rises_once():
    vrex = learner("vrex", {"anneal": 0.5})
    assert [vrex.phase(0, s, 4) for s in range(4)] == ["before", "before", "after", "after"]
    assert [vrex.restarts(0, s, 4) for s in range(4)] == [False, False, True, False]


def test_one_environment_is_an_error():
    with pytest.raises(SpurgenError, match="compares training environments"):
        learner("vrex", environments=("weak",), environment_sizes=torch.tensor([100]))


def test_declares_what_it_needs():
    assert METHODS.get("vrex").needs.environments and learner("vrex").sampling(0).kind == "by_environment"


def test_gradients_reach_all_of_the_network():
    vrex = learner("vrex", build=Bent)
    assert reached(vrex, vrex.loss(rows(), "after").total) == set(vrex.state_dict())


@pytest.mark.parametrize("build", [Line, Bent])
def test_sixty_steps_lower_the_loss(build):
    vrex = learner("vrex", {"anneal": 0.5}, build=build)
    before, after = descend(vrex, total(vrex, "after"))
    assert after < before


def test_looks_at_no_value():
    assert runs_without_values("vrex", {}, ("before", "after"))
