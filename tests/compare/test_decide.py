"""Decisions and their sentences: by hand, against other people's tests, and where nothing can be decided."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from spurgen.compare.decide import Comparison, compare
from spurgen.errors import SpurgenError

NAN = math.nan
ERM = [0.40, 0.42, 0.41, 0.39, 0.43]


def over_seeds(*values: float) -> dict[int, float]:
    return dict(enumerate(values))


def only(*values: float, erm: list[float] = ERM, **options: object) -> Comparison:
    scores = {"erm": over_seeds(*erm), "irm": over_seeds(*values)}
    return compare(scores, **options)[0]  # type: ignore[arg-type]


def test_by_hand() -> None:
    # differences .10 .12 .11 .13 .14: mean .12, deviations −.02 0 −.01 .01 .02, squares .001, SD √(.001/4) = .015811
    found = only(0.50, 0.54, 0.52, 0.52, 0.57)
    assert found.n == 5 and found.dropped == ()
    assert (found.mean, found.reference_mean, found.difference) == pytest.approx((0.53, 0.41, 0.12))
    assert (found.difference_sd, found.reference_sd) == pytest.approx((0.0158114, 0.0158114), abs=1e-6)
    # error .015811/√5 = .0070711: t = 16.97; t* = 2.77645: .12 ± .019632
    assert found.t == pytest.approx(16.9706, abs=1e-4)
    assert (found.low, found.high) == pytest.approx((0.100368, 0.139632), abs=1e-6)
    # d_z = .12/.015811 = 7.5895; J(4) = √(2/π) = .79788; g_z = 6.0555
    assert (found.cohens_dz, found.effect_size) == pytest.approx((7.5895, 6.0555), abs=1e-4)
    assert (found.permutation_p, found.least_permutation_p) == (0.0625, 0.0625)
    assert found.low < found.bootstrap_low < found.difference < found.bootstrap_high < found.high
    assert found.decided and found.better is True
    assert found.sentence == (
        "irm raises worst-group accuracy by 12.0 points over erm (5 seeds, 95% interval 10.0 to 14.0, p < 0.001)."
    )
    assert found.permutation_sentence == (
        "Sign-flip permutation test: p = 0.0625 (with 5 seeds at least 0.0625; to fall below 0.05 it needs 6 seeds)."
    )


def test_a_loss_is_said_as_a_size() -> None:
    found = only(0.30, 0.30, 0.30, 0.26, 0.29)
    assert found.decided and found.better is False
    # differences −.10 −.12 −.11 −.13 −.14, the same numbers with another sign
    assert (found.low, found.high) == pytest.approx((-0.139632, -0.100368), abs=1e-6)
    assert found.sentence == (
        "irm lowers worst-group accuracy by 12.0 points compared with erm "
        "(5 seeds, 95% interval 10.0 to 14.0, p < 0.001)."
    )


def test_nothing_decided() -> None:
    found = only(0.41, 0.40, 0.42, 0.38, 0.43)
    # differences .01 −.02 .01 −.01 0: mean −.002, SD √(.00068/4) = .013038, error .0058310, t = −.34300
    assert found.t == pytest.approx(-0.0020 / 0.0058310, abs=1e-4)
    assert not found.decided and found.better is None
    assert found.sentence == (
        "No decisive difference between irm and erm: −0.2 points of worst-group accuracy "
        "(5 seeds, 95% interval −1.8 to 1.4, p = 0.75)."
    )


def test_where_lower_is_better() -> None:
    found = only(
        0.3, 0.3, 0.3, 0.26, 0.29, higher_is_better=False, what="the Invariance Gap", unit="nats", scale=1, decimals=2
    )
    assert found.better is True
    assert found.sentence.startswith("irm lowers the Invariance Gap by 0.12 nats compared with erm, which is better (")
    worse = only(0.50, 0.54, 0.52, 0.52, 0.57, higher_is_better=False, unit="")
    assert worse.better is False
    assert "by 12.0 over erm, which is worse (" in worse.sentence


def test_one_seed_decides_nothing() -> None:
    found = compare({"erm": {3: 0.4}, "irm": {3: 0.523}, "dfr": {3: 0.3}, "jtt": {3: 0.4}})
    assert [c.sentence for c in found] == [
        "One seed decides nothing: irm is 12.3 points above erm in worst-group accuracy with seed 3.",
        "One seed decides nothing: dfr is 10.0 points below erm in worst-group accuracy with seed 3.",
        "One seed decides nothing: jtt and erm have the same worst-group accuracy with seed 3.",
    ]
    assert not any(c.decided for c in found)
    assert all(math.isnan(c.p_holm) and math.isnan(c.low) and math.isnan(c.bootstrap_low) for c in found)
    assert found[0].permutation_p == 1
    assert found[0].permutation_sentence == "The sign-flip permutation test needs at least two seeds."


def test_seeds_are_paired_and_the_others_named() -> None:
    found = compare({"erm": {0: 0.4, 1: 0.4, 2: 0.41, 3: NAN}, "irm": {2: 0.52, 1: 0.5, 0: 0.51, 3: 0.9, 8: 0.9}})[0]
    assert (found.n, found.dropped) == (3, (3, 8))
    assert found.mean == pytest.approx(0.51)
    assert "(3 of 5 seeds, " in found.sentence
    none = compare({"erm": {0: 0.4}, "irm": {1: 0.4}})[0]
    assert none.sentence == "Nothing to compare: irm and erm have no seed in common."
    assert none.n == 0 and math.isnan(none.mean) and not none.decided


def test_without_spread() -> None:
    same = only(*ERM)
    assert same.p == 1 and not same.decided
    assert (
        same.sentence
        == "No decisive difference between irm and erm: worst-group accuracy is the same in each of 5 seeds."
    )
    five = only(*[x + 0.1 for x in ERM])
    assert five.p == 0.0625 and not five.decided
    assert five.sentence == (
        "No decisive difference between irm and erm: +10.0 points of worst-group accuracy in each of 5 seeds alike, "
        "but without any spread only signs can be counted (p = 0.0625)."
    )
    six = only(*[0.9] * 6, erm=[0.5] * 6)
    assert six.p == 2 / 2**6 and six.decided and six.better
    assert six.sentence == (
        "irm raises worst-group accuracy by 40.0 points over erm, in each of 6 seeds alike "
        "(p = 0.0312, by flipping signs)."
    )


def test_a_correction_that_undoes_a_decision_is_shown() -> None:
    scores = {"erm": over_seeds(*ERM), "irm": over_seeds(0.44, 0.44, 0.42, 0.43, 0.45)}
    alone = compare(scores)[0]
    assert alone.decided
    scores |= {f"other {i}": over_seeds(0.41, 0.40, 0.42, 0.38, 0.43) for i in range(4)}
    among = compare(scores)[0]
    assert among.p == alone.p and among.p_holm == pytest.approx(5 * alone.p) and not among.decided
    # differences .04 .02 .01 .04 .02: mean .026, SD √(.00072/4) = .013416, t = 4.3333, p = .0123, five times .062
    assert among.sentence.endswith("p = 0.062 after Holm's correction for 5 comparisons, 0.012 before).")


def test_a_small_change_is_not_written_as_none() -> None:
    found = only(0.40021, 0.42020, 0.41019, 0.39020, 0.43020)
    assert found.decided
    # .02 points; its interval with as many decimals: SD .0000071, error .0000032, 2.776 errors are .00088 points
    assert "by 0.02 points over erm (5 seeds, 95% interval 0.02 to 0.02, p < 0.001)" in found.sentence
    assert "is 0.02 points above" in compare({"erm": {0: 0.4}, "irm": {0: 0.4002}})[0].sentence
    assert ": 0.0 points of" in only(0.4003, 0.4202, 0.4099, 0.3897, 0.43).sentence  # nothing decided


@settings(max_examples=15, deadline=None)  # statsmodels collects all garbage at every call
@given(seed=st.integers(0, 10**6), n=st.integers(2, 9), methods=st.integers(1, 6))
def test_against_other_peoples_tests(seed: int, n: int, methods: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(0.5, 0.1, (methods + 1, n)) + rng.normal(0, 0.1, n)
    names = ["erm", *(f"method {i}" for i in range(methods))]
    found = compare({name: over_seeds(*row) for name, row in zip(names, values.tolist(), strict=True)})
    oracle = [stats.ttest_rel(row, values[0]) for row in values[1:]]
    assert [c.method for c in found] == names[1:]
    assert [c.t for c in found] == pytest.approx([o.statistic for o in oracle], rel=1e-8)
    assert [c.p for c in found] == pytest.approx([o.pvalue for o in oracle], rel=1e-8)
    corrected = multipletests([o.pvalue for o in oracle], method="holm")
    assert [c.p_holm for c in found] == pytest.approx(corrected[1], rel=1e-8)
    assert [c.decided for c in found] == corrected[0].tolist()


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 8))
def test_exchanging_the_two_changes_signs_only(seed: int, n: int) -> None:
    first, second = np.random.default_rng(seed).normal(0.5, 0.1, (2, n)).tolist()
    there = compare({"a": over_seeds(*first), "b": over_seeds(*second)}, reference="b")[0]
    back = compare({"a": over_seeds(*first), "b": over_seeds(*second)}, reference="a")[0]
    assert (there.difference, there.t, there.low) == pytest.approx((-back.difference, -back.t, -back.high))
    assert (there.p, there.permutation_p) == pytest.approx((back.p, back.permutation_p))
    # whoever raises higher-is-better is better; the one whom it is compared with is worse
    assert there.decided == back.decided and (not there.decided or there.better is not back.better)


def test_plain_data() -> None:
    data = compare({"erm": {0: 0.4}, "irm": {0: 0.5, 1: 0.3}})[0].as_dict()
    assert data["p_holm"] is None and data["dropped"] == [1]
    assert json.loads(json.dumps(data, allow_nan=False)) == data


def test_mistakes_are_one_sentence() -> None:
    with pytest.raises(SpurgenError, match="no method 'erm' in what is compared; did you mean 'ermm'"):
        compare({"ermm": {0: 1.0}})
    with pytest.raises(SpurgenError, match="alpha is 5;"):
        compare({"erm": {0: 1.0}}, alpha=5)
    assert compare({"erm": {0: 1.0}}) == []
