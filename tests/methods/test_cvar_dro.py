import math

import pytest
import torch
from torch.nn.functional import cross_entropy

from spurgen.errors import SpurgenError
from spurgen.learning import METHODS
from tests.methods.course import looks_at_no_value, reached, same, trained
from tests.methods.tiny import batch, learner

# Losses of class 0 with scores (a, 0, 0) are ln(e^a + 2) − a: 1.0986, 0.5514, 0.2395 and 0.0949 for a = 0, 1, 2, 3.
LOSSES = [math.log(math.exp(a) + 2) - a for a in (0, 1, 2, 3)]
FOUR = batch([[2, 0, 0], [0, 0, 0], [3, 0, 0], [1, 0, 0]], [0] * 4)


@pytest.mark.parametrize(
    ("alpha", "expected"),
    [
        (0.25, LOSSES[0]),  # the worst row of four
        (0.5, (LOSSES[0] + LOSSES[1]) / 2),
        (0.4, (LOSSES[0] + 0.6 * LOSSES[1]) / 1.6),  # 0.4 · 4 = 1.6 rows: (1.0986 + 0.6 · 0.5514) / 1.6 = 0.8934
        (0.01, LOSSES[0]),  # 0.04 of a row
        (1.0, sum(LOSSES) / 4),  # plain training
    ],
)
def test_worst_share_by_hand(alpha, expected):
    assert learner("cvar_dro", {"alpha": alpha}).loss(FOUR, "train").total.item() == pytest.approx(expected)


def test_against_its_definition():
    """CVaR is the least, over a threshold t, of t + mean(max(loss − t, 0)) / alpha."""
    generator = torch.Generator().manual_seed(0)
    of = batch(torch.randn(13, 3, generator=generator), torch.arange(13) % 3)
    losses = cross_entropy(of.inputs, of.y, reduction="none")
    for alpha in (0.05, 0.3, 0.77):
        least = min((t + (losses - t).clamp(min=0).mean() / alpha).item() for t in losses)
        assert learner("cvar_dro", {"alpha": alpha}).loss(of, "train").total.item() == pytest.approx(least, rel=1e-5)


def test_bounds():
    for alpha in (0, 1.5):
        with pytest.raises(SpurgenError, match="alpha of cvar_dro"):
            learner("cvar_dro", {"alpha": alpha})
    assert str(METHODS.get("cvar_dro").settings.__dataclass_fields__["alpha"].metadata["search"]) == "10^U(-2, 0)"


def test_gradients_reach_the_network_from_the_worst_rows_only():
    trial = learner("cvar_dro", {"alpha": 0.25})
    assert reached(trial, trial.loss(FOUR, "train").total) == set(trial.state_dict())
    worst = learner("erm")
    worst.loss(batch([[0, 0, 0]], [0]), "train").total.backward()
    assert torch.allclose(trial.net.head.bias.grad, worst.net.head.bias.grad)


def test_scores_are_those_of_the_rows_in_their_order():
    assert torch.equal(learner("cvar_dro").loss(FOUR, "train").scores, FOUR.inputs)


def test_sixty_steps_lower_the_loss_also_when_another_goes_on():
    trial, before, after = trained("cvar_dro")
    assert after < before
    assert same(trial, trained("cvar_dro", stop=30)[0])


def test_looks_at_no_value():
    assert looks_at_no_value("cvar_dro")
