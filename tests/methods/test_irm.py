import math

import pytest
import torch
from torch.nn.functional import cross_entropy

from spurgen.errors import SpurgenError
from spurgen.learning import METHODS
from tests.methods.descent import Bent, descend, reached, rows, runs_without_values, total
from tests.methods.tiny import Line, batch, learner


def test_penalty_by_hand():
    """Rows (2, 0, 0) as scores; p = e²/(e² + 2) = 0.7870, and the slope of a row's loss is Σ p·z − z_y.

    Environment 0 has such rows of classes 0 and 1, one in each half: slopes 2p − 2 = −0.4260 and 2p = 1.5740, product
    −0.6705. Environment 1 has one row, class 0: its second half is empty and its penalty 0. The mean is −0.3353.
    Risks: ln(e² + 2) = 2.2395; environment 0 (0.2395 + 2.2395)/2 = 1.2395, environment 1 0.2395; mean 0.7395.
    """
    irm = learner("irm", {"weight": 10})
    of = batch([[2, 0, 0]] * 3, [0, 1, 0], environment=[0, 0, 1])
    p, top = math.exp(2) / (math.exp(2) + 2), math.log(math.exp(2) + 2)
    penalty = (2 * p - 2) * (2 * p) / 2
    risk = ((top - 2 + top) / 2 + top - 2) / 2
    assert penalty == pytest.approx(-0.3353, abs=1e-4) and risk == pytest.approx(0.7395, abs=1e-4)
    assert irm.loss(of, "before").total.item() == pytest.approx(risk + penalty), "the weight is 1 before, not 0"
    assert irm.loss(of, "after").total.item() == pytest.approx(risk + 10 * penalty), "and not divided by 10 after"


def test_penalty_is_the_product_of_the_gradients_of_disjoint_halves():
    of = batch(torch.randn(9, 3), torch.arange(9) % 3, environment=[0, 1, 0, 0, 1, 0, 1, 0, 0])
    for e, found in enumerate(learner("irm").penalties(of.inputs, of)):
        z, y = of.inputs[of.environment == e], of.y[of.environment == e]
        scale = torch.ones((), requires_grad=True)
        one = torch.autograd.grad(cross_entropy(z[0::2] * scale, y[0::2]), scale)[0]
        two = torch.autograd.grad(cross_entropy(z[1::2] * scale, y[1::2]), scale)[0]
        assert found.item() == pytest.approx((one * two).item(), rel=1e-5)


def test_one_row_or_one_environment_in_a_batch_is_no_nan():
    irm = learner("irm", build=Bent)
    for environment in ([0, 1], [1, 1]):
        found = irm.loss(batch(torch.randn(2, 3), [0, 1], environment=environment), "after")
        assert torch.isfinite(found.total)
        reached(irm, found.total)  # gradients are finite too


def test_weight_rises_once():
    irm = learner("irm", {"anneal": 0.6})
    assert [irm.phase(0, s, 5) for s in range(5)] == ["before"] * 3 + ["after"] * 2
    assert [irm.restarts(0, s, 5) for s in range(5)] == [False, False, False, True, False]
    with pytest.raises(SpurgenError, match=r"must be at most 0\.99"):
        learner("irm", {"anneal": 1})


def test_what_it_cannot_work_with_is_an_error():
    with pytest.raises(SpurgenError, match=r"compares training environments.*all of 'strong'"):
        learner("irm", environments=("strong",), environment_sizes=torch.tensor([100]))
    with pytest.raises(SpurgenError, match="set the batch size to 4 or more"):
        learner("irm", batch_size=3)
    with pytest.raises(SpurgenError, match="must be at least 0"):
        learner("irm", {"anneal": -1})


def test_declares_what_it_needs():
    assert METHODS.get("irm").needs.environments and learner("irm").sampling(0).kind == "by_environment"


def test_gradients_reach_all_of_the_network():
    irm = learner("irm", build=Bent)
    assert reached(irm, irm.loss(rows(), "after").total) == set(irm.state_dict())
    assert all(name.startswith("net.") for name in irm.state_dict()), "the step is all there is to remember"


@pytest.mark.parametrize("build", [Line, Bent])
def test_sixty_steps_lower_the_loss(build):
    irm = learner("irm", {"anneal": 0.5, "weight": 10}, build=build)
    before, after = descend(irm, total(irm, "after"))
    assert after < before


def test_looks_at_no_value():
    assert runs_without_values("irm", {}, ("before", "after"))
