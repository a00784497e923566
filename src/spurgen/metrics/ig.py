"""Invariance Gap: what fixing the channels costs, against channels drawn at random."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import ArrayLike

from spurgen.metrics import Metric
from spurgen.metrics._bootstrap import interval_of_mean
from spurgen.metrics._inputs import Floats, by_draw, numbers, same_rows


class Gap(NamedTuple):
    """A difference of mean losses over the same rows."""

    value: float
    low: float  # 95% bootstrap interval, paired over rows
    high: float
    n: int


def ig(controlled: ArrayLike, uncontrolled: ArrayLike, seed: int = 0) -> Gap:
    """IG = E ℓ(f(x_ctrl), y) − E ℓ(f(x_unc), y), in the loss's own unit (nats for cross-entropy).

    Both take losses per row, (n,) or (draws, n), of the same rows in the same order, drawn again: `uncontrolled`
    with every channel uniform at random, `controlled` with the channels fixed. Fixed may mean three things; the
    caller feeds one at a time:

    - conflicting: every channel at an attribute that belongs to another class. The headline: shortcuts mislead
      here, so the gap is above 0 for a model that uses them, and only here does lower mean more invariant.
    - aligned: every channel at the label's own attribute. Shortcuts help here, so a model that uses them has a gap
      below 0, and 0 is best.
    - constant: one attribute per channel for all rows, whatever their label; one gap for each such assignment. Far
      from 0 on either side shows a model that heeds the channels.

    Bounds: (−∞, ∞); 0 for a model that looks at no channel. The interval is a percentile bootstrap over rows of the
    difference within each row, averaged over draws first; pairing takes out how hard the rows are.

    >>> ig([2.0, 3.0], [[1.0, 1.0], [1.0, 2.0]])[0]
    1.25
    """
    fixed, free = _mean_over_draws("controlled", controlled), _mean_over_draws("uncontrolled", uncontrolled)
    same_rows("controlled", len(fixed), "uncontrolled", len(free))
    gaps = fixed - free
    return Gap(float(gaps.mean()), *interval_of_mean(gaps, seed), len(gaps))


def _mean_over_draws(what: str, losses: ArrayLike) -> Floats:
    return by_draw(what, numbers(what, losses)).mean(axis=0)


METRIC = Metric(
    name="ig",
    about="Invariance Gap: mean loss with channels fixed (conflicting) less mean loss with channels at random",
    paper="defined in docs/design.md, section 8",
    bounds=(float("-inf"), float("inf")),
    higher_is_better=False,
    function=ig,
)
