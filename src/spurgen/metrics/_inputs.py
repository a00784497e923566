"""Turns what metrics are given into float64 and positions, or says in one sentence what is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spurgen.errors import DataError

Floats = NDArray[np.float64]
Positions = NDArray[np.int64]
Truths = NDArray[np.bool_]

ROUNDING = 1e-3  # a softmax in half precision adds up to 1 within this; logits and unnormalised scores do not


class Predictions(NamedTuple):
    """What a model said of each row, and what was right."""

    probabilities: Floats  # (n, K)
    labels: Positions  # (n,)

    @property
    def chosen(self) -> Positions:
        """The most probable class of each row; of several that tie, the first."""
        return np.argmax(self.probabilities, axis=1)

    @property
    def hits(self) -> Truths:
        """Whether the most probable class is the label."""
        return self.chosen == self.labels


def predictions(probabilities: ArrayLike, labels: ArrayLike) -> Predictions:
    """Probabilities (n, K) of which each row adds up to 1, and labels (n,) that are positions of classes."""
    found = shares("probabilities", probabilities)
    if found.ndim != 2:
        raise DataError(f"probabilities have shape {found.shape}; give one row per example and one column per class")
    totals = found.sum(axis=1)
    astray = np.flatnonzero(np.abs(totals - 1) > ROUNDING)
    if astray.size:
        row = astray[0]
        raise DataError(f"probabilities of row {row} add up to {totals[row]:.6g}, not to 1; give the model's softmax")
    return Predictions(found, positions("labels", labels, len(found), found.shape[1], "classes"))


def group_codes(groups: ArrayLike, names: Sequence[str], rows: int) -> Positions:
    """For each row the position of its group in `names`."""
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise DataError(f"two groups are called {twice!r}; give every group a name of its own")
    return positions("groups", groups, rows, len(names), "names")


def positions(what: str, values: ArrayLike, rows: int, count: int, of: str) -> Positions:
    """One whole number from 0 to count − 1 for each row."""
    found = _array(what, values)
    if found.shape != (rows,):
        raise DataError(f"{what} have shape {found.shape}, but there are {rows} rows; give one whole number per row")
    if found.dtype.kind not in "iu":
        raise DataError(f"{what} are of type {found.dtype}; give whole numbers")
    outside = np.flatnonzero((found < 0) | (found >= count))
    if outside.size:
        row = outside[0]
        raise DataError(f"{what} hold {found[row]} in row {row}, but there are {count} {of}, counted from 0")
    return found.astype(np.int64)


def shares(what: str, values: ArrayLike) -> Floats:
    """Numbers from 0 to 1; what rounding has put above 1 becomes 1."""
    found = numbers(what, values)
    outside = np.argwhere((found < 0) | (found > 1 + ROUNDING))
    if outside.size:
        place = tuple(outside[0].tolist())
        raise DataError(f"{what} hold {found[place]:.6g} at {_spoken(place)}; give probabilities from 0 to 1")
    return np.minimum(found, 1)


def numbers(what: str, values: ArrayLike) -> Floats:
    """At least one real number, all of them finite, as float64."""
    given = _array(what, values)
    if given.size == 0:
        raise DataError(f"{what} hold no rows; a score needs at least one")
    if given.dtype.kind not in "fiub":
        raise DataError(f"{what} are of type {given.dtype}; give real numbers")
    found = given.astype(np.float64)
    lost = np.argwhere(~np.isfinite(found))
    if lost.size:
        place = tuple(lost[0].tolist())
        raise DataError(f"{what} hold {found[place]} at {_spoken(place)}; a score needs finite numbers")
    return found


def truths(what: str, values: ArrayLike, shape: tuple[int, ...]) -> Truths:
    """True or false for each of (draws, n); whole numbers would pick rows by position instead, and are refused."""
    found = np.atleast_2d(_array(what, values))
    if found.shape != shape or found.dtype != np.bool_:
        raise DataError(f"{what} is {found.dtype} of shape {found.shape}; give true or false in shape {shape}")
    return found


def by_draw(what: str, values: Floats) -> Floats:
    """Numbers (draws, n); those of a single draw may come as (n,)."""
    if values.ndim not in (1, 2):
        raise DataError(f"{what} have shape {values.shape}; give (draws, rows)")
    return np.atleast_2d(values)


def same_rows(first: str, n: int, second: str, m: int) -> None:
    """Both arrays must speak of the same rows."""
    if n != m:
        raise DataError(f"{first} has {n} rows and {second} has {m}; give the same rows to both")


def _array(what: str, values: ArrayLike) -> NDArray[Any]:
    try:
        return np.asarray(values)
    except ValueError as error:  # lists of different lengths
        raise DataError(f"{what} cannot be made into one array ({error}); give a plain table of numbers") from None


def _spoken(place: tuple[int, ...]) -> str:
    return f"position {', '.join(map(str, place))}"
