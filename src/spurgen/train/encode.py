"""From what rows show to what networks read: pictures as they are, captions as numbers of words."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from spurgen.errors import DataError, SpurgenError
from spurgen.learning import MODELS, Model, Shape

MOST_TOKENS = 64


def find_model(name: str) -> Model:
    """A model by its name; `hf:` and a name or path mean one of the library transformers."""
    if name.startswith("hf:"):
        from spurgen.models._transformers import model

        return model(name.removeprefix("hf:"))
    return MODELS.get(name)


class Encoder:
    """Makes tensors of the modalities that a model reads; what it needs to know of texts comes from training rows."""

    def __init__(self, model: Model, vocabulary: Any = None, tokens: int = 0):
        self.modalities = tuple(model.modality.split("+"))
        self.vocabulary = vocabulary
        self.tokens = tokens

    @classmethod
    def of(cls, model: Model, texts: Sequence[str] | None) -> Encoder:
        """The encoder for training rows with these texts."""
        if "caption" not in model.modality:
            return cls(model)
        from spurgen.models._vocabulary import Vocabulary

        vocabulary = model.texts() if model.texts is not None else Vocabulary.of(texts or ())
        wide = vocabulary.encode(list(texts or ()), MOST_TOKENS)
        used = int((wide != vocabulary.padding).any(0).nonzero()[0].max(initial=0)) + 1
        return cls(model, vocabulary, min(MOST_TOKENS, used + 4))

    @classmethod
    def restored(cls, model: Model, path: Path) -> Encoder:
        """The encoder that `words` was written by."""
        if "caption" not in model.modality:
            return cls(model)
        from spurgen.models._vocabulary import Vocabulary

        try:
            found = json.loads(path.read_text("utf-8"))
            tokens, counted = int(found["tokens"]), found["vocabulary"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise DataError(f"{path} cannot be read, and without it no text can; train again") from error
        return cls(model, model.texts() if model.texts is not None else Vocabulary.from_json(counted), tokens)

    def words(self) -> dict[str, Any] | None:
        """What a run must keep to read texts later: how many tokens, and the vocabulary if it was counted."""
        if self.vocabulary is None:
            return None
        counted = self.vocabulary.to_json() if hasattr(self.vocabulary, "to_json") else None
        return {"tokens": self.tokens, "vocabulary": counted}

    @property
    def modality(self) -> str | tuple[str, ...]:
        """What to ask of rows."""
        return self.modalities[0] if len(self.modalities) == 1 else self.modalities

    def shape(self, classes: int, size_px: int) -> Shape:
        """What a model is to be built for."""
        picture = (3, size_px, size_px) if "image" in self.modalities else ()
        text = (self.tokens,) if "caption" in self.modalities else ()
        return Shape(classes, picture + text, len(self.vocabulary) if self.vocabulary is not None else 0)

    def array(self, modality: str, content: Any) -> Any:
        """One modality of some rows as an array or tensor whose first axis is the rows."""
        if modality == "image":
            return content
        if modality == "caption":
            return self.vocabulary.encode(list(content), self.tokens)
        raise SpurgenError(f"models read images and captions, not {modality!r}")

    def raw(self, content: Any, device: torch.device) -> Any:
        """What `Net.inputs` takes, of content as `Rows.content` gives it."""
        if not isinstance(content, Mapping):
            return as_tensor(self.array(self.modalities[0], content), device)
        return {name: as_tensor(self.array(name, part), device) for name, part in content.items()}


def as_tensor(array: Any, device: torch.device) -> torch.Tensor:
    """An array of rows on the device; pictures as (rows, channels, height, width) that lie channels last."""
    found = array if isinstance(array, torch.Tensor) else torch.from_numpy(np.ascontiguousarray(array))
    found = found.to(device, non_blocking=True)
    return found.permute(0, 3, 1, 2) if found.ndim == 4 else found
