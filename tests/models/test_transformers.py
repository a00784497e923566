"""Models of the library transformers, from folders with tiny random weights: the same code reads names on the hub."""

import json

import numpy as np
import pytest
import torch

transformers = pytest.importorskip("transformers")

from spurgen.errors import DataError, SpecError, SpurgenError  # noqa: E402
from spurgen.evaluate import Plan, evaluate  # noqa: E402
from spurgen.learning import Shape  # noqa: E402
from spurgen.store.writer import build  # noqa: E402
from spurgen.train import load_run, train  # noqa: E402
from spurgen.train.encode import find_model  # noqa: E402
from tests.train.conftest import world  # noqa: E402

SMALL = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "photo", "of", "mug", "heart", "star", "with", "background", "red"]


def saved(net, folder):
    net.eval().save_pretrained(folder)
    return folder


def picture_model(kind, folder):
    torch.manual_seed(0)
    if kind == "vit":
        config = transformers.ViTConfig(**SMALL, image_size=48, patch_size=16, num_labels=5)
        net = transformers.ViTForImageClassification(config)
    else:
        config = transformers.ResNetConfig(
            embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic", num_labels=5
        )
        net = transformers.ResNetForImageClassification(config)
    processor = {
        "image_processor_type": "ViTImageProcessor", "do_resize": True, "size": {"height": 48, "width": 48},
        "resample": 2, "do_rescale": True, "rescale_factor": 1 / 255, "do_normalize": True,
        "image_mean": [0.5, 0.4, 0.3], "image_std": [0.2, 0.3, 0.4],
    }  # fmt: skip
    saved(net, folder)
    (folder / "preprocessor_config.json").write_text(json.dumps(processor))
    return net


def text_model(kind, folder, **how):
    torch.manual_seed(0)
    folder.mkdir(exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(WORDS))
    transformers.BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    if kind == "bert":
        config = transformers.BertConfig(vocab_size=len(WORDS), num_labels=4, **SMALL)
        net = transformers.BertForSequenceClassification(config)
    elif kind == "distilbert":
        config = transformers.DistilBertConfig(
            vocab_size=len(WORDS), dim=16, hidden_dim=32, n_layers=2, n_heads=2, num_labels=4
        )
        net = transformers.DistilBertForSequenceClassification(config)
    else:
        config = transformers.GPT2Config(
            vocab_size=len(WORDS), n_embd=16, n_layer=2, n_head=2, num_labels=4, pad_token_id=0, bos_token_id=2,
            eos_token_id=3,
        )  # fmt: skip
        net = transformers.GPT2ForSequenceClassification(config)
    net.eval().save_pretrained(folder, **how)
    return net


@pytest.mark.parametrize("kind", ["vit", "resnet"])
def test_a_picture_classifier_keeps_all_but_its_last_layer(kind, tmp_path):
    whole = picture_model(kind, tmp_path / "m").eval()
    model = find_model(f"hf:{tmp_path / 'm'}")
    assert model.modality == "image" and model.texts is None
    net = model.build(Shape(3, (3, 32, 32))).eval()
    assert net.head.out_features == 3
    raw = torch.randint(0, 256, (2, 3, 48, 48), dtype=torch.uint8)
    mean, std = (torch.tensor(v).view(1, 3, 1, 1) for v in ([0.5, 0.4, 0.3], [0.2, 0.3, 0.4]))
    with torch.no_grad():
        # x / 255, less the mean, over the deviation: what the image processor says
        expected = whole(pixel_values=(raw / 255 - mean) / std).logits
        last = whole.classifier if kind == "vit" else whole.classifier[-1]
        assert torch.allclose(last(net.features(net.inputs(raw))), expected, atol=1e-5)
        assert net.inputs(raw[..., :32, :32]).shape == (2, 3, 48, 48), "brought to the size that the weights know"


@pytest.mark.parametrize("kind", ["bert", "distilbert"])
def test_a_text_classifier_reads_with_its_own_tokenizer(kind, tmp_path):
    whole = text_model(kind, tmp_path / "m").eval()
    model = find_model(f"hf:{tmp_path / 'm'}")
    assert model.modality == "caption"
    tokens = model.texts()
    numbers = tokens.encode(["A photo of a mug", "a red unheard star with a background"], 8)
    # [CLS] a photo of a mug [SEP] [PAD]; what is too long loses its end but keeps its last mark
    assert numbers[0].tolist() == [2, 4, 5, 6, 4, 7, 3, 0] and numbers[1].tolist() == [2, 4, 12, 1, 9, 10, 4, 3]
    net = model.build(Shape(3, (8,), len(tokens))).eval()
    raw = torch.from_numpy(numbers)
    with torch.no_grad():
        expected = whole(input_ids=raw, attention_mask=(raw != 0).long()).logits
        assert torch.allclose(whole.classifier(net.features(net.inputs(raw))), expected, atol=1e-5)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    out = tmp_path_factory.mktemp("data") / "d"
    build(world(), out)
    return out


