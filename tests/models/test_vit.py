"""Vision transformers: published sizes, patches that suit pictures, and the library of others as an oracle."""

import pytest
import torch

from spurgen.errors import SpecError
from spurgen.learning import MODELS, Net, Shape
from spurgen.models._vit import patch_size
from tests.models.rows import pictures


def build(name: str, size: int, classes: int = 3) -> Net:
    torch.manual_seed(0)
    return MODELS.get(name).build(Shape(classes, (3, size, size)))


def size_of(net: Net) -> int:
    return sum(p.numel() for p in net.parameters())


def test_published_sizes():
    assert size_of(build("vit_base_16", 224, classes=1000)) == 86_567_656
    assert size_of(build("vit_small", 224, classes=1000)) == 22_050_664


@pytest.mark.parametrize(
    ("size", "patch"), [(32, 4), (36, 4), (48, 4), (64, 8), (96, 8), (100, 4), (128, 16), (224, 16), (512, 16)]
)
def test_patches_suit_the_size(size, patch):
    assert patch_size(size, size) == patch


def test_sizes_that_cannot_be_cut_are_refused():
    with pytest.raises(SpecError, match=r"image\.size_px: .*66 × 66.*multiple of 4"):
        build("vit_small", 66)
    with pytest.raises(SpecError, match=r"image\.size_px"):
        build("vit_small", 28)
    with pytest.raises(SpecError, match=r"100 × 100 cannot be cut into patches of 16 × 16"):
        build("vit_base_16", 100)


def test_places_count():
    net = build("vit_small", 32).eval()
    inputs = net.inputs(pictures(2))
    with torch.no_grad():
        assert not torch.allclose(net.features(inputs), net.features(inputs.roll(8, 3)), atol=1e-4)


def test_transformers_says_the_same():
    transformers = pytest.importorskip("transformers")
    config = transformers.ViTConfig(
        hidden_size=384, num_hidden_layers=12, num_attention_heads=6, intermediate_size=1536, image_size=64,
        patch_size=8, layer_norm_eps=1e-6,
    )  # fmt: skip
    other = transformers.ViTModel(config, add_pooling_layer=False).eval()
    net = build("vit_small", 64).eval()
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.05)  # biases and the token are zero at first
        other.load_state_dict(renamed(net.state_dict(), other.state_dict()))
        inputs = net.inputs(pictures(2, 64))
        theirs = other(inputs).last_hidden_state[:, 0]
    assert torch.allclose(net.features(inputs), theirs, atol=1e-4, rtol=1e-3)


NAMES = {
    "token": "embeddings.cls_token",
    "positions": "embeddings.position_embeddings",
    "patches": "embeddings.patch_embeddings.projection",
    "before_attention": "layernorm_before",
    "before_layers": "layernorm_after",
    "layers.0": "mlp.fc1",
    "layers.2": "mlp.fc2",
    "out": "attention.o_proj",
    "norm": "layernorm",
}


def renamed(ours: dict[str, torch.Tensor], theirs: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Our weights under their names; query, key and value are three parts there."""
    found = {}
    for name, value in ours.items():
        part, _, kind = name.rpartition(".") if name.endswith((".weight", ".bias")) else (name, "", "")
        block, inner = part.split(".", 2)[1:] if part.startswith("blocks") else ("", part)
        start, end = f"layers.{block}." if block else "", f".{kind}" if kind else ""
        if inner == "query_key_value":
            for letter, third in zip("qkv", value.chunk(3), strict=True):
                found[f"{start}attention.{letter}_proj{end}"] = third
        elif inner != "head":
            found[f"{start}{NAMES[inner]}{end}"] = value
    assert found.keys() == theirs.keys()
    return found
