import math
import time

import numpy as np
import pytest
import torch

from spurgen.errors import SpurgenError
from spurgen.learning import METHODS, Data
from spurgen.methods._mixing import beta, patches
from spurgen.methods._partners import Partners
from tests.methods.course import Deep, looks_at_no_value, reached, rows, same, trained
from tests.methods.tiny import Line, batch, data, learner, split

NAMED = ("label=mug,hue=red", "label=mug,hue=blue", "label=heart,hue=red", "label=heart,hue=blue")
EVERY = np.arange(100)


def table(y, group):
    """Training rows with these labels and groups, and nothing else."""
    y, group = torch.tensor(y), torch.tensor(group)
    one = split(1)
    return Data(type(one)(y, group, torch.zeros_like(y), torch.zeros(len(y), 2), one.raw), None)


def begun(y, group, settings=None, **changes):
    trial = learner("lisa", settings, rows=len(y), **changes)
    trial.begin(0, table(y, group))
    return trial


def test_rules_by_hand():
    """Rows 0–4 with (label, group) = (0, 0), (0, 0), (0, 1), (1, 0), (1, 1).

    Same label, other group: rows 0 and 1 can have row 2 only, row 2 has 0 or 1, 3 has 4 and 4 has 3.
    Same group, other label: 0 and 1 have 3, 2 has 4, 3 has 0 or 1, 4 has 2.
    """
    y, group = [0, 0, 0, 1, 1], [0, 0, 1, 0, 1]
    within_label, within_group = (begun(y, group, {"p_sel": p}) for p in (1, 0))
    for trial, fit in ((within_label, [{2}, {2}, {0, 1}, {4}, {3}]), (within_group, [{3}, {3}, {4}, {0, 1}, {2}])):
        drawn = [trial.partners(np.arange(5), step) for step in range(50)]
        assert [set(column) for column in np.array(drawn).T.tolist()] == fit


@pytest.mark.parametrize("p_sel", [0.0, 0.3, 1.0])
def test_partners_obey_the_rule_of_the_step_and_come_from_all_rows(p_sel):
    trial = learner("lisa", {"p_sel": p_sel})
    trial.begin(0, data())
    y, group = data().train.y.numpy(), data().train.group.numpy()
    kinds, met = [], set()
    for step in range(400):
        positions = np.arange(step % 10, 100, 10)
        other = trial.partners(positions, step)
        assert other.dtype == np.int64 and other.shape == positions.shape
        label = (y[other] == y[positions]).all() and (group[other] != group[positions]).all()
        context = (y[other] != y[positions]).all() and (group[other] == group[positions]).all()
        assert label != context, "one rule for all rows of a step"
        kinds.append(label)
        met |= set(other.tolist())
    assert met == set(range(100)), "not only rows of the batch"
    assert np.mean(kinds) == pytest.approx(p_sel, abs=0.07)


def test_every_row_that_fits_is_as_likely():
    """Row 0 of label 0, group 0; 3 rows of label 0 in group 1 and 6 in group 2: a ninth of the draws each."""
    trial = begun([0] * 10 + [1], [0] + [1] * 3 + [2] * 6 + [0], {"p_sel": 1})
    drawn = np.concatenate([trial.partners(np.zeros(100, np.int64), step) for step in range(90)])
    counts = np.bincount(drawn, minlength=11)
    assert counts[0] == 0 and counts[10] == 0
    assert (np.abs(counts[1:10] - 1000) < 5 * math.sqrt(1000)).all()


def test_a_group_that_names_the_label_is_compared_without_it():
    """In groups of label and hue, the same context and another label is another group: red heart for a red mug."""
    y, group = [0, 0, 1, 1], [0, 1, 2, 3]
    within_hue = begun(y, group, {"p_sel": 0}, groups=NAMED)
    assert within_hue.partners(np.arange(4), 0).tolist() == [2, 3, 0, 1]
    within_label = begun(y, group, {"p_sel": 1}, groups=NAMED)
    assert within_label.partners(np.arange(4), 0).tolist() == [1, 0, 3, 2]


def test_rows_without_a_partner_take_the_other_rule_and_then_themselves():
    """(0, 0), (0, 1), (1, 1), (2, 2): row 0 has no other label in its group, row 2 no other group of its label."""
    y, group = [0, 0, 1, 2], [0, 1, 1, 2]
    with pytest.warns(UserWarning, match="leaves 1 of 4 training rows unmixed"):
        trial = begun(y, group, {"p_sel": 0})
    assert trial.partners(np.arange(4), 0).tolist() == [1, 2, 1, 3]
    with pytest.warns(UserWarning, match="unmixed"):
        trial = begun(y, group, {"p_sel": 1})
    assert trial.partners(np.arange(4), 0).tolist() == [1, 0, 1, 3]


def test_no_partner_for_anyone_is_an_error():
    with pytest.raises(SpurgenError, match=r"finds no row to mix any training row with.*group by"):
        begun([0, 0, 1, 1], [0, 0, 1, 1])


def test_draws_depend_on_the_seed_and_the_step_alone():
    one, other, third = learner("lisa"), learner("lisa"), learner("lisa", seed=1)
    for trial in (one, other, third):
        trial.begin(0, data())
    one.partners(EVERY, 3)
    assert np.array_equal(one.partners(EVERY, 5), other.partners(EVERY, 5))
    assert not np.array_equal(one.partners(EVERY, 5), one.partners(EVERY, 6))
    assert any(not np.array_equal(one.partners(EVERY, s), third.partners(EVERY, s)) for s in range(3))


