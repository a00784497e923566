import math
from fractions import Fraction

import pytest
import torch

from spurgen.errors import SpurgenError
from spurgen.learning import METHODS
from tests.methods.course import looks_at_no_value, reached, same, trained
from tests.methods.tiny import batch, learner

SIZES = (70, 20, 10)


def test_weights_by_hand():
    """beta 0.9: effective numbers 10·(1 − 0.9^n) = 9.9937, 8.7842, 6.5132; their inverses 0.10006, 0.11384, 0.15353.

    Over all rows that is 70·0.10006 + 20·0.11384 + 10·0.15353 = 10.8165; times 100 / 10.8165: 0.9251, 1.0525, 1.4194.
    """
    weights = learner("cb_loss", {"beta": 0.9}).weights
    assert weights.tolist() == pytest.approx([0.9251, 1.0525, 1.4194, 0], abs=1e-4)
    assert (torch.tensor([*SIZES, 0]) * weights).sum().item() == pytest.approx(100), "the mean over rows is 1"


def test_beta_close_to_one_keeps_its_digits():
    """Against exact fractions; with 32 bits 0.999999 is off by 1e-7 of 1e-6, and so are the weights."""
    beta = Fraction(0.999999)
    raw = [(1 - beta) / (1 - beta**n) for n in SIZES]
    scale = 100 / sum(n * r for n, r in zip(SIZES, raw, strict=True))
    found = learner("cb_loss", {"beta": 0.999999}).weights
    assert found.tolist() == pytest.approx([float(r * scale) for r in raw] + [0], rel=1e-6)


def test_ends_of_beta():
    assert learner("cb_loss", {"beta": 0}).weights.tolist() == pytest.approx([1, 1, 1, 0]), "plain training"
    by_size, nearly = learner("reweight").weights, learner("cb_loss", {"beta": 0.999999}).weights
    assert nearly.tolist() == pytest.approx(by_size.tolist(), rel=1e-4), "almost one over the sizes"
    with pytest.raises(SpurgenError, match=r"must be at most 0\.999999"):
        learner("cb_loss", {"beta": 1})


def test_over_classes_and_without_rows():
    weights = learner("cb_loss", {"over": "class"}, class_sizes=torch.tensor([60, 40, 0])).weights
    assert weights[2] == 0 and weights.isfinite().all()
    assert (torch.tensor([60, 40, 0]) * weights).sum().item() == pytest.approx(100)


def test_loss_by_hand():
    trial = learner("cb_loss", {"beta": 0.9})
    found = trial.loss(batch([[0, 0, 0]] * 2, [0, 1], group=[0, 2]), "train")
    assert found.total.item() == pytest.approx((0.9251 + 1.4194) / 2 * math.log(3), abs=1e-4)


def test_declares_what_it_needs_and_searches_over_one_minus_a_power():
    beta = METHODS.get("cb_loss").settings.__dataclass_fields__["beta"]
    assert METHODS.get("cb_loss").needs.groups and beta.default == 0.9999
    assert beta.metadata["search"].sample(0.0) == pytest.approx(1 - 1e-5)
    assert beta.metadata["search"].sample(1.0) == pytest.approx(1 - 1e-2)


def test_gradients_reach_the_network_and_the_weights_are_saved():
    trial = learner("cb_loss")
    assert reached(trial, trial.loss(batch([[1.0, 0, 0]], [0]), "train").total) == {"net.head.weight", "net.head.bias"}
    assert "weights" in trial.state_dict()


def test_sixty_steps_lower_the_loss_also_when_another_goes_on():
    trial, before, after = trained("cb_loss")
    assert after < before / 2
    assert same(trial, trained("cb_loss", stop=30)[0])


def test_looks_at_no_value():
    assert looks_at_no_value("cb_loss")
