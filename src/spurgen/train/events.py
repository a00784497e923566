"""What happens during training, told to whoever listens; the loop knows no tracker."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple


class Began(NamedTuple):
    """Training starts, or goes on after `step` steps of `steps`; `about` is what the run's file says."""

    step: int
    steps: int
    about: dict[str, Any]


class Stepped(NamedTuple):
    """Some steps were taken; `values` are means over them: loss, accuracy, learning_rate."""

    step: int
    steps: int
    values: dict[str, float]


class Checked(NamedTuple):
    """Validation rows were scored; `values` are accuracy, worst_group_accuracy, loss."""

    step: int
    values: dict[str, float]


class Ended(NamedTuple):
    """Training is over; `reason` says why where it did not come to its end."""

    step: int
    reason: str = ""


Event = Began | Stepped | Checked | Ended
Subscriber = Callable[[Event], Any]


def tell(subscribers: Iterable[Subscriber], event: Event) -> None:
    """Tell everyone; a listener that fails does not stop training, but is heard of once and told no more."""
    import warnings

    for subscriber in list(subscribers):
        try:
            subscriber(event)
        except Exception as error:
            if isinstance(subscribers, list):
                subscribers.remove(subscriber)
            warnings.warn(f"a tracker failed and is told no more: {type(error).__name__}: {error}", stacklevel=2)
