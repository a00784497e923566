import time

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from spurgen.errors import SpurgenError
from spurgen.learning import METHODS, Data, Split
from spurgen.methods._logistic import fit, with_ones
from spurgen.methods.dfr import FITS, STRENGTHS
from tests.methods.course import Deep, error, looks_at_no_value, reached, rows, same, trained
from tests.methods.tiny import Line, data, learner, split


def shifted(n, classes, width, seed=0):
    """Standardised features, a few of which say something of the class."""
    generator = torch.Generator().manual_seed(seed)
    y = torch.randint(0, classes, (n,), generator=generator)
    x = torch.randn(n, width, generator=generator, dtype=torch.float64)
    x[:, :classes] += nn.functional.one_hot(y, classes)
    return (x - x.mean(0)) / x.std(0, correction=0), y


def objective(x, y, w, reg):
    return (cross_entropy(with_ones(x) @ w, y) + reg * w[:-1].abs().sum()).item()


@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize("c", [1.0, 0.1])
def test_solver_against_scikit_learn(classes, c):
    """All classes' coefficients may move together; for two classes there they are one vector, ours half of it each."""
    linear = pytest.importorskip("sklearn.linear_model")
    x, y = shifted(150, classes, 20)
    start = torch.zeros(21, classes, dtype=torch.float64)
    found = fit(with_ones(x), y, start, 1 / (c * 150), tol=1e-9, most=20_000)
    oracle = linear.LogisticRegression(C=c, l1_ratio=1.0, solver="saga", tol=1e-12, max_iter=100_000)
    oracle.fit(x.numpy(), y.numpy())
    theirs = torch.from_numpy(np.concatenate([oracle.coef_.T, oracle.intercept_[None]]))
    theirs = torch.cat([-theirs / 2, theirs / 2], 1) if classes == 2 else theirs
    assert torch.allclose(found - found.mean(1, keepdim=True), theirs - theirs.mean(1, keepdim=True), atol=1e-8)


def test_intercepts_are_free():
    """Where the norm leaves no weight, intercepts are the logs of the classes' shares: 1/2, 1/3, 1/6."""
    x, y = shifted(60, 3, 5)[0], torch.tensor([0, 0, 0, 1, 1, 2] * 10)
    found = fit(with_ones(x), y, torch.zeros(6, 3, dtype=torch.float64), 3.0, tol=1e-9)
    assert not found[:-1].any()
    assert found[-1].softmax(0).tolist() == pytest.approx([1 / 2, 1 / 3, 1 / 6])


def test_solver_by_hand():
    """x is −1 or 1, and y 1 where x is 1: by symmetry weights (−v, v), and the mean loss is ln(1 + e^−2v).

    Its slope −2 / (1 + e^2v) and that of the norm, 2·reg, cancel where e^2v = 1 / reg − 1; reg 0.1: v = ln(9) / 2.
    """
    x = torch.tensor([[-1.0], [1.0]], dtype=torch.float64)
    found = fit(with_ones(x), torch.tensor([0, 1]), torch.zeros(2, 2, dtype=torch.float64), 0.1, tol=1e-9)
    assert found[0].tolist() == pytest.approx([-np.log(9) / 2, np.log(9) / 2])
    assert found[1, 0].item() == pytest.approx(found[1, 1].item(), abs=1e-9)


def test_solver_is_close_enough_where_it_stops_by_itself_and_from_wherever_it_starts():
    x, y = shifted(200, 3, 30)
    zeros = torch.zeros(31, 3, dtype=torch.float64)
    for reg in (0.001, 0.02, 0.2):
        best = objective(x, y, fit(with_ones(x), y, zeros, reg, tol=1e-10, most=20_000), reg)
        cold = fit(with_ones(x), y, zeros, reg)
        warm = fit(with_ones(x), y, fit(with_ones(x), y, zeros, 2 * reg), reg)
        assert objective(x, y, cold, reg) == pytest.approx(best, rel=1e-4)
        assert objective(x, y, warm, reg) == pytest.approx(best, rel=1e-4)


def test_solver_ends_where_classes_are_separable_or_one_is_missing():
    x, y = torch.eye(3, dtype=torch.float64), torch.tensor([0, 1, 1])
    found = fit(with_ones(x), y, torch.zeros(4, 3, dtype=torch.float64), 1e-4)
    assert found.isfinite().all() and ((with_ones(x) @ found).argmax(1) == y).all()


