"""Makes a start: trains a network on an endless stream of other objects than those that runs tell apart."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from platform import python_version
from typing import Any

import torch

from spurgen import seeds
from spurgen.classes import CLASSES, DEFAULT_CLASSES
from spurgen.errors import DataError, SpurgenError
from spurgen.learning import Model
from spurgen.parts import Constant
from spurgen.settings import fill
from spurgen.spec import World
from spurgen.spec.known import MODALITIES
from spurgen.spec.world import size_px as size_px_of
from spurgen.store import atomic, lock
from spurgen.store.layout import BUILD
from spurgen.train import checkpoint
from spurgen.train import directory as runs
from spurgen.train.encode import find_model
from spurgen.train.events import Subscriber
from spurgen.train.options import Options, resolve_device
from spurgen.train.run import Run, train
from spurgen.train.start import ABOUT, FORMAT, RUN, WEIGHTS, Start, about_of, body_of, described, digest_of, load_start
from spurgen.version import __version__

STEPS = 8000
OTHERS = tuple(name for name in CLASSES if name not in DEFAULT_CLASSES)
ROWS = 10_000  # a fifth of them, 2,000, are scored; what is learnt from has no end
# As far as the values of the channels go: features that nothing in a world surprises.
RANGES: dict[str, list[float]] = {
    "object_scale": [0.6, 1.1],
    "object_x": [-0.4, 0.4],
    "object_y": [-0.38, 0.38],
    "camera_elevation_degrees": [0.0, 36.0],
    "light_azimuth_degrees": [-60.0, 60.0],
    "light_elevation_degrees": [25.0, 70.0],
    "light_intensity": [0.5, 1.2],
}


def world(classes: Sequence[str] = OTHERS, size_px: int = 64) -> World:
    """Pictures in which only the object's shape tells the class, and everything else varies at random.

    There are no channels: what channels can set varies as a nuisance, over all that there is.
    """
    kept = [trait for trait in MODALITIES.get("image").traits if trait.names and trait.name != "shape"]
    names = {trait.name: list(trait.names) for trait in kept if isinstance(trait.distribution, Constant)}
    return World.from_dict(
        {
            "id": "pretraining/v1",
            "description": "Objects whose shape alone tells the class.",
            "classes": list(classes),
            "rows": ROWS,
            "modalities": ["image"],
            "image": {"size_px": size_px},
            "splits": {
                "train": {"share": 0.8, "environments": ["free"]},
                "val": {"share": 0.2, "environments": ["free"]},
            },
            "environments": {"free": {}},
            "nuisances": {**names, **RANGES},
        }
    )


def pretrain(
    model: str = "small_cnn",
    out: str | Path | None = None,
    steps: int = STEPS,
    classes: Sequence[str] = OTHERS,
    size_px: int = 64,
    seed: int = 0,
    batch_size: int = 64,
    learning_rate: float = 0.0,
    device: str = "auto",
    graphs: str = "auto",
    subscribers: Sequence[Subscriber] = (),
    force: bool = False,
) -> Start:
    """Make a start for `train`: the body of a network that tells other objects apart.

    With `out` it is kept there; one that was stopped goes on, and one that is complete is only opened.
    """
    kind = find_model(model)
    check_model(kind)
    spec = world(classes, size_px)
    given = {"steps": seeds.whole("steps", steps, 1), "batch_size": batch_size, "learning_rate": learning_rate}
    about = _about(kind, spec, fill(Options, given, "training"), seed, resolve_device(device))

    def trained(directory: Path | None) -> Run:
        return train(
            spec, "erm", model, directory, seed, options=given, device=device, graphs=graphs, stream=True,
            subscribers=subscribers, force=force,
        )  # fmt: skip

    if out is None:
        return _made(None, about, trained(None))
    directory = Path(out)
    other = must_be_dropped(directory, about, force)
    found = None if other else _complete(directory)
    if found is not None:
        return found
    try:
        with lock.held(directory):
            if other:
                drop(directory)
            _write(directory, about | {"state": "running"})
            try:
                start = _made(directory, about, trained(directory / RUN))
            except SpurgenError:
                if not (directory / RUN).exists():  # refused before anything was done
                    (directory / ABOUT).unlink()
                raise
            checkpoint.save(directory / WEIGHTS, start.body, {"digest": start.about["digest"]})
            _write(directory, start.about)  # last, for it says that the start is complete
    finally:
        with contextlib.suppress(OSError):
            directory.rmdir()  # only where nothing came of it
    return start


def check_model(kind: Model) -> None:
    """Refuse models that pictures of other objects teach nothing."""
    if kind.modality != "image":
        raise SpurgenError(
            f"{kind.name} reads {kind.modality.replace('+', 's and ')}s, and a start is made of pictures alone; take a "
            "model that reads images (spurgen list models)"
        )
    if kind.pretrained:
        raise SpurgenError(
            f"{kind.name} comes with pretrained weights ({kind.pretrained}); train it as it is, without a start"
        )


def _about(kind: Model, spec: World, how: Options, seed: int, device: torch.device) -> dict[str, Any]:
    """What determines a start, and its key."""
    about: dict[str, Any] = {
        "format": FORMAT,
        "spurgen": __version__,
        "model": kind.name,
        "world": spec.id,
        "world_digest": spec.digest(),
        "classes": list(spec.classes),
        "size_px": size_px_of(spec),
        "options": asdict(how) | {"learning_rate": how.learning_rate or kind.learning_rate},
        "seed": seeds.whole("seed", seed),
        "device": device.type,
    }
    key = hashlib.blake2b(json.dumps(about, sort_keys=True).encode(), digest_size=16).hexdigest()
    shared = [name for name in spec.classes if name in DEFAULT_CLASSES]
    return about | {"key": key, "default_classes": shared, "torch": torch.__version__, "python": python_version()}


def _made(directory: Path | None, about: dict[str, Any], run: Run) -> Start:
    """The start that a finished run gives."""
    body = {name: value.detach().cpu().contiguous() for name, value in body_of(run.learner.net).items()}
    if run.outcome is not None:
        accuracy = run.outcome.checks[-1, 2]
    else:
        import pyarrow.parquet as pq

        assert run.directory is not None
        accuracy = pq.read_table(run.directory / runs.CHECKS)["accuracy"].to_numpy()[-1]
    how = {name: run.about[name] for name in ("state", "steps", "seconds")}
    return Start(directory, about | how | {"accuracy": float(accuracy), "digest": digest_of(body)}, body)


# ------------------------------------------------------------------------------------------------- the directory


def must_be_dropped(directory: Path, new: dict[str, Any], force: bool) -> bool:
    """Whether the directory holds another start that has to go before the new one, and may go.

    It may if `force` is given, or if it came to nothing. A directory that is empty or holds this very start is fine;
    anything else is refused.
    """
    with atomic.looked_at(directory):
        if directory.exists() and not directory.is_dir():
            raise DataError(f"{directory} is a file; choose a directory for the start")
        there = {p.name for p in directory.iterdir()} - {BUILD} if directory.exists() else set()
    if not there:
        return False
    if ABOUT not in there:
        raise DataError(f"{directory} is not empty and holds no start; choose another directory")
    try:
        about = about_of(directory)
    except DataError as error:
        if force:
            return True
        raise DataError(f"{error} in another directory, or in this one with --force") from error
    if about.get("key") == new["key"]:
        return False
    came_to_something = about.get("state") == "complete" or (directory / RUN / runs.CHECKPOINT).exists()
    if came_to_something and not force:
        raise DataError(
            f"{directory} holds another start ({described(about)}; {runs.difference(about, new)}); choose another "
            "directory, or replace it with --force"
        )
    return True


def drop(directory: Path) -> None:
    """Remove the start and its run; nothing else is touched."""
    for name in (WEIGHTS, ABOUT):
        (directory / name).unlink(missing_ok=True)
    if (directory / RUN).is_dir():
        runs.drop(directory / RUN)
        with contextlib.suppress(OSError):
            (directory / RUN).rmdir()  # unless something else lies in it


def _complete(directory: Path) -> Start | None:
    """The finished start; None where there is none yet, or its weights must be taken from its run once more."""
    if not (directory / ABOUT).is_file() or about_of(directory).get("state") != "complete":
        return None
    try:
        return load_start(directory)
    except DataError:
        return None


def _write(directory: Path, about: dict[str, Any]) -> None:
    atomic.write(directory / ABOUT, (json.dumps(about, indent=1, ensure_ascii=False) + "\n").encode())
