"""Every metric, also those to come: it describes itself, stays in its bounds and refuses what it cannot score."""

from __future__ import annotations

import dataclasses
import inspect
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from spurgen.errors import DataError
from spurgen.metrics import METRICS
from tests.metrics.drawn import Drawn, drawn

ALL = METRICS.names()
NAN, INF = float("nan"), float("inf")
FINE = [[0.9, 0.1], [0.2, 0.8]]


def required(name: str) -> list[str]:
    parameters = inspect.signature(METRICS.get(name).function).parameters.values()
    return [p.name for p in parameters if p.default is p.empty]


def arguments(name: str, given: Drawn) -> dict[str, Any]:
    """What a metric asks for, by the names that all metrics share; a metric that asks for more is tested by itself."""
    of_label = given.probabilities[np.arange(len(given.labels)), given.labels]
    known = {
        **given._asdict(),
        "train_sizes": dict.fromkeys(given.names, 7),
        "before": of_label,
        "after": np.array([1 - of_label, of_label]),
        "controlled": 3 * of_label,
        "uncontrolled": np.array([1 - of_label, of_label]),
    }
    if not set(required(name)) <= set(known):
        pytest.skip(f"{name} asks for {required(name)}")
    return {key: known[key] for key in required(name)}


def main_numbers(result: Any) -> list[float]:
    """The score itself: a number, an array, or what a tuple calls value or accuracy."""
    if isinstance(result, list):
        return [number for part in result for number in main_numbers(part)]
    if isinstance(result, tuple):
        return [next(getattr(result, word) for word in ("value", "accuracy") if hasattr(result, word))]
    return np.ravel(result).tolist()


def test_there_are_metrics() -> None:
    assert {"accuracy", "worst_group_accuracy", "sss", "ig"} <= set(ALL)
    assert not [name for name in ALL if name.startswith("_")]


@pytest.mark.parametrize("name", ALL)
def test_metrics_are_described(name: str) -> None:
    metric = METRICS.get(name)
    assert metric.name == name
    assert metric.about and not metric.about.endswith(".")
    low, high = metric.bounds
    assert low < high
    assert metric.higher_is_better in (True, False, None)
    assert metric.function.__name__ == name
    assert metric.function.__module__.split(".")[-1] == name
    assert "Bounds" in (metric.function.__doc__ or ""), "the docstring says what values there can be"
    with pytest.raises(dataclasses.FrozenInstanceError):
        metric.name = "other"  # type: ignore[misc]


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=20, deadline=None)
@given(data=drawn())
def test_scores_stay_in_their_bounds(name: str, data: Drawn) -> None:
    metric = METRICS.get(name)
    numbers = main_numbers(metric.function(**arguments(name, data)))
    low, high = metric.bounds
    assert numbers
    assert all(low <= number <= high or math.isnan(number) for number in numbers)


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=10, deadline=None)
@given(data=drawn())
def test_what_goes_in_stays_as_it_was(name: str, data: Drawn) -> None:
    given_to = arguments(name, data)
    copies = {key: np.copy(value) for key, value in given_to.items() if isinstance(value, np.ndarray)}
    first = METRICS.get(name).function(**given_to)
    assert all((given_to[key] == value).all() for key, value in copies.items())
    np.testing.assert_equal(METRICS.get(name).function(**given_to), first)  # pure: the same again


BAD = {
    "no rows": (np.zeros((0, 2)), [], "hold no rows"),
    "no classes": (np.zeros((2, 0)), [0, 0], "hold no rows"),
    "not a table": ([0.5, 0.5], [0, 1], "one row per example"),
    "ragged": ([[1.0], [0.5, 0.5]], [0, 1], "plain table of numbers"),
    "text": ([["a", "b"]], [0], "give real numbers"),
    "nan": ([[0.9, 0.1], [NAN, 0.8]], [0, 1], "hold nan at position 1, 0"),
    "infinite": ([[0.9, 0.1], [0.2, INF]], [0, 1], "hold inf at position 1, 1"),
    "negative": ([[1.1, -0.1], [0.2, 0.8]], [0, 1], "from 0 to 1"),
    "logits": ([[0.9, 0.1], [0.7, 0.8]], [0, 1], "row 1 add up to 1.5, not to 1"),
    "half of them": ([[0.9, 0.1], [0.4, 0.1]], [0, 1], "row 1 add up to 0.5, not to 1"),
    "too few labels": (FINE, [0], "there are 2 rows"),
    "labels in a table": (FINE, [[0], [1]], "there are 2 rows"),
    "labels as text": (FINE, ["cat", "dog"], "give whole numbers"),
    "labels as fractions": (FINE, [0.0, 1.0], "give whole numbers"),
    "label too high": (FINE, [0, 2], "hold 2 in row 1, but there are 2 classes"),
    "label too low": (FINE, [-1, 0], "hold -1 in row 0"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("name", [n for n in ALL if {"probabilities", "labels"} <= set(required(n))])
def test_bad_predictions_are_one_clear_sentence(name: str, case: str) -> None:
    probabilities, labels, message = BAD[case]
    fine = arguments(name, Drawn(np.array(FINE), np.array([0, 1]), np.array([0, 1]), ["a", "b"]))
    with pytest.raises(DataError, match=message) as caught:
        METRICS.get(name).function(**{**fine, "probabilities": probabilities, "labels": labels})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", [n for n in ALL if {"groups", "names"} <= set(required(n))])
@pytest.mark.parametrize(
    ("groups", "names", "message"),
    [
        ([0], ["a", "b"], "there are 2 rows"),
        ([0, 2], ["a", "b"], "hold 2 in row 1, but there are 2 names"),
        ([0, -1], ["a", "b"], "hold -1 in row 1"),
        ([0.0, 1.0], ["a", "b"], "give whole numbers"),
        ([0, 1], ["a", "a"], "two groups are called 'a'"),
    ],
)
def test_bad_groups_are_one_clear_sentence(name: str, groups: list[int], names: list[str], message: str) -> None:
    fine = arguments(name, Drawn(np.array(FINE), np.array([0, 1]), np.array([0, 1]), ["a", "b"]))
    with pytest.raises(DataError, match=message):
        METRICS.get(name).function(**{**fine, "groups": groups, "names": names})


@pytest.mark.parametrize("name", [n for n in ALL if {"probabilities", "labels"} <= set(required(n))])
def test_float32_is_scored_as_float64(name: str) -> None:
    # exact in both: quarters
    given_to = arguments(
        name, Drawn(np.array([[0.75, 0.25], [0.5, 0.5]]), np.array([0, 1]), np.array([0, 1]), ["a", "b"])
    )
    single = {**given_to, "probabilities": given_to["probabilities"].astype(np.float32)}
    np.testing.assert_equal(METRICS.get(name).function(**single), METRICS.get(name).function(**given_to))
