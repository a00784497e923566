"""Numbers in sentences, and the examples in docstrings."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

import spurgen.compare
from spurgen.compare.words import Quantity, counted, listed, probability


@pytest.mark.parametrize("name", [found.name for found in pkgutil.iter_modules(spurgen.compare.__path__)])
def test_examples_in_docstrings(name: str) -> None:
    assert doctest.testmod(importlib.import_module(f"spurgen.compare.{name}")).failed == 0


def test_numbers() -> None:
    points = Quantity()
    assert points.signed(0.1234) == "+12.3 points"
    assert points.signed(-0.004) == "−0.4 points"
    assert points.signed(-0.0001) == points.signed(0.0001) == "0.0 points"
    assert points.size(-0.1) == "10.0 points"
    assert points.interval(-0.021, 0.013) == "−2.1 to 1.3"
    assert points.fine_enough(0.0002).size(0.0002) == "0.02 points"
    assert points.fine_enough(0.0).decimals == points.fine_enough(0.2).decimals == 1
    assert Quantity(unit="", scale=1, decimals=3).size(0.5) == "0.500"


def test_p_is_short() -> None:
    written = [probability(p, 0.05) for p in (0.61, 0.997, 1.0, 0.0132, 0.0021, 0.00099, 0.0)]
    assert written == ["= 0.61", "= 1", "= 1", "= 0.013", "= 0.0021", "< 0.001", "< 0.001"]
    assert probability(0.0005, 0.0001) == "= 0.0005"


@given(p=st.floats(0, 1), alpha=st.sampled_from([0.05, 0.01, 0.1, 0.0001]))
def test_p_is_written_on_its_side_of_alpha(p: float, alpha: float) -> None:
    sign, number = probability(p, alpha).split()
    assert (float(number) <= alpha if sign == "<" else float(number) < alpha) == (p < alpha)


def test_lists_and_counts() -> None:
    assert [listed(names) for names in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == ["", "a", "a and b", "a, b and c"]
    assert [counted(1, "seed"), counted(5, "seed")] == ["1 seed", "5 seeds"]
