"""Models of the `transformers` library, called "hf:" and a folder or a name on the Hugging Face hub.

Nothing that is loaded runs code: weights are safetensors, and code that comes with a model is refused. A folder is read
without asking the network for anything; a name on the hub is downloaded, because it was asked for.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from spurgen.errors import DataError, SpecError, missing_extra
from spurgen.learning import Model, Net, Shape
from spurgen.models._hub_nets import PictureNet, Scaling, TextNet, with_new_head

PREFIX = "hf:"


def model(name: str) -> Model:
    """The classifier that a folder or a name on the hub says; its modality is in its configuration."""
    source = _source(name)
    _refuse_detours(source)
    config = _load("AutoConfig", source)
    library = _library()
    if type(config) in library.MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING:
        modality, build = "image", _picture_net
    elif type(config) in library.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING:
        modality, build = "caption", _text_net
    else:
        raise SpecError("model", f"{source!r} ({config.model_type}) classifies neither pictures nor texts")
    return Model(
        name=PREFIX + source,
        about=f"{config.model_type} of the transformers library, with the weights of {source}",
        modality=modality,
        build=lambda shape: build(source, shape),
        learning_rate=5e-5,
        texts=(lambda: vocabulary(source)) if modality == "caption" else None,
        digest=_digest(Path(source)) if _is_folder(source) else "",
        pretrained="hub",
    )


def _refuse_detours(source: str) -> None:
    """A folder may name other files to read weights from, which `use_safetensors` does not reach."""
    if not _is_folder(source):
        return
    folder = Path(source)
    if (folder / "adapter_config.json").exists():
        raise DataError(f"cannot load the model {source!r}: it is an adapter; merge it into its model first")
    for path in [folder / "config.json", *folder.glob("*.index.json")]:
        words = path.read_text("utf-8", errors="replace") if path.is_file() else ""
        if "transformers_weights" in words or (path.name != "config.json" and ".bin" in words):
            raise DataError(
                f"cannot load the model {source!r}: {path.name} names weights of its own choice; only "
                "model.safetensors is read"
            )


def _digest(folder: Path) -> str:
    """Of all files that make the model what it is."""
    found = hashlib.blake2b(digest_size=16)
    for path in sorted(p for p in folder.iterdir() if p.suffix in (".json", ".safetensors", ".txt", ".model")):
        with open(path, "rb") as file:
            found.update(path.name.encode() + hashlib.file_digest(file, "sha256").digest())
    return found.hexdigest()


@dataclass(frozen=True)
class Tokens:
    """A tokenizer in the place of a `Vocabulary`: these models know their own numbers, and their own padding."""

    source: str
    tokenizer: Any

    def __len__(self) -> int:
        return len(self.tokenizer)

    @property
    def padding(self) -> int:
        """The number that stands for no token."""
        if self.tokenizer.pad_token_id is None:
            raise SpecError("model", f"the tokenizer of {self.source!r} has no padding token; take another")
        return int(self.tokenizer.pad_token_id)

    def encode(self, texts: Sequence[str], tokens: int) -> NDArray[np.int64]:
        """(texts, tokens) numbers. What is too long loses its end, what is too short is padded at its end."""
        numbers = np.full((len(texts), tokens), self.padding, np.int64)
        if len(texts):
            encoded = self.tokenizer(list(texts), truncation=True, max_length=tokens)["input_ids"]
            for row, known in zip(numbers, encoded, strict=True):
                row[: len(known)] = known
        return numbers


def vocabulary(name: str) -> Tokens:
    """The tokenizer of a text model."""
    source = _source(name)
    return Tokens(source, _load("AutoTokenizer", source))


def _picture_net(source: str, shape: Shape) -> Net:
    processors = _library().ImageProcessingMixin
    with _named(source):
        processor, _ = processors.get_image_processor_dict(source, local_files_only=_is_folder(source))
        scaling = Scaling.of(processor)
    body = _weights("AutoModelForImageClassification", "MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING", source)
    return with_new_head(PictureNet(body, scaling), shape)


def _text_net(source: str, shape: Shape) -> Net:
    padding = vocabulary(source).padding
    body = _weights("AutoModelForSequenceClassification", "MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING", source)
    return with_new_head(TextNet(body, padding), shape)


def _weights(kind: str, mapping: str, source: str) -> Any:
    """A pretrained classifier: from safetensors only, because the other format is a pickle.

    In float32 whatever is stored, as mixed precision is the trainer's business. The way of computing attention is
    given, because a configuration may name a kernel on the hub, which is code.
    """
    known = getattr(_library(), mapping)[type(_load("AutoConfig", source))]
    known = known[0] if isinstance(known, tuple) else known
    attention = "sdpa" if getattr(known, "_supports_sdpa", False) else "eager"
    return _load(kind, source, use_safetensors=True, dtype=torch.float32, attn_implementation=attention)


def _load(kind: str, source: str, **how: Any) -> Any:
    """What one of the library's automatic classes makes of a source."""
    loader = getattr(_library(), kind)
    with _named(source), _quiet(source):
        return loader.from_pretrained(source, trust_remote_code=False, local_files_only=_is_folder(source), **how)


def _source(name: str) -> str:
    """The folder or hub name. A folder that is not there must not be looked for on the hub."""
    source = name.removeprefix(PREFIX)
    if _is_folder(source):
        return str(Path(source).expanduser().resolve())
    if not source or source[0] in "./~" or source.count("/") > 1:
        raise DataError(f"there is no folder {source!r} with a model in it")
    return source


def _is_folder(source: str) -> bool:
    return bool(source) and Path(source).expanduser().is_dir()


@contextmanager
def _named(source: str) -> Iterator[None]:
    """Say which model could not be loaded, and why, in one sentence."""
    try:
        yield
    except (OSError, ValueError, ImportError) as error:
        why = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        how = "" if _is_folder(source) else "; without a network, give the folder that holds it"
        raise DataError(f"cannot load the model {source!r}: {why}{how}") from error


@contextmanager
def _quiet(source: str) -> Iterator[None]:
    """Without the report that the head is new, as it is replaced; and no progress of reading a folder."""
    log = _library().utils.logging
    level, bars = log.get_verbosity(), log.is_progress_bar_enabled()
    log.set_verbosity_error()
    if _is_folder(source):
        log.disable_progress_bar()
    try:
        yield
    finally:
        log.set_verbosity(level)
        if bars:
            log.enable_progress_bar()


@cache
def _library() -> Any:
    """The library, which must not find a torchvision that does not load: it would import it and fail."""
    broken = _hide_broken_torchvision()
    try:
        import transformers
        from transformers.utils import import_utils
    except ImportError as error:
        raise missing_extra("a model of the transformers library", "vlm") from error
    if broken:  # the answer may be from before
        import_utils.is_torchvision_available.cache_clear()
        import_utils.is_torchvision_v2_available.cache_clear()
    return transformers


def _hide_broken_torchvision() -> bool:
    """Whether there was one. Python takes None among the loaded modules to mean that there is no such module."""
    if sys.modules.get("torchvision", ...) is None or importlib.util.find_spec("torchvision") is None:
        return False
    try:
        import torchvision  # noqa: F401
    except Exception:  # a build for another torch fails in many ways, RuntimeError the most frequent
        sys.modules["torchvision"] = None  # type: ignore[assignment]
        return True
    return False
