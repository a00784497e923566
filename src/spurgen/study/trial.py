"""A trial as plain data: one training and scoring, and the key of all that determines it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

from spurgen.errors import DataError
from spurgen.version import __version__

FORMAT = 1  # changes whenever a trial of the same key would be measured in another way


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One training and scoring.

    `data` is the folder of its dataset, `config` the words that tell its settings from those of its siblings, `asked`
    the options that the study gives (the others have their defaults). Scores are about the groups of `group_by`, the
    method is told those of `learns_by`. `phase` is "search" for one that is only chosen
    by, "final" for one that counts.
    """

    world: str
    ablation: str
    variant: str
    spec_id: str
    spec_digest: str
    data: str
    data_seed: int
    rows: int
    method: str
    settings: dict[str, Any]
    config: str
    model: str
    model_digest: str
    start: str
    pretrain: dict[str, Any] | None
    options: dict[str, Any]
    asked: list[str]
    seed: int
    device: str
    group_by: list[str] | None
    learns_by: list[str] | None
    draws: int
    phase: str
    keep_weights: bool = True
    key: str = ""
    format: int = FORMAT
    spurgen: str = __version__

    def keyed(self) -> Trial:
        """The same with its key: a hash of everything but what it is called and what it is for."""
        told = {name: value for name, value in asdict(self).items() if name not in _NAMES}
        key = hashlib.blake2b(json.dumps(told, sort_keys=True).encode(), digest_size=16).hexdigest()
        return replace(self, key=key)

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

    @property
    def words(self) -> str:
        """The trial in a few words."""
        where = f"{self.world}{f' {self.variant}' if self.variant else ''}"
        start = "" if self.start == "nothing" else f" from {self.start}"
        return (
            f"{self.method}{f' ({self.config})' if self.config else ''}, {self.model}{start}, {where}, seed {self.seed}"
        )


_NAMES = ("key", "world", "ablation", "variant", "config", "phase", "asked", "data", "keep_weights")


def trial_from(told: Any, where: str) -> Trial:
    """A trial from plain data, as a study's directory keeps it."""
    try:
        return Trial(**told)
    except TypeError:
        raise DataError(f"{where} is of another version of SpurGen, or damaged; run the study again") from None


class Place(NamedTuple):
    """Where methods are compared: a world or a variant of it, a model, and what that starts from."""

    world: str
    ablation: str
    variant: str
    model: str
    start: str

    @property
    def words(self) -> str:
        """The place in a few words."""
        start = "" if self.start == "nothing" else f" from {self.start}"
        return f"{self.world}{f' {self.variant}' if self.variant else ''}, {self.model}{start}"


def place_of(trial: Trial) -> Place:
    """Where a trial belongs."""
    return Place(trial.world, trial.ablation, trial.variant, trial.model, trial.start)