def test_partners_are_the_same_after_a_restart():
    one = learner("lisa")
    one.begin(0, data())
    other = learner("lisa")  # `begin` is not called again
    other.load_state_dict(one.state_dict())
    assert {"y", "context"} <= set(one.state_dict())
    assert np.array_equal(one.partners(EVERY, 9), other.partners(EVERY, 9))


def test_drawing_is_fast():
    """A million rows: the index takes a while, once; a batch of 256 takes far less than a step of training."""
    generator = np.random.default_rng(0)
    index = Partners(generator.integers(0, 10, 10**6), generator.integers(0, 32, 10**6))
    at, bits = generator.integers(0, 10**6, 256), generator.integers(0, 2**63, 256).astype(np.uint64)
    started = time.process_time()
    for _ in range(100):
        index.draw(at, True, bits)
    assert (time.process_time() - started) / 100 < 0.002


def test_mixup_by_hand():
    """Scores are the inputs. (4, 0, 0) of class 0 with (0, 4, 0) of class 1 in share s of the first, one for each row.

    Scores (4s, 4 − 4s, 0); s·(L − 4s) + (1 − s)·(L − 4 + 4s) with L = ln(e^(4s) + e^(4 − 4s) + 1).
    """
    trial = learner("lisa", {"alpha": 1})
    other = batch([[0, 4, 0]] * 2, [1, 1])
    torch.manual_seed(5)
    shares = beta(1, 2, other.inputs).tolist()
    torch.manual_seed(5)
    found = trial.loss(batch([[4, 0, 0]] * 2, [0, 0], partner=other), "train")
    tops = [math.log(math.exp(4 * s) + math.exp(4 - 4 * s) + 1) for s in shares]
    each = [s * (t - 4 * s) + (1 - s) * (t - 4 + 4 * s) for s, t in zip(shares, tops, strict=True)]
    assert shares[0] != shares[1]
    assert found.total.item() == pytest.approx(sum(each) / 2, rel=1e-5) and found.scores is None


def test_patches_are_rectangles_of_the_share_they_report():
    torch.manual_seed(0)
    wanted = torch.rand(500)
    inside, outside = patches(wanted, 8, 12)
    assert inside.shape == (500, 8, 12)
    assert torch.allclose(1 - inside.float().mean((1, 2)), outside)
    for one in inside[:50]:
        at = one.nonzero()
        if len(at):
            (top, left), (low, right) = at.min(0).values.tolist(), at.max(0).values.tolist()
            assert one.sum() == (low - top + 1) * (right - left + 1), "no holes"
    assert (outside >= wanted - 1e-6).all(), "edges and rounding make a patch smaller, never larger"
    assert len({tuple(i.any(1).nonzero().flatten().tolist()) for i in inside}) > 10, "patches lie in many places"
    assert not patches(torch.ones(3), 8, 8)[0].any()
    all_of_it, none_left = patches(torch.zeros(200), 8, 8)
    assert all_of_it.any((1, 2)).all() and none_left.min() == 0


class Pixels(Line):
    """Scores are the means of three channels."""

    def features(self, inputs):
        self.seen = inputs
        return inputs.mean((2, 3))


def test_cutmix_by_hand():
    """White in channel 0 with white in channel 1: what is left of channel 0 is the share of class 0 in the loss."""
    trial = learner("lisa", {"mixing": "cutmix"}, build=Pixels)
    mine, theirs = torch.zeros(6, 3, 8, 8), torch.zeros(6, 3, 8, 8)
    mine[:, 0], theirs[:, 1] = 1, 1
    torch.manual_seed(1)
    found = trial.loss(batch(mine, [0] * 6, partner=batch(theirs, [1] * 6)), "train")
    assert set(trial.net.seen.unique().tolist()) == {0, 1}, "pixels are taken whole"
    left = trial.net.seen[:, 0].mean((1, 2))
    scores = torch.stack([left, 1 - left, torch.zeros(6)], 1).log_softmax(1)
    expected = -(left * scores[:, 0] + (1 - left) * scores[:, 1]).mean()
    assert found.total.item() == pytest.approx(expected.item(), rel=1e-5)


def test_what_it_cannot_mix_is_an_error():
    trial = learner("lisa", {"mixing": "cutmix"})
    with pytest.raises(SpurgenError, match="for pictures only; set mixing=mixup"):
        trial.loss(batch([[1, 0, 0]], [0], partner=batch([[1, 0, 0]], [0])), "train")
    with pytest.raises(SpurgenError, match="without partners"):
        learner("lisa").loss(batch([[1, 0, 0]], [0]), "train")
    with pytest.raises(SpurgenError, match="p_sel of lisa"):
        learner("lisa", {"p_sel": 1.1})


def test_declares_what_it_needs():
    assert METHODS.get("lisa").needs.groups and METHODS.get("lisa").needs.rows


def test_gradients_reach_all_of_the_network():
    trial = learner("lisa", build=Deep)
    of = rows(split(), range(8), range(8, 16))
    assert reached(trial, trial.loss(of, "train").total) == {n for n, _ in trial.named_parameters()}


def test_sixty_steps_lower_the_loss_also_when_another_goes_on():
    trial, before, after = trained("lisa")
    assert after < before * 0.8
    assert same(trial, trained("lisa", stop=30)[0])


def test_looks_at_no_value():
    assert looks_at_no_value("lisa")
    trial = learner("lisa", {"mixing": "cutmix"}, build=Pixels).to("meta")
    pictures = [torch.zeros(6, 3, 8, 8, device="meta"), torch.zeros(6, dtype=torch.long, device="meta")]
    trial.loss(batch(*pictures, partner=batch(*pictures)), "train").total.backward()
