import math

import pytest
import torch
from torch import nn

from spurgen.errors import SpurgenError
from spurgen.learning import METHODS
from spurgen.methods import mmd_aae
from tests.methods.descent import Bent, descend, error, reached, rows, runs_without_values, total
from tests.methods.tiny import Line, batch, learner


def plain(settings, **changes):
    """MMD-AAE whose encoder gives the features back, whose decoder gives 0, and whose discriminator says ln 3."""
    trial = learner("mmd_aae", settings, **changes)
    trial.encoder = nn.Identity()
    for part in (trial.decoder, trial.discriminator):
        for p in part.parameters():
            nn.init.zeros_(p)
    nn.init.constant_(trial.discriminator[-1].bias, math.log(3))
    return trial


def test_what_is_learnt_by_hand():
    """Rows (0, 0, 0) and (1, 0, 0), class 0, one in each environment: risk (ln 3 + ln(e + 2) − 1)/2 = 0.8250, MMD²
    7.4763 as in MMD's test, reconstruction mean(x²) = 1/6, and −ln D = −ln(3/4) for a discriminator that says 3 to 1.
    """
    of = batch([[0, 0, 0], [1, 0, 0]], [0, 0], environment=[0, 1])
    trial = plain({"weight": 2, "reconstruction": 3, "prior": 5})
    risk = (math.log(3) + math.log(math.e + 2) - 1) / 2
    mmd = 14 - 2 * sum(math.exp(-(10.0**k)) for k in range(-3, 4))
    expected = risk + 2 * mmd + 3 / 6 - 5 * math.log(0.75)
    assert trial.loss(of, "learn").total.item() == pytest.approx(expected, rel=1e-5)


def test_what_the_critic_learns_by_hand():
    """It says 3 to 1 that anything is from the prior: −ln(3/4) for the prior's codes and −ln(1/4) for rows' codes."""
    of = batch([[0, 0, 0], [1, 0, 0]], [0, 0], environment=[0, 1])
    found = plain({}).loss(of, "critic")
    assert found.total.item() == pytest.approx(-math.log(0.75) - math.log(0.25))
    assert found.scores.tolist() == [[0, 0, 0], [1, 0, 0]]


def test_prior_is_a_laplace_distribution_of_variance_one():
    """Mean 0, variance 1, and P(|x| > 1) = e^(−√2) = 0.2431; 200,000 numbers, √(5/200000) = 0.005 for the variance."""
    x = mmd_aae.laplace(torch.empty(200_000))
    assert x.mean().item() == pytest.approx(0, abs=0.01)
    assert x.var().item() == pytest.approx(1, abs=0.025)
    assert (x.abs() > 1).double().mean().item() == pytest.approx(math.exp(-math.sqrt(2)), abs=0.005)


def test_turns():
    trial = learner("mmd_aae")
    assert [trial.phase(0, s, 4) for s in range(4)] == ["critic", "learn", "critic", "learn"]
    with pytest.raises(SpurgenError, match="compares training environments"):
        learner("mmd_aae", environments=("weak",), environment_sizes=torch.tensor([100]))


def test_gradients_reach_the_discriminator_in_its_turn_and_all_else_in_the_other():
    trial = learner("mmd_aae", build=Bent)
    parts = set(dict(trial.named_parameters()))
    critic = {name for name in parts if name.startswith("discriminator.")}
    assert reached(trial, trial.loss(rows(), "critic").total) == critic
    assert reached(trial, trial.loss(rows(), "learn").total) == parts - critic


def test_the_discriminator_is_an_opponent():
    """A step down the loss of the "learn" phase must make codes look more like the prior to the discriminator."""
    trial = learner("mmd_aae", {"weight": 0, "reconstruction": 0, "prior": 1000}, build=Bent)

    def judged():
        with torch.no_grad():
            return trial.discriminator(trial.encoder(trial.net.features(rows().inputs))).mean().item()

    before = judged()
    descent = torch.optim.SGD(trial.trained(0), lr=1e-4)
    trial.loss(rows(), "learn").total.backward()
    descent.step()
    assert judged() > before


def test_the_target_of_reconstruction_gets_no_gradient():
    """With a decoder that says 0 whatever the code, reconstruction could fall only by shrinking the features."""
    slopes = []
    for weight in (0, 1000):
        trial = plain({"reconstruction": weight}, build=Bent)
        trial.loss(rows(), "learn").total.backward()
        slopes.append(trial.net.body.weight.grad)
    assert torch.equal(*slopes)


def test_predicts_through_the_encoder_and_saves_all_parts():
    trial = learner("mmd_aae", build=Bent)
    x = rows().inputs
    assert torch.equal(trial(x), trial.net.head(trial.encoder(trial.net.features(x))))
    assert torch.equal(trial(x), trial.loss(rows(), "learn").scores)
    kinds = {name.split(".")[0] for name in trial.state_dict()}
    assert kinds == {"net", "encoder", "decoder", "discriminator"}
    assert METHODS.get("mmd_aae").needs.environments and trial.sampling(0).kind == "by_environment"


@pytest.mark.parametrize("build", [Line, Bent])
def test_sixty_steps_lower_the_loss(build):
    """Without the opponent, who raises it; with the opponent the cross-entropy of what is predicted."""
    alone = learner("mmd_aae", {"prior": 0}, build=build)
    before, after = descend(alone, total(alone, "learn"))
    assert after < before
    trial = learner("mmd_aae", build=build)
    before, after = descend(trial, lambda: error(trial, rows()))
    assert after < before


def test_looks_at_no_value():
    assert runs_without_values("mmd_aae", {}, ("critic", "learn"))
