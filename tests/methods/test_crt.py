import pytest
import torch

from spurgen.errors import SpurgenError
from spurgen.learning import METHODS, Sampling
from spurgen.methods._two_stage import beside
from tests.methods.course import Deep, looks_at_no_value, reached, rows, same, trained
from tests.methods.tiny import data, learner, split

PHASES = ("features", "head")


def test_second_stage_is_balanced():
    assert [learner("crt").sampling(stage) for stage in (0, 1)] == [Sampling(), Sampling("balanced", over="group")]
    assert learner("crt", {"over": "class"}).sampling(1) == Sampling("balanced", over="class")


def test_stages_share_the_steps():
    trial = learner("crt", {"first_stage": 0.8})
    assert [s.name for s in trial.stages()] == ["features", "head"]
    assert [s.share for s in trial.stages()] == pytest.approx([0.8, 0.2])
    with pytest.raises(SpurgenError, match="first_stage of crt"):
        learner("crt", {"first_stage": 1})


def test_second_stage_has_a_new_head_and_nothing_else_new():
    trial = learner("crt", build=Deep)
    body, head = trial.net.body[0].weight.clone(), trial.net.head.weight
    with torch.no_grad():
        head.fill_(7.0)
    trial.begin(0, data())
    assert (head == 7).all()
    trial.begin(1, data())
    assert trial.net.head.weight is head and not head.any(), "heads of Deep start at 0"
    assert torch.equal(trial.net.body[0].weight, body)


def test_second_stage_trains_the_head_alone():
    trial = learner("crt", build=Deep)
    assert len(trial.trained(0)) == 6 and [p.shape for p in trial.trained(1)] == [(3, 4), (3,)]
    assert trial.frozen(0) == [] and trial.frozen(1) == [trial.net.body]
    found = trial.loss(rows(split(), range(8)), "head")
    assert reached(trial, found.total) == {"net.head.weight", "net.head.bias"}
    assert (
        reached(trial, trial.loss(rows(split(), range(8)), "features").total) == dict(trial.named_parameters()).keys()
    )


def test_frozen_features_and_their_statistics_do_not_move():
    half, _, _ = trained("crt", build=Deep, steps=30, settings={"first_stage": 0.99})
    whole, _, _ = trained("crt", build=Deep, steps=60)
    for name, value in half.net.body.state_dict().items():
        assert torch.equal(value, whole.net.body.state_dict()[name]), name
    assert half.net.body[1].num_batches_tracked == 30


def test_a_head_inside_of_something_leaves_its_neighbours_frozen():
    head = torch.nn.Linear(2, 2)
    inner = torch.nn.Sequential(torch.nn.Linear(2, 2), head)
    outer = torch.nn.Sequential(torch.nn.BatchNorm1d(2), inner)
    assert list(beside(outer, head)) == [outer[0], inner[0]]


def test_declares_what_it_needs():
    assert METHODS.get("crt").needs.groups and METHODS.get("crt").needs.rows


@pytest.mark.parametrize("stop", [15, 40])
def test_sixty_steps_lower_the_loss_also_when_another_goes_on(stop):
    trial, before, after = trained("crt", build=Deep)
    assert after < before / 2
    assert same(trial, trained("crt", build=Deep, stop=stop)[0])


def test_looks_at_no_value():
    assert looks_at_no_value("crt", phases=PHASES)
