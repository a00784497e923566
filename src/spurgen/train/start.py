"""What a run begins from: random weights, those that its model comes with, or a start that `spurgen pretrain` made."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from spurgen.errors import DataError, SpurgenError, brief
from spurgen.learning import MODELS, Model, Net
from spurgen.store import atomic
from spurgen.train import checkpoint

FORMAT = 1  # changes whenever the same start would end with other weights
ABOUT, WEIGHTS, RUN = "start.json", "start.safetensors", "run"
NOTHING, IMAGENET, PRETRAINED = "nothing", "imagenet", "pretrained"
_HEAD = "head."


@dataclass(frozen=True, eq=False)
class Start:
    """A trained network without its head. `about` is what its file says."""

    directory: Path | None
    about: dict[str, Any]
    body: Mapping[str, Tensor]

    def __repr__(self) -> str:
        return f"Start({described(self.about)})"

    def put_into(self, net: Net, size_px: int) -> None:
        """Give a network these weights; its head stays as it is."""
        there = body_of(net)
        for name in dict.fromkeys([*there, *self.body]):
            mine, its = (_shape(body.get(name)) for body in (self.body, there))
            if mine != its:
                raise SpurgenError(
                    f"the start was made on pictures of {self.about['size_px']} px, and does not fit "
                    f"{self.about['model']} on pictures of {size_px} px (its weights {name} are {mine}, not {its}); "
                    f"make another with --size-px {size_px}"
                )
        net.load_state_dict(dict(self.body), strict=False)


def body_of(net: Net) -> dict[str, Tensor]:
    """A network's weights and statistics without those of its head."""
    return {name: value for name, value in net.state_dict().items() if not name.startswith(_HEAD)}


def digest_of(body: Mapping[str, Tensor]) -> str:
    """A name for weights: the same only where every bit is."""
    found = hashlib.blake2b(digest_size=16)
    for name in sorted(body):
        value = body[name].detach().cpu().contiguous()
        found.update(f"{name} {value.dtype} {tuple(value.shape)}\n".encode())
        found.update(value.numpy().tobytes())
    return found.hexdigest()


# ------------------------------------------------------------------------------------------- which start is meant


def find_start(start: str | Path | Start | None, model: Model) -> Start | None:
    """The start that is meant; None for the weights that the model is built with."""
    if start is None or start == "" or start == (model.pretrained or NOTHING):
        return None
    if model.pretrained:
        raise SpurgenError(
            f"{model.name} comes with pretrained weights ({model.pretrained}) and begins from no others; "
            "leave start out, or take another model"
        )
    if start == IMAGENET:
        having = [name for name in MODELS.names() if MODELS.get(name).pretrained == IMAGENET]
        raise SpurgenError(
            f"there are no weights of ImageNet for {model.name}, only for {', '.join(having)}; take that model, or a "
            "start of your own (spurgen pretrain)"
        )
    found = start if isinstance(start, Start) else load_start(start)
    if found.about["model"] != model.name:
        raise SpurgenError(
            f"{found.directory or 'the start'} is a start of {found.about['model']}, not of {model.name}; take that "
            f"model, or make another start (spurgen pretrain --model {model.name})"
        )
    return found


def determines(start: Start | None) -> dict[str, str]:
    """What of its start determines a run; nothing where that is the model's own business."""
    return {} if start is None else {"start": PRETRAINED, "start_digest": start.about["digest"]}


# --------------------------------------------------------------------------------------------------- on the disk


def load_start(directory: str | Path) -> Start:
    """Open a finished start, and refuse one that is not as it was written."""
    directory = Path(directory)
    about = about_of(directory)
    again = f"give the command that makes it again (spurgen pretrain … --out {directory})"
    if about.get("state") != "complete":
        raise DataError(f"the start in {directory} is not finished; {again}")
    try:
        _, body = checkpoint.load(directory / WEIGHTS)
    except DataError as error:
        raise DataError(f"{directory / WEIGHTS} cannot be read as safetensors, it is damaged; {again}") from error
    if digest_of(body) != about.get("digest"):
        raise DataError(f"{directory / WEIGHTS} holds other weights than {ABOUT} says; {again}")
    return Start(directory, about, body)


def about_of(directory: Path) -> dict[str, Any]:
    """What a start's file says."""
    path = directory / ABOUT
    with atomic.looked_at(directory):
        there = path.is_file()
    if not there:
        raise DataError(
            f"{brief(str(directory))} holds no start, there is no {ABOUT} in it; make one first (spurgen pretrain)"
        )
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read, it is damaged or something else; make the start again") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise DataError(f"{path} is of another version of SpurGen, or of something else; make the start again")
    return found


def described(about: Mapping[str, Any]) -> str:
    """A start in a few words."""
    options = about["options"]
    return (
        f"{about['model']}, {len(about['classes'])} classes, {about['size_px']} px, {options['steps']:,} steps of "
        f"{options['batch_size']}, seed {about['seed']}"
    )


def _shape(value: Tensor | None) -> str:
    return "missing" if value is None else " × ".join(map(str, value.shape)) or "one number"
