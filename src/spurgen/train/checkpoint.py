"""Where a trial stands, in one file that is written at once: networks, optimiser, random numbers, notes so far.

safetensors only: reading one runs no code.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from spurgen.errors import DataError
from spurgen.store import atomic


@dataclass
class Place:
    """How far a trial has come: `step` steps of `stage`, `taken` in all. `stream` is the stream's own state."""

    stage: int = 0
    step: int = 0
    taken: int = 0
    begun: bool = False  # whether the stage has been prepared
    best: float = -1.0  # the best check so far, where a run keeps it
    seconds: float = 0.0
    stream: dict[str, Any] = field(default_factory=dict)


def write(path: Path, key: str, place: Place, parts: Mapping[str, Mapping[str, Tensor]]) -> None:
    """Write everything; a name of a tensor is `part/name`."""
    tensors = {f"{part}/{name}": value for part, values in parts.items() for name, value in values.items()}
    save(path, tensors, {"key": key, "place": json.dumps(asdict(place))})


def save(path: Path, tensors: Mapping[str, Tensor], about: dict[str, str]) -> None:
    """Write a safetensors file in one step."""
    plain: dict[str, Tensor] = {}
    seen: set[int] = set()
    for name, value in tensors.items():
        found = value.detach().cpu().contiguous()
        plain[name] = found.clone() if found.data_ptr() in seen else found  # two names of one tensor are refused
        seen.add(found.data_ptr())
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.tmp")
    with atomic.explained(path):
        try:
            save_file(plain, temporary, about)
            with open(temporary, "rb") as file:
                os.fsync(file.fileno())
            atomic.replace(temporary, path)
        except SafetensorError as error:
            temporary.unlink(missing_ok=True)
            raise DataError(f"cannot write {path} ({error}); make room and run the same command again") from error
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def read(path: Path, key: str) -> tuple[Place, dict[str, dict[str, Tensor]]] | None:
    """What was written under the same key; None where there is nothing."""
    if not path.is_file():
        return None
    about, tensors = load(path)
    if about.get("key") != key:
        return None
    parts: dict[str, dict[str, Tensor]] = {}
    for name, value in tensors.items():
        part, _, rest = name.partition("/")
        parts.setdefault(part, {})[rest] = value
    try:
        return Place(**json.loads(about["place"])), parts
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{path} is damaged; remove it and train again") from error


def load(path: Path) -> tuple[dict[str, str], dict[str, Tensor]]:
    """(metadata, tensors) of a safetensors file."""
    try:
        with safe_open(path, "pt") as file:
            return dict(file.metadata() or {}), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (OSError, ValueError, SafetensorError) as error:
        raise DataError(
            f"{path} cannot be read as safetensors; it is damaged, or is something else; train again with --force"
        ) from error


def random_state(device: torch.device) -> dict[str, Tensor]:
    """Where torch's random numbers stand."""
    found = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        found["cuda"] = torch.cuda.get_rng_state(device)
    return found


def set_random_state(state: Mapping[str, Tensor], device: torch.device) -> None:
    """Put random numbers back to where they stood."""
    torch.set_rng_state(state["cpu"])
    if device.type == "cuda" and "cuda" in state:
        torch.cuda.set_rng_state(state["cuda"], device)