@pytest.mark.parametrize("kind", ["vit", "bert"])
def test_it_is_trained_kept_opened_and_scored(kind, data, tmp_path):
    (picture_model if kind == "vit" else text_model)(kind, tmp_path / "m")
    how = {"options": {"steps": 6, "batch_size": 16}}
    run = train(data, "erm", f"hf:{tmp_path / 'm'}", tmp_path / "run", **how)
    again = load_run(tmp_path / "run")
    assert again.encoder.tokens == run.encoder.tokens
    state = again.learner.state_dict()
    assert all(torch.equal(value, state[name]) for name, value in run.learner.state_dict().items())
    first, second = (evaluate(r, data, plan=Plan(1), out=tmp_path / o) for r, o in ((run, "a"), (again, "b")))
    assert first["metrics"] == second["metrics"] and np.isfinite(first["metrics"]["cross_entropy"])


def test_a_folder_that_has_changed_is_another_model(data, tmp_path, monkeypatch):
    text_model("bert", tmp_path / "m")
    monkeypatch.chdir(tmp_path)
    how = {"options": {"steps": 2, "batch_size": 16}}
    run = train(data, "erm", "hf:./m", "run", **how)
    assert run.about["model"] == f"hf:{tmp_path.resolve() / 'm'}"
    monkeypatch.chdir("/")
    load_run(tmp_path / "run")
    (tmp_path / "m/vocab.txt").write_text("\n".join(reversed(WORDS)))
    with pytest.raises(DataError, match="are others than those that"):
        load_run(tmp_path / "run")


def refused(name, sentence, kind=SpurgenError):
    with pytest.raises(kind, match=sentence) as raised:
        find_model(name).build(Shape(3, (8,), len(WORDS)))
    assert "\n" not in str(raised.value)


def test_what_cannot_be_used_is_refused_in_a_sentence(tmp_path):
    refused(f"hf:{tmp_path / 'nothing'}", "there is no folder", DataError)
    refused("hf:", "there is no folder", DataError)
    (tmp_path / "empty").mkdir()
    refused(f"hf:{tmp_path / 'empty'}", "cannot load the model", DataError)
    text_model("gpt2", tmp_path / "gpt2")
    refused(f"hf:{tmp_path / 'gpt2'}", "is no encoder with one linear last layer", SpecError)
    saved(transformers.BertModel(transformers.BertConfig(vocab_size=8, **SMALL)), tmp_path / "t5")
    config = json.loads((tmp_path / "t5/config.json").read_text()) | {"model_type": "t5gemma-nonsense"}
    (tmp_path / "t5/config.json").write_text(json.dumps(config))
    refused(f"hf:{tmp_path / 't5'}", "cannot load the model", DataError)


def test_pickled_weights_are_not_read(tmp_path):
    net = text_model("bert", tmp_path / "m")
    (tmp_path / "m/model.safetensors").unlink()
    torch.save(net.state_dict(), tmp_path / "m/pytorch_model.bin")
    refused(f"hf:{tmp_path / 'm'}", "cannot load the model.*safetensors", DataError)


@pytest.mark.parametrize("where", ["config.json", "model.safetensors.index.json", "adapter_config.json"])
def test_other_ways_to_a_pickle_are_closed(tmp_path, where):
    text_model("bert", tmp_path / "m")
    config = json.loads((tmp_path / "m/config.json").read_text())
    (tmp_path / "m" / where).write_text(json.dumps(config | {"transformers_weights": "adapter_model.bin"}))
    refused(f"hf:{tmp_path / 'm'}", "cannot load the model.*(only model.safetensors|adapter)", DataError)


def test_code_that_comes_with_a_model_is_not_run(tmp_path):
    text_model("bert", tmp_path / "m")
    (tmp_path / "m/evil.py").write_text(f"open({str(tmp_path / 'was run')!r}, 'w')\nclass Evil: pass\n")
    config = json.loads((tmp_path / "m/config.json").read_text())
    config |= {"model_type": "evil", "auto_map": {"AutoConfig": "evil.Evil"}}
    (tmp_path / "m/config.json").write_text(json.dumps(config))
    refused(f"hf:{tmp_path / 'm'}", "cannot load the model", DataError)
    assert not (tmp_path / "was run").exists()
