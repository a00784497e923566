import numpy as np
import pytest
import torch

from spurgen.errors import SpurgenError
from spurgen.learning import METHODS, Data
from spurgen.settings import fill
from tests.methods.course import Deep, error, looks_at_no_value, reached, rows, same, trained
from tests.methods.tiny import Line, batch, data, learner, split


def four():
    """Four rows whose first three numbers are scores: classes 0, 1, 2, 0 are predicted; labels 0, 1, 1, 2."""
    x = torch.tensor([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]])
    one, y = split(1), torch.tensor([0, 1, 1, 2])
    return Data(type(one)(y, y * 0, y * 0, torch.zeros(4, 2), lambda at: x[at]), None)


def test_errors_by_hand():
    """Rows 2 and 3 are wrong; with upweight 3 they come three times in all and the others once."""
    trial = learner("jtt", {"upweight": 3}, rows=4)
    assert trial.sampling(0).rows is None
    trial.begin(0, four())
    trial.begin(1, four())
    assert trial.errors.tolist() == [False, False, True, True]
    how = trial.sampling(1)
    assert how.kind == "shuffled" and np.bincount(how.rows).tolist() == [1, 1, 3, 3]


def test_upweight_of_one_is_plain():
    trial = learner("jtt", {"upweight": 1}, rows=4)
    trial.begin(1, four())
    assert trial.sampling(1).rows.tolist() == [0, 1, 2, 3]


def test_no_errors_are_said_and_training_goes_on():
    """With labels 0, 1, 2, 0 the network, which repeats its inputs, is right everywhere."""
    right = four().train
    right.y.copy_(torch.tensor([0, 1, 2, 0]))
    trial = learner("jtt", rows=4)
    with pytest.warns(UserWarning, match="gets every training row right.*first_stage"):
        trial.begin(1, Data(right, None))
    assert trial.sampling(1).rows.tolist() == [0, 1, 2, 3]


def test_second_stage_starts_afresh_with_the_same_objects():
    trial = learner("jtt", build=Deep)
    parts = list(trial.parameters())
    with torch.no_grad():
        for part in parts:
            part.fill_(7.0)
    trial.net.body[1].running_mean.fill_(7.0)
    trial.begin(1, data())
    assert all(a is b for a, b in zip(parts, trial.parameters(), strict=True)), "optimisers keep hold of them"
    assert not any((part == 7).all() for part in parts) and trial.net.body[1].running_mean.tolist() == [0] * 4
    trial.net.load_state_dict(Deep().state_dict())


def test_rows_are_predicted_with_running_statistics_and_modes_are_put_back():
    trial = learner("jtt", build=Deep)
    trial.train()
    trial.net.body.eval()
    at = [(module, module.training) for module in trial.net.modules()]
    expected = trial.net.body[1].running_mean.clone()
    trial.begin(1, data())
    assert all(module.training == mode for module, mode in at)
    assert torch.equal(trial.net.body[1].running_mean, expected)


def test_stages_share_the_steps():
    assert [(s.name, s.share) for s in learner("jtt", {"first_stage": 0.3}).stages()] == [
        ("identify", 0.3),
        ("train", 0.7),
    ]
    for wrong in ({"first_stage": 0}, {"first_stage": 1}, {"upweight": 0}, {"upweight": 2.5}):
        with pytest.raises(SpurgenError, match="of jtt"):
            learner("jtt", wrong)


def test_errors_survive_a_restart():
    one = learner("jtt", rows=4)
    one.begin(1, four())
    other = learner("jtt", rows=4)
    other.load_state_dict(one.state_dict())
    assert np.array_equal(one.sampling(1).rows, other.sampling(1).rows)


def test_declares_what_it_needs_and_what_a_search_draws_it_accepts():
    method = METHODS.get("jtt")
    assert method.needs.rows and str(method.needs) == "labels"
    for u in (0.0, 0.5, 0.999):
        drawn = {n: f.metadata["search"].sample(u) for n, f in method.settings.__dataclass_fields__.items()}
        fill(method.settings, drawn, "jtt")


def test_gradients_reach_all_of_the_network():
    trial = learner("jtt", build=Deep)
    found = trial.loss(rows(split(), range(8)), "train")
    assert reached(trial, found.total) == {n for n, _ in trial.named_parameters()}
    assert learner("jtt").loss(batch([[0, 0, 0]], [1]), "train").total.item() == pytest.approx(np.log(3))


def wrong():
    """Scores that start upside down, so that a short first stage still errs."""
    return Line(weight=-0.25 * torch.eye(3))


SHORT = {"first_stage": 0.1, "upweight": 3}


@pytest.mark.parametrize("stop", [3, 45])
def test_sixty_steps_lower_the_loss_also_when_another_goes_on(stop):
    trial, before, after = trained("jtt", SHORT, build=wrong)
    assert 0 < trial.errors.sum() < 100 and after < before / 2
    assert error(trial, split()) == after, "the second network predicts"
    assert same(trial, trained("jtt", SHORT, stop=stop, build=wrong)[0])


def test_looks_at_no_value():
    assert looks_at_no_value("jtt")
