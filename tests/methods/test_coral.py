import math

import pytest
import torch

from spurgen.errors import SpurgenError
from spurgen.learning import METHODS
from spurgen.methods._distances import coral
from spurgen.methods._groups import members
from tests.methods.descent import Bent, descend, reached, rows, runs_without_values, total
from tests.methods.tiny import Line, batch, learner


def test_distance_by_hand():
    """Environment 0: (0, 0, 0), (2, 0, 0): mean (1, 0, 0), variance of the first number (1 + 1)/(2 − 1) = 2.
    Environment 1: (0, 0, 0) twice: mean and covariance 0.
    mean((Δμ)²) = 1/3, mean((Δcov)²) = 2²/9, together 7/9. Risks of class 0 everywhere: ln 3 and ln(e² + 2) − 2 in
    environment 0, ln 3 in environment 1; each environment counts the same.
    """
    of = batch([[0, 0, 0], [2, 0, 0], [0, 0, 0], [0, 0, 0]], [0, 0, 0, 0], environment=[0, 0, 1, 1])
    risk = ((math.log(3) + math.log(math.exp(2) + 2) - 2) / 2 + math.log(3)) / 2
    assert learner("coral", {"weight": 3}).loss(of, "train").total.item() == pytest.approx(risk + 3 * 7 / 9)


def test_distance_is_the_mean_over_pairs_of_what_one_would_compute_pair_by_pair():
    features, codes = torch.randn(20, 4), torch.randint(0, 3, (20,), generator=torch.Generator().manual_seed(0))
    sets = [features[codes == e] for e in range(3)]
    pairs = [
        (a.mean(0) - b.mean(0)).square().mean() + (a.T.cov() - b.T.cov()).square().mean()
        for a, b in ((sets[0], sets[1]), (sets[0], sets[2]), (sets[1], sets[2]))
    ]
    expected = torch.stack(pairs).mean().item()
    assert coral(features, members(codes, 3)).item() == pytest.approx(expected, rel=1e-5)
    assert coral(features, members(codes, 4)).item() == pytest.approx(expected, rel=1e-5), "one that is absent"


def test_an_environment_with_one_row_has_a_mean_and_no_covariance():
    """Means (1, 0) and (0, 0): 1/2. A covariance of 0 in its place would add 2²/4 and shrink the other environment."""
    features = torch.tensor([[0.0, 0], [2, 0], [0, 0]], requires_grad=True)
    found = coral(features, members(torch.tensor([0, 0, 1]), 2))
    assert found.item() == pytest.approx(0.5)
    found.backward()
    assert torch.isfinite(features.grad).all()
    lonely = coral(torch.tensor([[1.0, 0], [0, 0]]), members(torch.tensor([0, 1]), 2))
    assert lonely.item() == pytest.approx(0.5)


def test_one_environment_in_a_batch_has_no_penalty():
    found = learner("coral").loss(batch([[0, 0, 0], [1, 0, 0]], [0, 1], environment=[1, 1]), "train").total
    plain = learner("erm").loss(batch([[0, 0, 0], [1, 0, 0]], [0, 1]), "train").total
    assert found.item() == pytest.approx(plain.item())


def test_mixed_precision_does_not_change_the_distance():
    features, codes = 30 + torch.randn(16, 8), torch.arange(16) % 2
    expected = coral(features, members(codes, 2)).item()
    with torch.autocast("cpu", torch.bfloat16):
        assert coral(features, members(codes, 2)).item() == pytest.approx(expected, rel=1e-6)


def test_what_it_cannot_work_with_is_an_error():
    with pytest.raises(SpurgenError, match=r"compares training environments.*have no environment"):
        learner("coral", environments=(), environment_sizes=torch.tensor([]))
    with pytest.raises(SpurgenError, match="set the batch size to 4 or more"):
        learner("coral", batch_size=3)


def test_declares_what_it_needs():
    assert METHODS.get("coral").needs.environments and learner("coral").sampling(0).kind == "by_environment"


def test_the_penalty_reaches_the_features_and_not_the_head():
    trial = learner("coral", build=Bent)
    found = trial.penalty(trial.net.features(rows().inputs), rows())
    assert reached(trial, found) == {"net.body.weight", "net.body.bias"}
    assert reached(trial, trial.loss(rows(), "train").total) == set(trial.state_dict())


@pytest.mark.parametrize("build", [Line, Bent])
def test_sixty_steps_lower_the_loss(build):
    trial = learner("coral", build=build)
    before, after = descend(trial, total(trial, "train"))
    assert after < before


def test_looks_at_no_value():
    assert runs_without_values("coral", {}, ("train",))
