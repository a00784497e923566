import math

import pytest
import torch

from spurgen.learning import METHODS, Data
from spurgen.methods._contexts import contexts
from tests.methods.course import looks_at_no_value, reached, same, trained
from tests.methods.tiny import batch, data, learner, split

NAMED = ("label=mug,hue=red", "label=mug,hue=blue", "label=heart,hue=red", "label=heart,hue=blue")


def rows(y, group):
    """Training rows with these labels and groups, and nothing else."""
    y, group = torch.tensor(y), torch.tensor(group)
    one = split(1)
    return Data(type(one)(y, group, torch.zeros_like(y), torch.zeros(len(y), 2), one.raw), None)


def test_contexts_are_group_names_without_the_label():
    assert contexts(NAMED) == [0, 1, 0, 1]
    assert contexts(("hue:aligned,size:not", "hue:not,size:not")) == [0, 1]
    assert contexts(("label=mug", "label=heart")) == [0, 0]


def test_groups_that_do_not_name_the_label():
    """Group 0 has 4 rows of class 0, 2 of class 1 and none of class 2, which counts as one: logs of 4, 2, 1.

    Scores 0, class 1: ln((4 + 2 + 1) / 2) = ln 3.5 = 1.2528.
    """
    trial = learner("balanced_softmax")
    trial.begin(0, rows([0, 0, 0, 0, 1, 1, 2], [0, 0, 0, 0, 0, 0, 1]))
    found = trial.loss(batch([[0, 0, 0]], [1], group=[0]), "train")
    assert found.total.item() == pytest.approx(math.log(3.5))
    assert found.scores.tolist() == [[0, 0, 0]], "what is predicted is the plain scores"


def test_groups_that_name_the_label_are_compared_with_the_other_labels_of_their_context():
    """Red: 3 mugs (group 0) and 1 heart (group 2); a red heart of scores 0: ln((3 + 1 + 1) / 1) = ln 5.

    Counted within its own group alone, every other class would be ruled out and the loss would be 0.
    """
    trial = learner("balanced_softmax", groups=NAMED)
    trial.begin(0, rows([0, 0, 0, 1, 1, 1], [0, 0, 0, 2, 3, 3]))
    assert trial.loss(batch([[0, 0, 0]], [1], group=[2]), "train").total.item() == pytest.approx(math.log(5))
    assert trial.prior.exp().round().tolist() == [[3, 1, 1], [1, 2, 1]]


def test_over_classes():
    """4 rows of class 0, 2 of class 1, 1 of class 2: ln(7 / 1) for a row of class 2 in any group."""
    trial = learner("balanced_softmax", {"over": "class"})
    trial.begin(0, rows([0, 0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 0, 2, 1]))
    found = trial.loss(batch([[0, 0, 0]] * 2, [2, 2], group=[0, 3]), "train")
    assert found.total.item() == pytest.approx(math.log(7))


def test_groups_without_rows_are_no_nan():
    trial = learner("balanced_softmax")
    trial.begin(0, data())
    assert trial.prior.isfinite().all() and trial.prior[3].tolist() == [0, 0, 0]
    reached(trial, trial.loss(batch([[1, 0, 0]], [0], group=[3]), "train").total)


def test_declares_what_it_needs():
    assert METHODS.get("balanced_softmax").needs.groups and METHODS.get("balanced_softmax").needs.rows


def test_gradients_reach_the_network_and_the_counts_are_saved():
    trial = learner("balanced_softmax")
    assert reached(trial, trial.loss(batch([[1.0, 0, 0]], [0]), "train").total) == {"net.head.weight", "net.head.bias"}
    assert {"prior", "context"} <= set(trial.state_dict())


def test_sixty_steps_lower_the_loss_also_when_another_goes_on():
    trial, before, after = trained("balanced_softmax")
    assert after < before / 2
    assert same(trial, trained("balanced_softmax", stop=30)[0])


def test_looks_at_no_value():
    assert looks_at_no_value("balanced_softmax") and looks_at_no_value("balanced_softmax", {"over": "class"})
