import math

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from spurgen.errors import SpurgenError
from spurgen.learning import METHODS
from spurgen.methods.contrastive import info_nce
from tests.methods.descent import Bent, descend, reached, rows, runs_without_values, total
from tests.methods.tiny import Line, batch, learner


def test_contrastive_loss_by_hand():
    """Rows a = (3, 0), b = (0, 2); twins a' = (1, 0), b' = (5, 0). Cosines: a a' 1, a b' 1, b a' 0, b b' 0. At
    temperature 0.5 they are 2, 2, 0, 0. Row to twin: each row has its two cosines equal, ln 2. Twin to row: a' has 2
    (its own) and 0: ln(1 + e^−2) = 0.1269; b' has 2 and 0 (its own): ln(1 + e²) = 2.1269; mean 1.1269.
    Both directions: (0.6931 + 1.1269)/2 = 0.9100.
    """
    found = info_nce(torch.tensor([[3.0, 0], [0, 2], [1, 0], [5, 0]]), 0.5).item()
    back = (math.log(1 + math.exp(-2)) + math.log(1 + math.exp(2))) / 2
    assert found == pytest.approx((math.log(2) + back) / 2) == pytest.approx(0.9100, abs=1e-4)


def test_contrastive_loss_treats_both_views_alike():
    one, two = torch.randn(6, 4), torch.randn(6, 4)
    there, back = (info_nce(torch.cat(pair), 0.3).item() for pair in ((one, two), (two, one)))
    assert there == pytest.approx(back)


def test_total_by_hand():
    """Row (2, 0, 0), twin (0, 0, 0), class 0: cross-entropies 0.2395 and 1.0986, mean 0.6691. One row alone has no
    negatives: its contrastive loss is ln 1 = 0. A second row (0, 2, 0) of class 1 with twin (0, 0, 0) adds some.
    """
    trial = learner("contrastive", {"weight": 3, "temperature": 1})
    trial.projection = nn.Identity()
    a = (math.log(math.exp(2) + 2) - 2 + math.log(3)) / 2
    alone = trial.loss(batch([[2, 0, 0]], [0], twin=torch.zeros(1, 3)), "train")
    assert alone.total.item() == pytest.approx(a)
    # vectors of length 0 have cosine 0 to all: every comparison is between two equals, ln 2
    found = trial.loss(batch([[2, 0, 0], [0, 2, 0]], [0, 1], twin=torch.zeros(2, 3)), "train")
    assert found.total.item() == pytest.approx(a + 3 * math.log(2))
    assert found.scores.tolist() == [[2, 0, 0], [0, 2, 0]], "the rows' scores, not the twins'"


def test_mixed_precision_does_not_change_the_contrastive_loss():
    vectors = torch.randn(16, 8)
    expected = info_nce(vectors, 0.05).item()
    with torch.autocast("cpu", torch.bfloat16):
        assert info_nce(vectors, 0.05).item() == pytest.approx(expected, rel=1e-6)


def test_asks_for_twins_and_says_when_there_are_none():
    trial = learner("contrastive")
    assert trial.wants_twins(0) and METHODS.get("contrastive").needs.generator
    with pytest.raises(SpurgenError, match="drawn with other attributes"):
        trial.loss(batch([[2, 0, 0]], [0]), "train")
    with pytest.raises(SpurgenError, match=r"must be at least 0\.001"):
        learner("contrastive", {"temperature": 0})


def test_gradients_reach_all_and_the_projection_is_saved():
    trial = learner("contrastive", build=Bent)
    assert reached(trial, trial.loss(rows(), "train").total) == set(trial.state_dict())
    assert trial.state_dict()["projection.2.weight"].shape == (128, 128)
    vectors = trial.projection(trial.net.features(torch.cat([rows().inputs, rows().twin])))
    assert not any("head" in name for name in reached(trial, info_nce(vectors, 0.5)))


def test_prediction_does_without_the_projection():
    trial = learner("contrastive", build=Bent)
    assert torch.equal(trial(rows().inputs), trial.net(rows().inputs))


@pytest.mark.parametrize("build", [Line, Bent])
def test_sixty_steps_lower_the_loss_and_both_views_errors(build):
    trial = learner("contrastive", build=build)

    def twins():
        with torch.no_grad():
            return cross_entropy(trial(rows().twin), rows().y).item()

    error = twins()
    before, after = descend(trial, total(trial, "train"))
    assert after < before and twins() < error


def test_looks_at_no_value():
    assert runs_without_values("contrastive", {}, ("train",))
