"""Classifiers of the `transformers` library behind the contract of `Net`: pictures or texts to features to scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from spurgen.errors import DataError, SpecError
from spurgen.learning import Net, Shape
from spurgen.models._pictures import floating, resized
from spurgen.models._text import attention_bias, parted, with_presence

MODES = {2: "bilinear", 3: "bicubic"}  # PIL's numbers, which image processors use


class Scaling(NamedTuple):
    """What is done to pictures before the network sees them. `size` is (height, width); None keeps what they have."""

    size: tuple[int, int] | None
    mode: str
    mean: tuple[float, ...]
    std: tuple[float, ...]

    @classmethod
    def of(cls, processor: Mapping[str, Any]) -> Scaling:
        """The scaling of an image processor's settings; mean and deviation are of levels from 0 to 255.

        A centre crop becomes a resize to the crop's size: it exists for photographs that are not square, and would
        cut off the channels that are drawn at the border.
        """
        size = processor.get("crop_size") if processor.get("do_center_crop") else None
        size = _size(size or processor.get("size")) if processor.get("do_resize", True) else None
        factor = processor.get("rescale_factor", 1 / 255) if processor.get("do_rescale", True) else 1.0
        mean, std = processor.get("image_mean"), processor.get("image_std")
        if not processor.get("do_normalize", True):
            mean, std = [0.0], [1.0]
        if mean is None or std is None:
            raise DataError("the image processor does not say which mean and deviation its pictures have")
        mode = MODES.get(processor.get("resample", 2), "bilinear")
        return cls(size, mode, tuple(m / factor for m in mean), tuple(s / factor for s in std))


class HubNet(Net):
    """A classifier whose last layer is replaced: `body` gives what that layer was given."""

    body: Any

    def own(self, raw: Tensor) -> Tensor:
        """The scores as the library computes them, for comparison."""
        raise NotImplementedError

    def rows(self, shape: Shape) -> Tensor:
        """A few stored rows of any content, to compare with."""
        raise NotImplementedError

    def take_head_off(self) -> nn.Linear:
        """The last linear layer with as many outputs as there are labels; what it was given is passed on instead."""
        labels = self.body.config.num_labels
        parts = self.body.named_modules()
        found = [(n, p) for n, p in parts if isinstance(p, nn.Linear) and p.out_features == labels]
        if not found:
            raise SpecError("model", f"{type(self.body).__name__} has no linear last layer that could be replaced")
        name, head = found[-1]
        parent, _, child = name.rpartition(".")
        setattr(self.body.get_submodule(parent), child, nn.Identity())
        return head


class PictureNet(HubNet):
    """A picture classifier."""

    mean: Tensor
    std: Tensor

    def __init__(self, body: Any, scaling: Scaling):
        super().__init__()
        self.body, self.scaling = body, scaling
        for name, values in (("mean", scaling.mean), ("std", scaling.std)):
            # Buffers go with the network to its device; these are no part of what is learned.
            self.register_buffer(name, torch.tensor(values).view(1, -1, 1, 1), persistent=False)

    def inputs(self, raw: Tensor) -> Tensor:
        """Pictures of the size and with the mean and deviation that the weights know."""
        levels = floating(raw)
        if self.scaling.size is not None:
            levels = resized(levels, *self.scaling.size, self.scaling.mode)
        # Bicubic interpolation overshoots; PIL, with which the weights were trained, cuts that off.
        return (levels.clamp(0, 255) - self.mean) / self.std

    def features(self, inputs: Tensor) -> Tensor:
        """What the last layer was given."""
        states: Tensor = self.body(pixel_values=inputs).logits
        return states

    def own(self, raw: Tensor) -> Tensor:
        """The scores."""
        return self.features(self.inputs(raw))

    def rows(self, shape: Shape) -> Tensor:
        """Two pictures of stripes."""
        count = 2 * int(torch.tensor(shape.row).prod())
        return (torch.arange(count) * 37 % 256).to(torch.uint8).view(2, *shape.row)


class TextNet(HubNet):
    """A text classifier. `partly`: tokens can be there in part; else those that are there in part count in full."""

    def __init__(self, body: Any, padding: int):
        super().__init__()
        self.body, self.padding, self.partly = body, padding, True

    def inputs(self, raw: Tensor) -> Tensor:
        """Embeddings of the tokenizer's numbers, and which of them are no padding."""
        return with_presence(self.body.get_input_embeddings()(raw), raw != self.padding)

    def features(self, inputs: Tensor) -> Tensor:
        """What the last layer was given."""
        states, there = parted(inputs)
        # Most models add a mask of four dimensions to attention as it is.
        mask = attention_bias(there) if self.partly else (there > 0).long()
        features: Tensor = self.body(inputs_embeds=states, attention_mask=mask).logits
        return features

    def own(self, raw: Tensor) -> Tensor:
        """The scores from token numbers."""
        scores: Tensor = self.body(input_ids=raw, attention_mask=(raw != self.padding).long()).logits
        return scores

    def rows(self, shape: Shape) -> Tensor:
        """A full text, half a text, and one of a single token."""
        (tokens,) = shape.row
        numbers = torch.arange(3 * tokens) % self.body.get_input_embeddings().num_embeddings
        numbers = numbers.where(numbers != self.padding, self.padding + (1 if self.padding == 0 else -1))
        there = torch.arange(tokens) < torch.tensor([[tokens], [max(1, tokens // 2)], [1]])
        return numbers.view(3, tokens).where(there, self.padding)


def with_new_head(net: HubNet, shape: Shape) -> Net:
    """The network with another last layer, once it is shown that nothing else is lost.

    Features times the old last layer must be the scores that the library gets in its own way. Decoders fail that: they
    read texts at their last token, which they do not find without the token numbers.
    """
    raw = net.rows(shape)
    net.eval()
    try:
        with torch.no_grad():
            want = net.own(raw)
            old = net.take_head_off()
            same = _same(net, old, raw, want)
            if not same and isinstance(net, TextNet):
                net.partly = False
                same = _same(net, old, raw, want)
    except (AttributeError, IndexError, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
        why = (str(error).splitlines() or [type(error).__name__])[0]
        raise SpecError("model", f"{type(net.body).__name__} cannot read rows of {shape.row}: {why}") from error
    if not same:
        raise SpecError("model", f"{type(net.body).__name__} is no encoder with one linear last layer; take another")
    net.width = old.in_features
    net.head = nn.Linear(net.width, shape.classes)
    return net.train()


def _same(net: Net, head: nn.Linear, raw: Tensor, want: Tensor) -> bool:
    features = net.features(net.inputs(raw))
    if features.shape != (len(raw), head.in_features):
        return False
    return bool((head(features) - want).abs().max() <= 1e-3 * want.abs().max() + 1e-6)


def _size(size: Any) -> tuple[int, int] | None:
    """(height, width) of whatever an image processor calls a size."""
    if isinstance(size, int):
        return size, size
    if not isinstance(size, Mapping):
        return None
    if "height" in size:
        return int(size["height"]), int(size["width"])
    edge = size.get("shortest_edge")
    return None if edge is None else (int(edge), int(edge))
