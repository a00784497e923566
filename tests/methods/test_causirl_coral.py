import pytest
import torch

from spurgen.errors import SpurgenError
from spurgen.learning import METHODS
from tests.methods.descent import Bent, descend, reached, rows, runs_without_values, total
from tests.methods.tiny import Line, batch, learner


def test_every_environment_is_cut_at_a_random_place():
    """Of 3 rows of an environment the first 0, 1 or 2 are in the first mixture, of 5 the first 0 to 4; all equally
    likely: 0.333 and 0.2, within 4 standard deviations √(p(1 − p)/2000) of at most 0.0105.
    """
    trial = learner("causirl_coral")
    of = batch(torch.zeros(8, 3), [0] * 8, environment=[1, 0, 0, 1, 1, 0, 1, 1])
    seen = torch.zeros(2, 5)
    for _ in range(2000):
        first = trial.first(of)
        for e in (0, 1):
            own = first[of.environment == e].long()
            assert own.tolist() == sorted(own.tolist(), reverse=True), "what is first comes first"
            seen[e, own.sum()] += 1
    assert seen[0, :3] / 2000 == pytest.approx([1 / 3] * 3, abs=0.042) and not seen[0, 3:].any()
    assert seen[1] / 2000 == pytest.approx([0.2] * 5, abs=0.042)


def test_distance_between_mixtures_by_hand(monkeypatch):
    """First (0, 0, 0), (2, 0, 0): mean 1 and variance 2 of the first number; second (0, 0, 0) twice. As in CORAL's
    test: 1/3 + 4/9 = 7/9. Environments, a row of each in either mixture, make no difference.
    """
    trial = learner("causirl_coral")
    of = batch([[0, 0, 0], [0, 0, 0], [2, 0, 0], [0, 0, 0]], [0] * 4, environment=[0, 0, 1, 1])
    monkeypatch.setattr(trial, "first", lambda batch: torch.tensor([True, False, True, False]))
    assert trial.penalty(of.inputs, of).item() == pytest.approx(7 / 9)


@pytest.mark.parametrize("first", [[False] * 4, [True, False, False, False], [True] * 4, [True, True, True, False]])
def test_a_mixture_of_fewer_than_two_rows_is_skipped(monkeypatch, first):
    trial = learner("causirl_coral", build=Bent)
    of = batch(torch.randn(4, 3), [0] * 4, environment=[0, 0, 1, 1])
    monkeypatch.setattr(trial, "first", lambda batch: torch.tensor(first))
    found = trial.penalty(trial.net.features(of.inputs), of)
    assert found.item() == 0
    reached(trial, found)  # gradients are finite


def test_what_it_cannot_work_with_is_an_error():
    with pytest.raises(SpurgenError, match="compares training environments"):
        learner("causirl_coral", environments=("weak",), environment_sizes=torch.tensor([100]))
    with pytest.raises(SpurgenError, match="set the batch size to 4 or more"):
        learner("causirl_coral", batch_size=2)


def test_declares_what_it_needs():
    trial = learner("causirl_coral")
    assert METHODS.get("causirl_coral").needs.environments and trial.sampling(0).kind == "by_environment"


def test_the_penalty_reaches_the_features_and_not_the_head():
    trial = learner("causirl_coral", build=Bent)
    found = trial.penalty(trial.net.features(rows().inputs), rows())
    assert reached(trial, found) == {"net.body.weight", "net.body.bias"}
    assert reached(trial, trial.loss(rows(), "train").total) == set(trial.state_dict())


@pytest.mark.parametrize("build", [Line, Bent])
def test_sixty_steps_lower_the_loss(build):
    trial = learner("causirl_coral", build=build)
    before, after = descend(trial, total(trial, "train"))
    assert after < before


def test_looks_at_no_value():
    assert runs_without_values("causirl_coral", {}, ("train",))
