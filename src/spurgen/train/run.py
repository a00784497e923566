"""A trial as a directory: what determines it, the weights it ends with, and a note of every step."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from spurgen import seeds
from spurgen.errors import DataError, SpurgenError, UnknownName, unknown
from spurgen.learning import METHODS, Learner, Method, Model, Sampling, Split, Task
from spurgen.metrics.worst_group_accuracy import LEAST_ROWS
from spurgen.settings import fill
from spurgen.store import atomic, lock
from spurgen.train import checkpoint
from spurgen.train.directory import (
    ABOUT,
    CHECKPOINT,
    CHECKS,
    FORMAT,
    RECORDS,
    WEIGHTS,
    WORDS,
    about_of,
    described,
    drop,
    must_be_dropped,
)
from spurgen.train.encode import Encoder, find_model
from spurgen.train.events import Subscriber
from spurgen.train.loop import Outcome, Trainer
from spurgen.train.options import Options, resolve_device
from spurgen.train.refuse import check_needs, check_used
from spurgen.train.source import split_of
from spurgen.train.start import Start, determines, find_start
from spurgen.train.turns import Turns, done
from spurgen.train.world import World, open_world
from spurgen.version import __version__

if TYPE_CHECKING:
    from spurgen.load.rows import Rows
    from spurgen.spec import World as Spec
    from spurgen.store.reader import Dataset


@dataclass(frozen=True, eq=False)
class Run:
    """A finished trial. `about` is what its file says; records and checks are tables in the directory."""

    directory: Path | None
    about: dict[str, Any]
    learner: Learner
    encoder: Encoder
    outcome: Outcome | None = None  # None for one that was loaded

    def __repr__(self) -> str:
        return f"Run({described(self.about)})"


def train(
    data: str | Path | Dataset | Spec,
    method: str = "erm",
    model: str = "small_cnn",
    out: str | Path | None = None,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
    device: str = "auto",
    graphs: str = "auto",
    group_by: str | Sequence[str] | None = None,
    stream: bool = False,
    splits: tuple[str, str] = ("train", "val"),
    subscribers: Sequence[Subscriber] = (),
    force: bool = False,
    watch: Mapping[str, Rows] | None = None,
    start: str | Path | Start | None = None,
) -> Run:
    """Train a model with a method on a dataset, and validate it on the way.

    `data` is a finished dataset, or with `stream` a spec or preset whose rows are drawn while they are learnt from.
    With `out` the run is kept there; one that was stopped goes on, and one that is complete is only opened. `start` is
    what `spurgen.pretrain` made, or its directory; "nothing" or "imagenet" where the model is built with that anyway.
    Rows in `watch` are scored at every check beside the validation rows; nothing is learnt or chosen from them.
    """
    asked = (data, method, model, out, seed, settings, options, device, graphs, group_by, stream, splits, subscribers)
    return done(training(*asked, force=force, watch=watch, start=start, turns=False))


def training(
    data: str | Path | Dataset | Spec,
    method: str = "erm",
    model: str = "small_cnn",
    out: str | Path | None = None,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
    device: str = "auto",
    graphs: str = "auto",
    group_by: str | Sequence[str] | None = None,
    stream: bool = False,
    splits: tuple[str, str] = ("train", "val"),
    subscribers: Sequence[Subscriber] = (),
    force: bool = False,
    watch: Mapping[str, Rows] | None = None,
    start: str | Path | Start | None = None,
    turns: bool = True,
) -> Turns[Run]:
    """The same one step at a time: a generator that others may take turns with, and that returns the run."""
    part, kind = METHODS.get(method), find_model(model)
    begun = find_start(start, kind)
    chosen = fill(part.settings, settings or {}, f"method {method}")
    how = fill(Options, options or {}, "training")
    where = resolve_device(device)
    if graphs not in ("auto", "on", "off"):
        raise UnknownName(unknown("choice for graphs,", graphs, ("auto", "on", "off")))
    if graphs == "on" and where.type != "cuda":
        raise SpurgenError("graphs are for GPUs; leave graphs at auto, or train with --device cuda")
    world = open_world(data, kind, how, seed, stream, splits, group_by)
    check_needs(part, chosen, world)
    check_used(options or {}, how, kind, world, bool(watch))
    about = {
        "format": FORMAT,
        "spurgen": __version__,
        "method": method,
        "settings": asdict(chosen),
        "model": kind.name,
        **({"model_digest": kind.digest} if kind.digest else {}),
        **determines(begun),
        "options": asdict(how) | {"learning_rate": how.learning_rate or kind.learning_rate},
        "seed": seeds.whole("seed", seed),
        "device": where.type,
        **world.about(),
        **({"watched": {name: rows.digest for name, rows in watch.items()}} if watch else {}),
    }
    key = hashlib.blake2b(json.dumps(about, sort_keys=True).encode(), digest_size=16).hexdigest()
    about |= {"key": key, "torch": torch.__version__, "python": platform.python_version(), "task": world.task_about()}
    about |= {"start": kind.pretrained} if kind.pretrained else {}  # the model says that already: not for the key
    if out is None:
        trial = _prepared(about, part, kind, chosen, how, world, where, begun)
        return (yield from _trained(trial, about, how, world, graphs, None, list(subscribers), watch or {}, turns))
    directory = Path(out)
    other = must_be_dropped(directory, about, force)
    if not other and (directory / WEIGHTS).is_file():
        return load_run(directory, device)
    trial = _prepared(about, part, kind, chosen, how, world, where, begun)  # refuses before anything is written
    with lock.held(directory):
        if other:
            drop(directory)
        atomic.write(directory / ABOUT, _json(about | {"state": "running"}))
        try:
            run = yield from _trained(
                trial, about, how, world, graphs, directory, list(subscribers), watch or {}, turns
            )
        except SpurgenError as error:
            atomic.write(directory / ABOUT, _json(about | {"state": "failed", "reason": str(error)}))
            raise
        _keep(run)
    return run


def _prepared(
    about: dict[str, Any],
    method: Method,
    kind: Model,
    settings: Any,
    options: Options,
    world: World,
    device: torch.device,
    start: Start | None,
) -> tuple[Encoder, Learner]:
    """What is trained; what the learner cannot do with this world is refused."""
    encoder = Encoder.of(kind, world.texts())
    learner = build_learner(about, method, kind, settings, encoder, world.size_px, device, start)
    if world.endless and any(learner.sampling(stage) != Sampling() for stage in range(len(learner.stages()))):
        raise SpurgenError(
            f"{method.name} samples rows by group or environment, which a stream cannot; train on a dataset"
        )
    if options.keep != "last" and not learner.stages()[-1].share:
        raise SpurgenError(
            f"{method.name} ends with a computation on validation rows, which cannot choose between weights as well; "
            "leave keep out"
        )
    return encoder, learner


def _trained(
    trial: tuple[Encoder, Learner],
    about: dict[str, Any],
    options: Options,
    world: World,
    graphs: str,
    directory: Path | None,
    subscribers: list[Subscriber],
    watch: Mapping[str, Rows],
    turns: bool,
) -> Turns[Run]:
    encoder, learner = trial
    device = learner.task.device
    source = world.source(encoder, device)
    trainer = Trainer(
        learner,
        source,
        options,
        world.steps(options),
        score=score,
        path=None if directory is None else directory / CHECKPOINT,
        key=about["key"],
        subscribers=subscribers,
        graphs=device.type == "cuda" and graphs != "off",
        rate=about["options"]["learning_rate"],
        watch={name: split_of(rows, encoder, device, world.environments) for name, rows in watch.items()},
    )
    outcome = yield from trainer.course(about, turns)
    about |= {"state": "complete", "steps": outcome.place.taken, "seconds": round(outcome.place.seconds, 3)}
    return Run(directory, about, learner, encoder, outcome)


def build_learner(
    about: Mapping[str, Any],
    method: Method,
    kind: Model,
    settings: Any,
    encoder: Encoder,
    size_px: int,
    device: torch.device,
    start: Start | None = None,
) -> Learner:
    """A fresh learner; its weights follow from the run's seed, and from its start where there is one."""
    told = about["task"]
    shape = encoder.shape(len(told["classes"]), size_px)

    def build() -> Any:
        net = kind.build(shape)
        if start is not None:
            start.put_into(net, size_px)
        net = net.to(device)
        return net.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def sizes(name: str) -> Tensor:
        return torch.tensor([told[name][n] for n in told[name]], dtype=torch.long, device=device)

    task = Task(
        classes=tuple(told["classes"]),
        class_sizes=sizes("classes"),
        groups=tuple(told["groups"]),
        group_sizes=sizes("groups"),
        environments=tuple(told["environments"]),
        environment_sizes=sizes("environments"),
        channels=dict(told["channels"]),
        rows=told["rows"],
        batch_size=about["options"]["batch_size"],
        seed=about["seed"],
        build=build,
    )
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(int(seeds.key(about["seed"], "train/weights")[0] >> np.uint64(1)))
        return method.learner(task, settings).to(device)


