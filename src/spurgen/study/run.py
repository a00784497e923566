"""A study from its file to its results: what is not done yet is done, and nothing twice."""

from __future__ import annotations

import time
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from spurgen.errors import SpurgenError
from spurgen.store import atomic
from spurgen.study import directory as place
from spurgen.study import ledger
from spurgen.study.choice import winners
from spurgen.study.foresee import foresee
from spurgen.study.launch import LAUNCHERS, Job
from spurgen.study.plan import again, plan
from spurgen.study.results import Results, read_results
from spurgen.study.spec import StudySpec, read, text_of
from spurgen.study.trial import Trial, place_of
from spurgen.study.worlds import Variant, variants


class Progress(NamedTuple):
    """How far a study is. `left_seconds` is a guess from what the trials so far took; None before there are any."""

    done: int
    failed: int
    total: int
    left_seconds: float | None


def run_study(
    study: str | Path,
    out: str | Path | None = None,
    overrides: Iterable[str] = (),
    device: str = "auto",
    jobs: int | None = None,
    threads: int = 1,
    launcher: str = "local",
    retry: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> Results:
    """Run a study, or what is left of it.

    `study` is a preset, a file, or the directory of a study that is to go on. Trials that are done are not run again,
    those that failed only with `retry`; the same call after a kill goes on. `jobs` trials run side by side, each with
    so many `threads`.
    """
    from spurgen.train.options import resolve_device

    for name, value in (("jobs", jobs), ("threads", threads)):
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
            raise SpurgenError(f"{name} is {value!r}; it must be a whole number, 1 or more")
    how = LAUNCHERS.get(launcher)
    text, folder, directory = _source(study, out)
    asked = read(text, str(study), overrides)
    if overrides:
        from spurgen.spec.toml import write

        text = write(asked.dump())
    found = resolve_device(device)
    if found.index:
        raise SpurgenError(f"a study runs on the first GPU, not on {device}; hide the others (CUDA_VISIBLE_DEVICES)")
    where = found.type
    trials = plan(asked, folder, where)
    worlds = variants(asked, folder)
    foresee(asked, worlds, trials)
    about = {
        "id": asked.id,
        "description": asked.description,
        "device": where,
        "folder": str(folder) if folder is not None else "",
        "study": asked.dump(),
        "reference": asked.reference,
        "rule": asked.rule,
        "rules": asked.rules,
    }
    place.settle(directory, text, about)
    _keep_worlds(directory, worlds)
    place.lose(directory, trials)  # before winners are looked for among them, which must be read
    searched = {trial.key for trial in trials}
    earlier = _ends(directory)
    began, before = time.monotonic(), _settled(directory)

    def settle(wanted: list[Trial], retry: bool) -> None:
        place.write_plan(directory, wanted)
        place.lose(directory, [trial for trial in wanted if trial.key not in searched])
        told = _Teller(directory, wanted, began, before, progress)
        told()
        how.launch(Job(directory, list({t.key: t for t in wanted}.values()), where, jobs, threads, retry, told))
        told()

    settle(_with_winners(directory, asked, trials), retry)
    if asked.searches_first:
        settle(_with_winners(directory, asked, trials), retry=False)
    results = replace(read_results(directory), ran=_ends(directory) - earlier)
    results.keep()
    return results


def _with_winners(directory: Path, study: StudySpec, trials: list[Trial]) -> list[Trial]:
    """The trials, and those that follow from what a search has found so far, if it is over."""
    if not study.searches_first:
        return trials
    found = {(trial.key, place_of(trial)): trial for trial in trials}
    for best in winners(directory, study, trials):
        for trial in again(study, best):
            found[trial.key, place_of(trial)] = trial
    return list(found.values())


def _source(study: str | Path, out: str | Path | None) -> tuple[str, Path | None, Path]:
    """(TOML, the folder of its paths, the study's directory)."""
    there = Path(study)
    with atomic.looked_at(there):
        is_directory = there.is_dir()
    if is_directory:
        about = place.about_of(there)
        if out is not None and Path(out).resolve() != there.resolve():
            raise SpurgenError(f"{study} is a study's directory, which is where it goes on; leave out --out")
        text = _kept_text(there, about)
        return text, Path(about["folder"]) if about.get("folder") else None, there
    if out is None:
        raise SpurgenError("say where the study is to be kept (--out DIR)")
    text, folder = text_of(study)
    return text, folder, Path(out)


def _kept_text(there: Path, about: dict[str, Any]) -> str:
    """The file of a study as its directory keeps it; made anew from study.json where it is lost or damaged."""
    from spurgen.spec.toml import write

    try:
        text = (there / place.FILE).read_text("utf-8")
        StudySpec.from_dict(tomllib.loads(text))
        return text
    except (OSError, ValueError, SpurgenError):
        return write(about["study"])


def _keep_worlds(directory: Path, worlds: list[Variant]) -> None:
    """The specs that processes draw rows from."""
    folder = directory / place.WORLDS
    with atomic.explained(folder):
        folder.mkdir(exist_ok=True)
    for variant in worlds:
        target = folder / f"{variant.spec.digest()}.toml"
        if not target.is_file():
            place.write(target, variant.spec.to_toml().encode())


def _ends(directory: Path) -> int:
    """How many times a trial has come to an end."""
    return sum(line["event"] in ("done", "failed") for line in ledger.lines(directory))


def _settled(directory: Path) -> set[str]:
    return {key for key, entry in ledger.read(directory).items() if entry.state in ("done", "failed")}


class _Teller:
    """Tells how far the study is, whenever it is asked to; reads the ledger only where that has grown."""

    def __init__(
        self,
        directory: Path,
        trials: list[Trial],
        began: float,
        before: set[str],
        progress: Callable[[Progress], None] | None,
    ):
        self.directory = directory
        self.trials = list({trial.key: trial for trial in trials}.values())
        self.began = began
        self.before = before
        self.progress = progress
        self._size = -1

    def __call__(self) -> None:
        if self.progress is None:
            return
        path = self.directory / ledger.LEDGER
        size = path.stat().st_size if path.exists() else 0
        if size == self._size:
            return
        self._size = size
        news = ledger.read(self.directory)
        states = {t.key: news[t.key].state if t.key in news else "" for t in self.trials}
        done = sum(state == "done" for state in states.values())
        failed = sum(state == "failed" for state in states.values())
        self.progress(Progress(done, failed, len(self.trials), self._left(news, states)))

    def _left(self, news: dict[str, ledger.Entry], states: dict[str, str]) -> float | None:
        """Seconds, if the trials to come cost what those of the same method have cost so far."""
        cost: dict[str, list[float]] = {}
        for trial in self.trials:
            if states[trial.key] == "done":
                cost.setdefault(trial.method, []).append(news[trial.key].seconds)
        if not cost:
            return None
        every = [value for values in cost.values() for value in values]

        def guess(trial: Trial) -> float:
            values = cost.get(trial.method, every)
            return sum(values) / len(values)

        now = [t for t in self.trials if states[t.key] in ("done", "failed") and t.key not in self.before]
        worked = sum(guess(trial) for trial in now)
        if not worked:
            return None
        left = sum(guess(t) for t in self.trials if states[t.key] not in ("done", "failed"))
        return (time.monotonic() - self.began) * left / worked
