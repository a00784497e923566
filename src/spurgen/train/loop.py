"""The course of a trial: stage after stage, step after step, with checks, notes and checkpoints on the way."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from spurgen import seeds
from spurgen.errors import SpurgenError
from spurgen.learning import Learner, Sampling, Split
from spurgen.train import checkpoint, events, optimiser
from spurgen.train.checkpoint import Place
from spurgen.train.options import Options, autocast, rate_at, stage_steps
from spurgen.train.sampling import Sampler, sampler
from spurgen.train.source import Source, Stored
from spurgen.train.step import Stepper
from spurgen.train.turns import Own, Turns, done

_READ = 50  # steps between two looks at the notes: a number that is none is found so soon
_SAVE_SECONDS = 30.0
WATCHED = 4  # what `score` says before each group's accuracy; as much is noted of rows that are only watched


class Diverged(SpurgenError):
    """A loss that is no number any more."""


class Outcome(NamedTuple):
    """What a trial ends with. `records` has a row per step, `checks` one per check; the columns are named in `run`."""

    records: NDArray[np.float32]
    checks: NDArray[np.float64]
    place: Place


class Trainer:
    """Trains a learner on a source. With a `path`, it goes on from the checkpoint there that has the same key."""

    def __init__(
        self,
        learner: Learner,
        source: Source,
        options: Options,
        steps: int,
        score: Callable[[Tensor, Split], list[float]] | None = None,
        path: Path | None = None,
        key: str = "",
        subscribers: list[events.Subscriber] | None = None,
        graphs: bool = False,
        rate: float = 1e-3,
        watch: Mapping[str, Split] | None = None,
    ):
        self.learner = learner
        self.source = source
        self.options = options
        self.device = source.device
        self.stages = learner.stages()
        self.steps = stage_steps([stage.share for stage in self.stages], steps)
        self.total = sum(self.steps)
        self.score = score
        self.path = path
        self.key = key
        self.subscribers = subscribers if subscribers is not None else []
        self.graphs = graphs
        self.rate = rate
        self.watch = dict(watch or {})  # rows that are scored at every check, and never learnt or chosen from
        self.stream: Any = None  # where steps are captured and replayed; None: where torch is
        self.place = Place()
        self.records: list[Tensor] = []
        self.checks: list[Tensor] = []
        self.best: dict[str, Tensor] = {}
        self._restored: dict[str, dict[str, Tensor]] = {}
        self._started = self._saved = time.monotonic()
        self._cost = 0.0  # seconds that the last checkpoint took

    def run(self, about: dict[str, Any] | None = None) -> Outcome:
        """Take all steps that are left. Torch's own random numbers are used, and put back afterwards."""
        return done(self.course(about, turns=False))

    def course(self, about: dict[str, Any] | None = None, turns: bool = True) -> Turns[Outcome]:
        """The same, with a stop after every step for `turns`, in which others may use torch as if nobody else did."""
        own = Own(self.device, turns)
        self.stream = own.stream
        own.enter()
        try:
            torch.manual_seed(int(seeds.key(self.learner.task.seed, "train/torch")[0] >> np.uint64(1)))
            self._resume()
            events.tell(self.subscribers, events.Began(self.place.taken, self.total, about or {}))
            while self.place.stage < len(self.stages):
                for _ in self._stage(self.place.stage):
                    if turns:
                        own.leave()
                        yield
                        own.enter()
                self.place.stage += 1
                self.place.step, self.place.begun = 0, False
            if self.best:
                self.learner.load_state_dict(self.best)
            self.learner.eval()
        finally:
            own.end()
        events.tell(self.subscribers, events.Ended(self.place.taken))
        self.place.seconds += time.monotonic() - self._started
        return Outcome(_stacked(self.records), _stacked(self.checks), self.place)

    # --------------------------------------------------------------------------------------------------- stages

    def _stage(self, stage: int) -> Iterator[None]:
        """All steps of a stage that are left, a stop after each."""
        steps = self.steps[stage]
        if not self.place.begun:
            self.learner.eval()
            self.learner.begin(stage, self.source.data)
            self.place.begun = True
        if not steps:
            self._look(stage, [])  # what was fitted on validation rows is not to be scored on them
            return
        stepper = Stepper(self.learner, stage, self.options, self.source, self.graphs, _READ, self.stream)
        self._restore_optimiser(stepper)
        how = self.learner.sampling(stage)
        rows = self._sampler(how, stage)
        every = max(1, -(-steps // self.options.checks))
        try:
            while self.place.step < steps:
                self._take(stepper, stage, steps, rows)
                done = self.place.step == steps
                checked = self.place.step % every == 0 or done
                if stepper.noted == _READ or checked:
                    self._read(stepper, steps)
                if checked:
                    self._check(stage)
                    stepper.train_mode()
                if self.path is not None and ((done and stage + 1 < len(self.stages)) or self._due()):
                    self._read(stepper, steps)
                    self._save(stepper)
                yield
        finally:
            stepper.close()
        self._finite()

    def _take(self, stepper: Stepper, stage: int, steps: int, rows: Sampler | None) -> None:
        step = self.place.step
        learner = self.learner
        if learner.restarts(stage, step, steps):
            optimiser.forget(stepper.optimiser)
        positions = rows.at(step) if rows is not None else np.zeros(0, np.int64)
        partners = learner.partners(positions, self.place.taken)
        twins = (learner.task.seed, self.place.taken) if learner.wants_twins(stage) else None
        given = self.source.give(positions, partners, twins)
        stepper.take(given, learner.phase(stage, step, steps), self.rate * rate_at(self.options, step, steps))
        self.place.step += 1
        self.place.taken += 1

    def _sampler(self, how: Sampling, stage: int) -> Sampler | None:
        """None for a stream, which samples by itself."""
        if not isinstance(self.source, Stored):
            return None
        y, group, environment = (
            t.cpu().numpy()
            for t in (self.source.data.train.y, self.source.data.train.group, self.source.data.train.environment)
        )
        task = self.learner.task
        return sampler(how, y, group, environment, task.environments, task.batch_size, task.seed, stage)

    # ---------------------------------------------------------------------------------------------------- notes

    def _read(self, stepper: Stepper, steps: int) -> None:
        """Fetch notes; a loss that is no number ends the trial."""
        notes = stepper.read()
        if not len(notes):
            return
        bad = (~torch.isfinite(notes[:, 0])).nonzero()
        if len(bad):
            step = self.place.taken - len(notes) + int(bad[0]) + 1
            self._diverged(f"the loss was no finite number any more at step {step}")
        self.records.append(notes)
        rate = self.rate * rate_at(self.options, max(self.place.step - 1, 0), steps)
        values = {"loss": float(notes[:, 0].mean()), "accuracy": float(notes[:, 1].nanmean()), "learning_rate": rate}
        events.tell(self.subscribers, events.Stepped(self.place.taken, self.total, values))

    def _finite(self) -> None:
        """Weights that are no numbers end the trial, also where no loss has seen them."""
        for name, value in self.learner.named_parameters():
            if not bool(value.isfinite().all()):
                self._diverged(f"the weights {name} were no finite numbers any more after step {self.place.taken}")

    def _diverged(self, what: str) -> None:
        reason = f"{what} of {self.total}; take a smaller learning_rate, or a smaller weight of the method's penalty"
        events.tell(self.subscribers, events.Ended(self.place.taken, reason))
        raise Diverged(reason)

    def _check(self, stage: int) -> None:
        """Score the validation rows; keep the weights where they are the best so far and those are wanted."""
        val = self.source.data.val
        if self.score is None or (val is None and not self.watch):
            return
        found = self._scored(val) if val is not None else []
        self._look(stage, found)
        if not found:
            return
        names = ("loss", "accuracy", "worst_group_accuracy")
        events.tell(self.subscribers, events.Checked(self.place.taken, dict(zip(names, found, strict=False))))
        column = {"average": 1, "worst_group": 2}.get(self.options.keep)
        if column is not None and stage == len(self.stages) - 1 and found[column] > self.place.best:
            self.place.best = found[column]
            self.best = {name: value.detach().clone() for name, value in self.learner.state_dict().items()}

    def _look(self, stage: int, found: list[float]) -> None:
        """Note a check: what was found of validation rows, and of those that are watched, the stage before them."""
        if not found and not self.watch:
            return
        width = WATCHED + len(self.learner.task.groups)
        row = [float(self.place.taken), *found, *[math.nan] * (width - len(found))]
        if self.watch:
            row += [float(stage), *(v for split in self.watch.values() for v in self._scored(split)[:WATCHED])]
        self.checks.append(torch.tensor([row], dtype=torch.float64))

    def _scored(self, split: Split) -> list[float]:
        assert self.score is not None
        scores = predict(self.learner, split, self.options, self.device)
        if not bool(scores.isfinite().all()):
            self._diverged(f"scores of validation rows were no finite numbers any more after step {self.place.taken}")
        return self.score(scores, split)

    # ----------------------------------------------------------------------------------------------- checkpoints

    def _due(self) -> bool:
        """Every half minute; less often where a checkpoint takes so long that it would be a twentieth of the time."""
        return time.monotonic() - self._saved >= _SAVE_SECONDS * max(1.0, 20 * self._cost / 30)

    def _save(self, stepper: Stepper) -> None:
        assert self.path is not None
        now = time.monotonic()
        self.place.seconds += now - self._started
        self._started = self._saved = now
        if not isinstance(self.source, Stored):
            self.place.stream = self.source.stream.state_dict()
        parts = {
            "learner": self.learner.state_dict(),
            "optimiser": optimiser.tensors(stepper.optimiser),
            "random": checkpoint.random_state(self.device),
            "best": self.best,
            "notes": {
                "records": torch.from_numpy(_stacked(self.records)),
                "checks": torch.from_numpy(_stacked(self.checks)),
            },
        }
        checkpoint.write(self.path, self.key, self.place, parts)
        self._cost = time.monotonic() - now

    def _resume(self) -> None:
        found = checkpoint.read(self.path, self.key) if self.path is not None else None
        if found is None:
            return
        self.place, parts = found
        self.learner.load_state_dict(parts["learner"])
        self.best = {name: value.to(self.device) for name, value in parts.get("best", {}).items()}
        self.records, self.checks = [parts["notes"]["records"]], [parts["notes"]["checks"]]
        self._restored = parts
        checkpoint.set_random_state(parts["random"], self.device)
        if not isinstance(self.source, Stored):
            self.source.go_to(self.place.stream)

    def _restore_optimiser(self, stepper: Stepper) -> None:
        """The optimiser of the stage in which the checkpoint was written, once."""
        if self._restored and self.place.step:
            optimiser.restore(stepper.optimiser, self._restored.get("optimiser", {}))
        self._restored = {}


@torch.no_grad()
def predict(learner: Learner, split: Split, options: Options, device: torch.device, size: int = 256) -> Tensor:
    """Scores of all rows of a split, in order, as float32."""
    was = learner.training
    learner.eval()
    with autocast(options, device):
        found = [learner(learner.net.inputs(raw)).float() for _, raw in split.batches(size)]
    learner.train(was)
    return torch.cat(found)


def _stacked(parts: list[Tensor]) -> NDArray[Any]:
    """Rows of notes together."""
    parts = [part for part in parts if len(part)]
    return torch.cat(parts).numpy() if parts else np.zeros((0, 0), np.float32)
