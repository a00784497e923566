import math

import pytest
import torch

from spurgen.errors import SpurgenError
from spurgen.learning import METHODS, Data
from tests.methods.course import Deep, flat, looks_at_no_value, reached, rows, same, trained
from tests.methods.tiny import batch, data, learner, split

# Losses with scores (a, 0, 0): of class 0, ln(e^a + 2) − a.
AT = {a: math.log(math.exp(a) + 2) - a for a in (0, 1, 2)}


def four(settings=None):
    """A learner that knows four training rows of classes 0, 0, 0, 1; both networks repeat their inputs."""
    trial = learner("lff", settings, rows=4)
    one, y = split(1), torch.tensor([0, 0, 0, 1])
    trial.begin(0, Data(type(one)(y, y, y, torch.zeros(4, 2), one.raw), None))
    return trial


def double(trial, by):
    """Make the biased network's scores the inputs times a number."""
    with torch.no_grad():
        trial.biased.head.weight.copy_(by * torch.eye(3))


def test_weights_by_hand():
    """Rows 0 and 1 of class 0 with inputs (1, 0, 0) and (0, 0, 0). The debiased network repeats them: losses 0.5514 and
    1.0986. The biased one doubles them: 0.2395 and 1.0986. Seen for the first time, they are taken as they are.

    The largest of the class is 1.0986 for both: b = 0.2180, 1 and d = 0.5019, 1; weights b / (b + d) = 0.3028, 0.5.
    Total: weighted 0.3028·0.5514 + 0.5·1.0986, and generalised (1 − p^0.7) / 0.7 with p = e^−0.2395 and 1/3; halved.
    """
    trial = four()
    double(trial, 2)
    found = trial.loss(batch([[1, 0, 0], [0, 0, 0]], [0, 0], position=[0, 1]), "train")
    b, d = AT[2] / AT[0], AT[1] / AT[0]
    weight = b / (b + d)
    assert weight == pytest.approx(0.3028, abs=1e-4)
    easy = sum((1 - math.exp(-0.7 * loss)) / 0.7 for loss in (AT[2], AT[0]))
    assert found.total.item() == pytest.approx((weight * AT[1] + 0.5 * AT[0] + easy) / 2)
    assert trial.losses[0].tolist() == pytest.approx([AT[2], AT[0], 0, 0])
    assert trial.losses[1].tolist() == pytest.approx([AT[1], AT[0], 0, 0])


def test_losses_are_moving_averages():
    """Row 0 seen with input 0, then 1, then 1: averages 1.0986; 0.7·1.0986 + 0.3·0.5514 = 0.9345; and so on."""
    trial, expected = four(), AT[0]
    trial.loss(batch([[0, 0, 0]], [0], position=[0]), "train")
    assert trial.losses[1, 0].item() == pytest.approx(AT[0])
    for _ in range(2):
        trial.loss(batch([[1, 0, 0]], [0], position=[0]), "train")
        expected = 0.7 * expected + 0.3 * AT[1]
        assert trial.losses[1, 0].item() == pytest.approx(expected)
    assert trial.losses[:, 1:].abs().sum() == 0, "rows that were not seen are left alone"


def test_largest_loss_is_that_of_the_class_over_all_rows_remembered():
    """Row 0, seen earlier, has the largest losses of class 0: 1.0986 by both. Row 1 now has 0.2395 by the biased and
    0.5514 by the other, row 3 is the only one of class 1: its b and d are 1, its weight 0.5."""
    trial = four()
    trial.loss(batch([[0, 0, 0]], [0], position=[0]), "train")
    double(trial, 2)
    of = batch([[1, 0, 0], [0, 3, 0]], [0, 1], position=[1, 3])
    losses = torch.tensor([[AT[2], 0.3], [AT[1], 0.001]])
    b, d = AT[2] / AT[0], AT[1] / AT[0]
    assert trial._weights(of, losses).tolist() == pytest.approx([b / (b + d), 0.5])


def test_losses_of_nothing_are_no_nan():
    trial = four()
    assert trial._weights(batch([[1, 0, 0]], [0]), torch.zeros(2, 1)).tolist() == [0]
    found = trial.loss(batch([[500.0, 0, 0], [0, 0, 500]], [0, 1], position=[1, 3]), "train")
    assert torch.isfinite(found.total)
    reached(trial, found.total)


def test_generalised_cross_entropy_has_the_gradient_of_its_definition():
    """(1 − p^q) / q with p the probability of the row's class."""
    trial = four({"q": 0.4})
    x = torch.tensor([[1.0, 0.5, -1]])
    trial.loss(batch(x, [1]), "train").total.backward()
    bias = torch.zeros(3, requires_grad=True)
    p = (x + bias).softmax(1)[0, 1]
    ((1 - p**0.4) / 0.4).backward()
    assert torch.allclose(trial.biased.head.bias.grad, bias.grad, atol=1e-6)


def test_predicts_with_the_debiased_network():
    trial = four()
    double(trial, 5)
    x = torch.tensor([[1.0, 2, 3]])
    assert torch.equal(trial(x), x)
    assert torch.equal(trial.loss(batch(x, [0]), "train").scores, x)


def test_each_loss_reaches_its_own_network_and_neither_reaches_the_inputs_of_the_other():
    trial = learner("lff", build=Deep)
    trial.begin(0, data())
    of = rows(split(), range(8))
    assert reached(trial, trial.loss(of, "train").total) == {n for n, _ in trial.named_parameters()}
    assert {n.split(".")[0] for n, _ in trial.named_parameters()} == {"net", "biased"}
    made = of.inputs.clone().requires_grad_()
    trial.net = flat()  # scores 0 whatever the inputs: any gradient there would come through the biased network
    trial.loss(rows(split(), range(8)).__class__(**{**vars(of), "inputs": made}), "train").total.backward()
    assert made.grad is None or not made.grad.any()


def test_networks_start_differently():
    trial = learner("lff", build=Deep)
    assert not torch.equal(trial.net.body[0].weight, trial.biased.body[0].weight)


def test_declares_what_it_needs():
    method = METHODS.get("lff")
    assert method.needs.rows and str(method.needs) == "labels"
    assert str(method.settings.__dataclass_fields__["q"].metadata["search"]) == "U(0.05, 0.95)"
    with pytest.raises(SpurgenError, match="q of lff"):
        learner("lff", {"q": 0})


def test_what_it_remembers_is_saved():
    trial = learner("lff")
    assert {"label", "losses", "seen", "biased.head.weight"} <= set(trial.state_dict())
    assert trial.losses.shape == (2, 100) and not trial.losses.requires_grad


def test_sixty_steps_lower_the_loss_also_when_another_goes_on():
    trial, before, after = trained("lff")
    assert after < before / 2
    assert same(trial, trained("lff", stop=30)[0])


def test_looks_at_no_value():
    assert looks_at_no_value("lff")
