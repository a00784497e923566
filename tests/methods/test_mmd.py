import math

import pytest
import torch

from spurgen.learning import METHODS
from spurgen.methods._distances import mmd
from spurgen.methods._groups import members
from tests.methods.descent import Bent, descend, reached, rows, runs_without_values, total
from tests.methods.tiny import Line, batch, learner

GAMMAS = [1e-3, 1e-2, 1e-1, 1, 10, 100, 1000]


def test_distance_by_hand():
    """One row each, 1 apart. Rows with themselves: kernel 7 (seven gammas, each e^0). The two: Σ e^(−γ·1²), that is
    0.9990 + 0.9900 + 0.9048 + 0.3679 + 0.00005 = 3.2618. MMD² = 7 + 7 − 2 · 3.2618 = 7.4763.
    Risks of class 0: ln 3 at (0, 0, 0), and ln(e + 2) − 1 = 0.5514 at (1, 0, 0).
    """
    expected = 14 - 2 * sum(math.exp(-g) for g in GAMMAS)
    assert expected == pytest.approx(7.4763, abs=1e-4)
    of = batch([[0, 0, 0], [1, 0, 0]], [0, 0], environment=[0, 1])
    risk = (math.log(3) + math.log(math.e + 2) - 1) / 2
    assert learner("mmd", {"weight": 2}).loss(of, "train").total.item() == pytest.approx(risk + 2 * expected)


def kernel(a, b):
    return sum(torch.exp(-g * torch.cdist(a, b).square()) for g in GAMMAS).mean()


def test_distance_is_the_mean_over_pairs_of_what_one_would_compute_pair_by_pair():
    features, codes = torch.randn(20, 4).double(), torch.randint(0, 3, (20,))
    codes[:3] = torch.arange(3)
    a, b, c = (features[codes == e] for e in range(3))
    pairs = [kernel(x, x) + kernel(y, y) - 2 * kernel(x, y) for x, y in ((a, b), (a, c), (b, c))]
    expected = torch.stack(pairs).mean().item()
    assert mmd(features, members(codes, 3)).item() == pytest.approx(expected, rel=1e-5)
    assert mmd(features, members(codes, 5)).item() == pytest.approx(expected, rel=1e-5), "two that are absent"


def test_equal_sets_are_at_no_distance_and_gradients_are_finite_where_rows_coincide():
    features = torch.tensor([[5e3, 0.0], [5e3, 1.0], [5e3, 0.0], [5e3, 1.0]], requires_grad=True)
    found = mmd(features, members(torch.tensor([0, 0, 1, 1]), 2))
    assert found.item() == pytest.approx(0, abs=1e-9)
    found.backward()
    assert torch.isfinite(features.grad).all()


def test_one_environment_in_a_batch_has_no_penalty():
    found = learner("mmd").loss(batch([[0, 0, 0], [1, 0, 0]], [0, 1], environment=[0, 0]), "train").total
    plain = learner("erm").loss(batch([[0, 0, 0], [1, 0, 0]], [0, 1]), "train").total
    assert found.item() == pytest.approx(plain.item())


def test_cross_entropy_is_averaged_per_environment():
    """Weight 0 leaves the cross-entropy: three rows of one environment weigh as much as one of the other."""
    of = batch([[2, 0, 0], [2, 0, 0], [2, 0, 0], [0, 0, 0]], [0, 0, 0, 0], environment=[0, 0, 0, 1])
    expected = (math.log(math.exp(2) + 2) - 2 + math.log(3)) / 2
    assert learner("mmd", {"weight": 0}).loss(of, "train").total.item() == pytest.approx(expected)


def test_mixed_precision_does_not_change_the_distance():
    features, codes = 30 + torch.randn(16, 8), torch.arange(16) % 2
    expected = mmd(features, members(codes, 2)).item()
    with torch.autocast("cpu", torch.bfloat16):
        assert mmd(features, members(codes, 2)).item() == pytest.approx(expected, rel=1e-6)


def test_declares_what_it_needs():
    assert METHODS.get("mmd").needs.environments and learner("mmd").sampling(0).kind == "by_environment"


def test_the_penalty_reaches_the_features_and_not_the_head():
    trial = learner("mmd", build=Bent)
    found = trial.penalty(trial.net.features(rows().inputs), rows())
    assert reached(trial, found) == {"net.body.weight", "net.body.bias"}
    assert reached(trial, trial.loss(rows(), "train").total) == set(trial.state_dict())


@pytest.mark.parametrize("build", [Line, Bent])
def test_sixty_steps_lower_the_loss(build):
    trial = learner("mmd", build=build)
    before, after = descend(trial, total(trial, "train"))
    assert after < before


def test_looks_at_no_value():
    assert runs_without_values("mmd", {}, ("train",))
