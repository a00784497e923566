"""The distributions behind the tests, against `scipy.stats` and tables."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest
from scipy import stats

from spurgen.compare.distributions import (
    chi_square_above,
    normal_range_above,
    normal_range_quantile,
    t_quantile,
    t_two_sided,
)


@pytest.mark.parametrize("freedom", [1, 2, 4, 30])
def test_t_against_scipy(freedom: int) -> None:
    for t in (0.0, 0.3, -1.7, 4.0, 60.0):
        assert t_two_sided(t, freedom) == pytest.approx(2 * stats.t.sf(abs(t), freedom), rel=1e-8)
    for share in (0.025, 0.5, 0.975):
        assert t_quantile(share, freedom) == pytest.approx(stats.t.ppf(share, freedom), rel=1e-8, abs=1e-12)


def test_t_by_hand() -> None:
    # one degree of freedom is Cauchy's: P(|T| ≥ 1) = 1 − 2 arctan(1)/π = 1/2
    assert t_two_sided(1.0, 1) == pytest.approx(0.5)
    assert t_quantile(0.75, 1) == pytest.approx(1.0)


def test_chi_square_against_scipy() -> None:
    # two degrees of freedom are exponential: P(X ≥ x) = exp(−x/2)
    assert chi_square_above(3.0, 2) == pytest.approx(math.exp(-1.5))
    assert chi_square_above(7.3, 5) == pytest.approx(stats.chi2.sf(7.3, 5), rel=1e-8)


@pytest.mark.parametrize("count", [2, 3, 5, 10, 27])
def test_range_against_scipy(count: int) -> None:
    for width in (0.0, 0.5, 2.0, 3.5, 6.0, 40.0):
        expected = stats.studentized_range.sf(width, count, math.inf)
        assert normal_range_above(width, count) == pytest.approx(expected, abs=1e-8)
    for share in (0.9, 0.95, 0.99):
        expected = stats.studentized_range.ppf(share, count, math.inf)
        assert normal_range_quantile(share, count) == pytest.approx(expected, abs=1e-6)
        assert normal_range_above(normal_range_quantile(share, count), count) == pytest.approx(1 - share, abs=1e-8)


def test_range_of_two_is_a_normal_difference() -> None:
    # the difference of two has an SD of √2, so the width is √2 · 1.959964 = 2.771808
    assert normal_range_quantile(0.95, 2) == pytest.approx(math.sqrt(2) * 1.959963984540054, abs=1e-8)


def test_the_long_import_is_not_needed() -> None:
    code = (
        "import sys; from spurgen.compare.decide import compare; from spurgen.compare.ranks import rank;"
        "scores = {m: {s: x * s * s for s in range(5)} for m, x in (('erm', 0.1), ('irm', 0.2), ('dfr', 0.3))};"
        "compare(scores); rank(scores); print(*[m for m in sys.modules if m in ('scipy.stats', 'torch', 'pyarrow')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