def biased(n=240, width=6, seed=0):
    """Rows of 3 classes: a weak cue of the class, and a strong one that is right in group 0 and wrong in group 1.

    Three of four rows are of group 0.
    """
    generator = torch.Generator().manual_seed(seed)
    y, group = torch.arange(n) % 3, (torch.arange(n) // 3 % 4 == 3).long()
    strong = torch.where(group == 0, y, (y + 1) % 3)
    x = torch.randn(n, width, generator=generator)
    x[:, :3] += 3 * nn.functional.one_hot(strong, 3)
    x[:, 3:] += 2 * nn.functional.one_hot(y, 3)
    x = 10 * x + 5  # neither centred nor of unit size
    return Split(y, group, y * 0, torch.zeros(n, 1), lambda at: x[at])


def wide():
    return Line(6, weight=torch.zeros(3, 6))


def worst(trial, of):
    right = trial(of.raw(torch.arange(len(of)))).argmax(1) == of.y
    return min(right[of.group == g].float().mean().item() for g in of.group.unique())


def test_refit_mends_what_a_shortcut_broke():
    """A head that follows the strong cue is wrong in all of group 1; one fitted on balanced groups is not."""
    trial = learner("dfr", build=wide, groups=("a", "b", "c"))
    with torch.no_grad():
        trial.net.head.weight[:, :3] = torch.eye(3)
    assert worst(trial, biased()) < 0.2
    for stage in (0, 1):
        trial.begin(stage, Data(biased(), biased(seed=1)))
    assert worst(trial, biased(seed=2)) > 0.7


def test_standardisation_is_worked_into_the_head():
    """The scores of raw rows are those of standardised rows under the coefficients that were fitted."""
    trial, val = learner("dfr", {"reg": 0.01}, build=wide), biased(seed=1)
    trial.begin(1, Data(biased(), val))
    x = val.raw(torch.arange(len(val))).double()
    standard = (x - x.mean(0)) / x.std(0, correction=0)
    coefficients = trial._average(with_ones(standard), val.y, val.group.numpy())
    expected = with_ones(standard) @ coefficients
    assert torch.allclose(trial.net.head(x.float()).double(), expected, atol=1e-4)


def test_samples_hold_as_many_rows_of_each_group_and_are_the_seeds():
    group = np.array([0] * 50 + [2] * 7 + [3] * 20)  # nothing of group 1
    trial, other, third = learner("dfr"), learner("dfr"), learner("dfr", seed=1)
    chosen = [trial._balanced(group, f"fit/{turn}") for turn in range(40)]
    for rows_of in chosen:
        assert np.bincount(group[rows_of], minlength=4).tolist() == [7, 0, 7, 7] and len(set(rows_of)) == 21
    assert set(np.concatenate(chosen).tolist()) == set(range(77)), "all rows come in some sample"
    assert np.array_equal(chosen[0], other._balanced(group, "fit/0"))
    assert not np.array_equal(chosen[0], third._balanced(group, "fit/0"))


def test_head_is_the_mean_of_twenty_fits(monkeypatch):
    made = []

    def counted(self, x, y, chosen, strength, start):
        made.append((len(chosen), strength))
        return torch.full_like(start, float(len(made)))

    trial, val = learner("dfr", {"reg": 0.01}), biased()
    monkeypatch.setattr(type(trial), "_fit", counted)
    x = torch.zeros(len(val), 4, dtype=torch.float64)
    found = trial._average(x, val.y, val.group.numpy())
    assert FITS == 20 and made == [(120, 0.0)] * 20 and (found == 10.5).all()
    made.clear()
    trial._average(x, val.y, np.arange(len(val)) % 3)
    assert len(made) == 1, "groups that are equally large have one sample only"


@pytest.mark.parametrize(("good", "expected"), [(0.3, 0.3), (0.01, 0.01), (None, 1.0)])
def test_strength_is_the_one_with_the_best_worst_group_of_the_other_half(monkeypatch, good, expected):
    """Fits are made up: with a good C they see the class, with others a shortcut that is wrong in all of group 1.

    Of those that are equally good it is the mildest.
    """
    trial, val, chosen = learner("dfr", build=wide), biased(), []

    def made_up(self, x, y, rows_of, strength, start):
        chosen.append(rows_of)
        both = torch.eye(6, dtype=torch.float64)
        return both[:, :3] if strength == good else both[:, 3:]

    monkeypatch.setattr(type(trial), "_fit", made_up)
    shortcut = torch.where(val.group == 0, val.y, (val.y + 1) % 3)
    x = torch.cat([nn.functional.one_hot(val.y, 3), nn.functional.one_hot(shortcut, 3)], 1).double()
    assert trial._strength(x, val.y, val.group.numpy()) == expected
    assert len(chosen) == len(STRENGTHS)
    assert np.bincount(val.group[chosen[0]]).tolist() == [30, 30], "half of the smallest group, and as many of others"


def test_strength_is_given_or_chosen(monkeypatch):
    given = []
    monkeypatch.setattr("spurgen.methods.dfr.fit", lambda x, y, start, reg: given.append((len(x), reg)) or start)
    learner("dfr", {"reg": 0.3}, build=wide).begin(1, Data(biased(), biased()))
    assert given == [(120, 0.3)] * FITS
    given.clear()
    learner("dfr", build=wide).begin(1, Data(biased(), biased()))
    assert [reg for _, reg in given[:7]] == pytest.approx([1 / (c * 60) for c in reversed(STRENGTHS)])
    assert given[7:] == [(120, 1 / 120)] * FITS, "all fits are alike, so the mildest, C 1"


def test_what_it_cannot_work_with_is_an_error():
    class Curved(Line):
        def __init__(self, head):
            super().__init__()
            self.head = head

    for head in (nn.Sequential(nn.Linear(3, 3)), nn.Linear(3, 3, bias=False)):
        with pytest.raises(SpurgenError, match="a linear head with a bias"):
            learner("dfr", build=lambda head=head: Curved(head))
    for stage in (0, 1):
        with pytest.raises(SpurgenError, match="there are none; give the data a split 'val'"):
            learner("dfr").begin(stage, Data(split(), None))
    trial = learner("dfr", build=wide)
    bad = biased()
    with pytest.raises(SpurgenError, match="not finite"):
        trial.begin(1, Data(bad, Split(bad.y, bad.group, bad.y, bad.attributes, lambda at: bad.raw(at) / 0)))


def test_constant_features_are_no_nan():
    trial, val = learner("dfr", build=wide), biased()
    flat_one = Split(val.y, val.group, val.y, val.attributes, lambda at: val.raw(at) * torch.tensor([1.0] * 5 + [0]))
    trial.begin(1, Data(val, flat_one))
    assert trial.net.head.weight.isfinite().all() and not trial.net.head.weight[:, 5].any()


def test_stages_and_needs():
    assert [tuple(s) for s in learner("dfr").stages()] == [("train", 1.0), ("refit", 0.0)]
    needs = METHODS.get("dfr").needs
    assert needs.validation and not needs.groups and str(needs) == "groups of validation rows"


def test_features_are_those_of_predictions_and_do_not_change():
    trial = learner("dfr", build=Deep)
    trial.train()
    body = {name: value.clone() for name, value in trial.net.body.state_dict().items()}
    trial.begin(1, data())
    assert all(torch.equal(value, trial.net.body.state_dict()[name]) for name, value in body.items())
    assert trial.net.training and trial.net.head.weight.requires_grad


def test_gradients_reach_all_of_the_network_and_it_is_all_there_is_to_save():
    trial = learner("dfr", build=Deep)
    found = trial.loss(rows(split(), range(8)), "train")
    assert reached(trial, found.total) == {n for n, _ in trial.named_parameters()}
    assert all(name.startswith("net.") for name in trial.state_dict()), "the head that was fitted is part of it"


def test_sixty_steps_lower_the_loss_also_when_another_goes_on():
    trial, before, after = trained("dfr", build=Deep)
    assert after < before / 2 and error(trial, split()) == after
    assert same(trial, trained("dfr", build=Deep, stop=30)[0])


def test_is_fast():
    """1,500 rows of 512 features in 6 classes: 27 fits in seconds."""
    generator = torch.Generator().manual_seed(0)
    n, width, classes = 1500, 512, 6
    y = torch.randint(0, classes, (n,), generator=generator)
    group = (torch.rand(n, generator=generator) < 0.2).long()
    x = torch.randn(n, 40, generator=generator)
    x[:, :classes] += 1.5 * nn.functional.one_hot(y, classes)
    x = (x @ torch.randn(40, width, generator=generator)).relu()
    trial = learner(
        "dfr", build=lambda: Line(width, classes, torch.zeros(classes, width)), classes=tuple("abcdef"), rows=n
    )
    val = Split(y, group, y * 0, torch.zeros(n, 1), lambda at: x[at])
    started = time.process_time()
    trial.begin(1, Data(val, val))
    assert time.process_time() - started < 30
    assert worst(trial, val) > 0.5


def test_looks_at_no_value():
    assert looks_at_no_value("dfr")
