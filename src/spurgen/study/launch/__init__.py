"""Ways of getting trials done: one file each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from spurgen.registry import Registry
from spurgen.study.trial import Trial


@dataclass(frozen=True)
class Job:
    """Trials that are to be settled. `told` is called now and then, so that a person sees how far they are."""

    directory: Path
    trials: list[Trial]
    device: str
    jobs: int | None = None
    threads: int = 1
    retry: bool = False
    told: Callable[[], None] = lambda: None


@dataclass(frozen=True)
class Launcher:
    """A way of getting trials done: when `launch` returns, each is done or failed in the ledger."""

    name: str
    about: str
    launch: Callable[[Job], None]


LAUNCHERS: Registry[Launcher] = Registry("launcher", "spurgen.study.launch", "LAUNCHER")
