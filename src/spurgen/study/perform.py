"""One trial from beginning to end: its rows, training, scores, and a line in the ledger."""

from __future__ import annotations

import errno
import json
import math
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spurgen.errors import Busy, SpurgenError
from spurgen.store import atomic, lock, reader
from spurgen.study import directory as place
from spurgen.study import ledger
from spurgen.study.trial import Trial
from spurgen.study.worlds import TEST, TRAIN, VAL
from spurgen.train.turns import Turns, done

if TYPE_CHECKING:
    from spurgen.load.rows import Rows
    from spurgen.spec import World
    from spurgen.store.reader import Dataset
    from spurgen.train.events import Subscriber

_WHOLE: set[Path] = set()  # datasets that this process has seen to be whole
MOST_WATCHED = 4000  # fresh rows that a trial is watched by
_OTHER_ROWS = 1 << 40  # added to the seed of data: rows that no trial learns from


def claim(directory: Path, trial: Trial, retry: bool, subscribers: Sequence[Subscriber] = ()) -> str:
    """Perform a trial unless somebody has, or is at it: "done", "failed", "held" by another, or "was" settled."""
    return done(claiming(directory, trial, retry, subscribers, turns=False))


def claiming(
    directory: Path, trial: Trial, retry: bool, subscribers: Sequence[Subscriber] = (), turns: bool = True
) -> Turns[str]:
    """The same, as a generator that others may take turns with."""
    folder = place.trial_folder(directory, trial.key)
    try:
        with lock.held(folder):
            entry = ledger.read(directory).get(trial.key)  # read after the lock was had: no news can be missed
            if entry is not None and (entry.state == "done" or (entry.state == "failed" and not retry)):
                return "was"
            atomic.write(folder / "trial.json", (json.dumps(trial.as_dict(), indent=1) + "\n").encode())
            if entry is not None and entry.state == "lost":
                shutil.rmtree(folder / "run", ignore_errors=True)  # what is left of it cannot be trusted
                shutil.rmtree(folder / "scores", ignore_errors=True)
            ledger.append(directory, trial.key, "started")
            try:
                seconds, row = yield from performing(directory, trial, subscribers, turns)
            except Exception as error:
                _refuse_to_go_on(error)
                ledger.append(directory, trial.key, "failed", reason=_reason(error))
                return "failed"
            ledger.append(directory, trial.key, "done", seconds=seconds, row=row, files=place.digests(folder))
            return "done"
    except Busy:
        return "held"


def _refuse_to_go_on(error: Exception) -> None:
    """A full disk, and some errors of a GPU, outlast the trial that met them: all that came after would fail too."""
    from torch.cuda import OutOfMemoryError

    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
            raise SpurgenError(_reason(error)) from error
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, RuntimeError) and not isinstance(error, OutOfMemoryError) and "CUDA error" in str(error):
        raise SpurgenError(
            f"the GPU is in a state that no trial survives ({_reason(error)}); give the same command again"
        ) from error


def _reason(error: BaseException) -> str:
    """What went wrong, in one sentence; what is not SpurGen's own says what it is."""
    first = (str(error).splitlines() or [""])[0]
    return first if isinstance(error, SpurgenError) else f"{type(error).__name__}: {first}"


def performing(
    directory: Path, trial: Trial, subscribers: Sequence[Subscriber], turns: bool
) -> Turns[tuple[float, dict[str, Any]]]:
    """(seconds of training, the scores as a flat row)."""
    from spurgen.evaluate.interventions import Plan
    from spurgen.evaluate.score import as_row
    from spurgen.evaluate.strips import write_strips
    from spurgen.evaluate.verb import evaluate
    from spurgen.train.directory import WEIGHTS
    from spurgen.train.run import training

    dataset = prepare(directory, trial)
    folder = place.trial_folder(directory, trial.key)
    start = started_from(directory, trial, dataset.spec) if trial.start == "pretrained" else None
    run = yield from training(
        dataset, trial.method, trial.model, folder / "run", trial.seed, trial.settings,
        {name: trial.options[name] for name in trial.asked}, trial.device, group_by=trial.learns_by,
        subscribers=subscribers, force=True, watch=watched(trial, dataset), start=start, turns=turns,
    )  # fmt: skip
    plan = Plan(draws=trial.draws)
    scores = evaluate(run, dataset, split=TEST, plan=plan, group_by=trial.group_by, out=folder / "scores")
    write_strips(run, dataset, folder / "scores", TEST)
    if not trial.keep_weights:
        (folder / "run" / WEIGHTS).unlink(missing_ok=True)
    row = {k: v for k, v in as_row(scores, {}).items() if not isinstance(v, float) or math.isfinite(v)}
    return float(run.about["seconds"]), row


def started_from(directory: Path, trial: Trial, spec: World) -> Path:
    """The start of a trial, made if it is not there yet; whoever else is making it is waited for."""
    from spurgen.spec.world import size_px
    from spurgen.train.pretrain import pretrain

    assert trial.pretrain is not None
    target = place.start_folder(directory, trial, size_px(spec))
    while True:
        try:
            pretrain(trial.model, target, size_px=size_px(spec), device=trial.device, **trial.pretrain)
            return target
        except Busy:
            time.sleep(0.5)


def watched(trial: Trial, dataset: Dataset) -> dict[str, Rows]:
    """Rows that are scored at every check: the test rows, and fresh ones that nobody learns from.

    "training" are like the training rows. A method that learns from validation rows, or is told other groups than those
    that scores are about, is chosen by fresh ones like them, "validation".
    """
    from spurgen.learning import METHODS
    from spurgen.load.rows import open_rows
    from spurgen.train.encode import find_model

    modality: Any = tuple(find_model(trial.model).modality.split("+"))
    modality = modality[0] if len(modality) == 1 else modality
    found = {
        "test": open_rows(dataset, TEST, modality, target="label", group_by=trial.group_by),
        "training": _fresh(trial, dataset.spec, TRAIN, modality),
    }
    judged = METHODS.get(trial.method).needs.validation or trial.learns_by != trial.group_by
    if judged and VAL in dataset.spec.splits:
        found["validation"] = _fresh(trial, dataset.spec, VAL, modality)
    return found


def _fresh(trial: Trial, spec: World, split: str, modality: Any) -> Rows:
    """Rows of a split's own distribution with another seed."""
    from spurgen.latents.sample import Plan
    from spurgen.load.rows import Rows

    plan = Plan(spec, trial.rows, trial.data_seed + _OTHER_ROWS)
    like = plan.splits[VAL if VAL in plan.splits else TEST]
    table = plan.table(plan.row_ids(split, 0, min(like, MOST_WATCHED)))
    return Rows(spec, table, None, modality, group_by=trial.group_by, annotated=True)


def prepare(directory: Path, trial: Trial) -> Dataset:
    """The dataset of a trial, drawn if it is not there yet; whoever else is drawing it is waited for."""
    from spurgen.spec import World
    from spurgen.store.writer import build

    target = directory / place.DATA / trial.data
    while target.resolve() not in _WHOLE:
        spec = World.from_toml((directory / place.WORLDS / f"{trial.spec_digest}.toml").read_text("utf-8"))
        try:
            build(spec, target, rows=trial.rows, seed=trial.data_seed)  # finishes what was killed, mends the rest
            _WHOLE.add(target.resolve())
        except Busy:
            time.sleep(0.5)
    return reader.open(target)