_SCORED = ("loss", "accuracy", "worst_group_accuracy", "worst_class_accuracy")


def score(scores: Tensor, split: Split) -> list[float]:
    """What a check notes: loss, accuracy, worst group's accuracy, worst class's, then each group's."""
    loss = float(torch.nn.functional.cross_entropy(scores, split.y))
    right = (scores.argmax(1) == split.y).double()
    groups, sizes = _rates(right, split.group)
    classes, _ = _rates(right, split.y)
    large = sizes >= LEAST_ROWS if bool((sizes >= LEAST_ROWS).any()) else sizes > 0  # as in worst_of
    return [
        loss,
        float(right.mean()),
        float(groups[large].min()),
        float(classes[~classes.isnan()].min()),
        *groups.tolist(),
    ]


def _rates(right: Tensor, codes: Tensor) -> tuple[Tensor, Tensor]:
    count = int(codes.max()) + 1
    sizes = torch.bincount(codes, minlength=count)
    return torch.bincount(codes, weights=right, minlength=count) / sizes, sizes


def _keep(run: Run) -> None:
    """Write the run's files; the weights come last, for they say that it is complete."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    assert run.directory is not None and run.outcome is not None
    groups, watched = list(run.about["task"]["groups"]), list(run.about.get("watched", {}))
    names = {
        RECORDS: ["loss", "accuracy", *(f"loss of {g}" for g in groups)],
        CHECKS: [
            *("step", *_SCORED),
            *(f"accuracy of {g}" for g in groups),
            *(["stage"] if watched else []),
            *(f"{name} {what}" for name in watched for what in _SCORED),
        ],
    }
    for file, rows in ((RECORDS, run.outcome.records), (CHECKS, run.outcome.checks)):
        if rows.size:
            columns = {name: pa.array(rows[:, i]) for i, name in enumerate(names[file][: rows.shape[1]])}
            sink = pa.BufferOutputStream()
            pq.write_table(pa.table(columns), sink)
            atomic.write(run.directory / file, sink.getvalue().to_pybytes())
    words = run.encoder.words()
    if words is not None:
        atomic.write(run.directory / WORDS, _json(words))
    atomic.write(run.directory / ABOUT, _json(run.about))
    checkpoint.save(run.directory / WEIGHTS, run.learner.state_dict(), {"key": run.about["key"]})
    (run.directory / CHECKPOINT).unlink(missing_ok=True)


def load_run(directory: str | Path, device: str = "auto") -> Run:
    """Open a finished run."""
    directory, where = Path(directory), resolve_device(device)
    about = about_of(directory)
    if about.get("state") != "complete" or not (directory / WEIGHTS).is_file():
        reason = f" ({about['reason']})" if about.get("reason") else ""
        raise DataError(f"the run in {directory} is not finished{reason}; give the command that trains it again")
    method, kind = METHODS.get(about["method"]), find_model(about["model"])
    if about.get("model_digest", "") != kind.digest:
        raise DataError(f"the files of {about['model']} are others than those that {directory} was trained from")
    encoder = Encoder.restored(kind, directory / WORDS)
    settings = fill(method.settings, about["settings"], about["method"])
    learner = build_learner(about, method, kind, settings, encoder, about["size_px"], where)
    _, tensors = checkpoint.load(directory / WEIGHTS)
    try:
        learner.load_state_dict(tensors)
    except RuntimeError as error:
        raise DataError(f"{directory / WEIGHTS} does not fit {described(about)}; train again") from error
    return Run(directory, about, learner.eval(), encoder)


def _json(data: Any) -> bytes:
    return (json.dumps(data, indent=1, ensure_ascii=False) + "\n").encode()
