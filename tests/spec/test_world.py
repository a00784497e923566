"""Specs: what is wrong is one sentence with the path of the field and the nearest name; what is right survives TOML."""

import pytest
from tests.worlds import small, world

from spurgen.errors import SpecError, SpurgenError, UnknownName
from spurgen.latents.sample import Plan
from spurgen.spec import World, load, preset_text, presets

ALIGNED = {"coupling": "aligned", "p": 0.9}

WRONG = [
    ({"clases": ["mug"]}, "^clases: is not a field of the spec; did you mean 'classes'"),
    ({"rows": "many"}, "^rows: is 'many'; it must be a whole number"),
    ({"rows": 0}, "^rows: is 0; it must be above 0"),
    ({"rows": True}, "^rows: is True; it must be a whole number"),
    ({"id": "no version"}, "^id: is 'no version'; write it as name/v1"),
    ({"sampling": "qota"}, "^sampling: is 'qota'.*did you mean 'quota'"),
    ({"classes": []}, "^classes: is empty"),
    ({"classes": ["mug"]}, "^classes: names one class only"),
    ({"classes": ["mug", "mug"]}, "^classes: names 'mug' twice"),
    ({"classes": ["mug", "haert"]}, "^classes: there is no class 'haert'; did you mean 'heart'"),
    ({"class_shares": {"mug": 1.0}}, "^class_shares: has no entry for class 'heart'"),
    ({"modalities": ["imge"]}, "^modalities: there is no modality 'imge'; did you mean 'image'"),
    ({"image__size": 64}, "^image.size: is not a field of the spec; did you mean 'size_px'"),
    ({"image__size_px": 7}, "^image.size_px: is 7; it must be at least 32"),
    ({"splits": {}}, "^splits: is empty"),
    ({"splits__train__share": 0.5}, "^splits: the shares sum to 0.75; they must sum to 1"),
    ({"splits__train__share": -0.1}, "^splits.train.share: is -0.1; it must be at least 1e-06"),
    (
        {"splits__train__environments": ["storng"]},
        "^splits.train.environments: there is no environment 'storng'.*'strong'",
    ),
    ({"splits__train__environments": []}, "^splits.train.environments: is empty"),
    ({"splits__train__environments": ["weak", "weak"]}, "^splits.train.environments: names 'weak' twice"),
    ({"channels__bakground": {}}, "^channels.bakground: there is no channel 'bakground'; did you mean 'background'"),
    ({"channels__hue__values": ["red", "blu"]}, "^channels.hue.values: there is no value 'blu'; did you mean 'blue'"),
    ({"channels__hue__values": []}, "^channels.hue.values: is empty"),
    ({"channels__hue__value": []}, "^channels.hue.value: is not a field of the spec; did you mean 'values'"),
    ({"channels__hue__aligned": {"mug": "purple"}}, "^channels.hue.aligned: there is no value 'purple'"),
    ({"channels__label": {"values": {"a": {}}}}, "^channels.label: 'label' is kept for columns"),
    ({"channels__hue_shown": {"values": {"a": {}}}}, "^channels.hue_shown: 'hue_shown' is kept for columns"),
    ({"channels__caption": {"values": {"a": {}}}}, "^channels.caption: 'caption' is the column of a modality"),
    ({"splits__all": {"share": 0.1, "environments": ["even"]}, "splits__train__share": 0.65}, "^splits.all: "),
    ({"class_shares": {"mug": float("inf"), "heart": 1.0, "star": 1.0}}, "^class_shares.mug: is inf; it must be"),
    ({"class_shares": {"mug": 1e308, "heart": 1.0, "star": 1.0}}, "^class_shares.mug: is 1e.308; it must be at most"),
    (
        {"splits__train__environments": {"weak": 1e-20}},
        "^splits.train.environments.weak: is 1e-20; it must",
    ),
    ({"nuisances": {"hue_jitter_degrees": [0.0, 1e300]}}, "^nuisances.hue_jitter_degrees: is 1e.300; it must lie"),
    ({"rows": 2**41}, "^rows: is 2199023255552; it must be at most 1099511627776"),
    ({"channels__tint": {"values": {"a": {"hue_degrees": 5}}}}, "^channels.tint: sets the trait 'hue_degrees'.*'hue'"),
    (
        {"channels__tint": {"values": {"a": {"hue_degreez": 5}}}},
        "^channels.tint.values.a.hue_degreez: there is no trait",
    ),
    ({"channels__tint": {"values": {"a": {}}}}, "^channels.tint: shows in none of the modalities"),
    (
        {"channels__tilt": {"values": {"a": {"pose_roll_degrees": "up"}}}},
        "tilt.values.a.pose_roll_degrees: is 'up'; it must be a finite",
    ),
    (
        {"channels__tilt": {"values": {"a": {"pose_roll_degrees": 9}, "b": {"shadow": "hard"}}}},
        "does not set pose_roll_degrees",
    ),
    (
        {"channels__tint": {"values": {"a": {"material": "mat"}}}},
        "^channels.tint.values.a.material.*did you mean 'matte'",
    ),
    ({"environments": {}}, "^environments: is empty"),
    ({"environments__weak__hu": ALIGNED}, "^environments.weak: there is no channel 'hu'; did you mean 'hue'"),
    (
        {"environments__weak__hue": {"coupling": "alined", "p": 1.0}},
        "^environments.weak.hue: there is no coupling 'alined'.*'aligned'",
    ),
    ({"environments__weak__hue": {"p": 1.0}}, "^environments.weak.hue: needs a coupling"),
    (
        {"environments__weak__hue": {"coupling": "aligned", "p": 1.5}},
        "^environments.weak.hue.p: is 1.5; it must be at most 1",
    ),
    (
        {"environments__weak__hue": {"coupling": "aligned", "p": "high"}},
        "^environments.weak.hue.p: is 'high'; it must be a number",
    ),
    (
        {"environments__weak__hue": {"coupling": "aligned", "q": 1.0}},
        "^environments.weak.hue.q: is not a field.*(did you mean|known here)",
    ),
    ({"environments__weak__hue": {"coupling": "aligned"}}, "^environments.weak.hue.p: is missing"),
    (
        {"environments__weak__hue": {"coupling": "aligned", "p": [0.5]}},
        "^environments.weak.hue.p: has 1 entries for 3 classes",
    ),
    (
        {"environments__weak__hue": {"coupling": "given", "channel": "lihgt", "p": 0.5}},
        "^environments.weak.hue.channel: there is no channel",
    ),
    (
        {"environments__weak__hue": {"coupling": "given", "channel": "hue", "p": 0.5}},
        "^environments.weak.hue: .*circle: hue → hue",
    ),
    (
        {"environments__strong__background": {"coupling": "given", "channel": "hue", "p": 0.5}},
        "circle: background → hue → background",
    ),
    ({"nuisances": {"pose_yaw": 3.0}}, "^nuisances.pose_yaw: there is no trait 'pose_yaw'; did you mean"),
    ({"nuisances": {"hue_degrees": 3.0}}, "^nuisances.hue_degrees: follows channel 'hue'"),
    ({"nuisances": {"shape": "mug"}}, "^nuisances.shape: follows the class"),
    ({"nuisances": {"pose_yaw_degrees": [5.0, 1.0]}}, "^nuisances.pose_yaw_degrees: is .*a range is"),
    ({"nuisances": {"pose_yaw_degrees": float("nan")}}, "^nuisances.pose_yaw_degrees: is nan; it must be a finite"),
    ({"nuisances": {"material": ["plastic", "gold"]}}, "^nuisances.material: there is no material 'gold'"),
    ({"noise": {"core": 2.0}}, "^noise.core: is 2.0; it must be at most 1"),
    ({"noise": {"signal": {"hu": 0.1}}}, "^noise.signal: there is no channel 'hu'; did you mean 'hue'"),
    ({"noise": {"splits": ["trian"]}}, "^noise.splits: there is no split 'trian'; did you mean 'train'"),
]


@pytest.mark.parametrize(("changes", "sentence"), WRONG, ids=[str(i) for i in range(len(WRONG))])
def test_what_is_wrong_is_said_in_one_sentence(changes, sentence):
    with pytest.raises(SpecError, match=sentence) as caught:
        World.from_dict(small(**changes))
    assert "\n" not in str(caught.value)


def test_quotas_that_cannot_be_met():
    with pytest.raises(SpecError, match=r"rows: 5 rows leave split .* ask for at least 12 rows"):
        Plan(world(), rows=5)
    Plan(world(sampling="iid"), rows=5)


@pytest.mark.parametrize("name", presets())
def test_presets_load_and_survive_toml(name):
    spec = load(name)
    again = World.from_toml(spec.to_toml())
    assert again.digest() == spec.digest()
    assert again.dump() == spec.dump()
    assert Plan(again).table(range(7)).equals(Plan(spec).table(range(7)))
    assert preset_text(name).startswith("#"), "a preset explains itself"


def test_names_of_presets_match_their_ids():
    assert all(load(name).id == name for name in presets())


def test_overrides():
    spec = load("quick/v1", ["environments.strong.hue.p=0.7", "rows=500", "image.size_px=32"])
    assert spec.environments["strong"]["hue"].p == 0.7
    assert spec.rows == 500
    assert spec.options("image").size_px == 32
    with pytest.raises(SpecError, match="write it as KEY=VALUE"):
        load("quick/v1", ["rows"])
    with pytest.raises(SpecError, match="rows: is not a table"):
        load("quick/v1", ["rows.x=1"])


def test_unknown_presets_and_files(tmp_path):
    with pytest.raises(UnknownName, match="did you mean 'quick/v1'"):
        load("quik/v1")
    with pytest.raises(SpecError, match="there is no file"):
        load(tmp_path / "none.toml")
    with pytest.raises(SpurgenError, match="is a directory"):
        load(tmp_path)
    broken = tmp_path / "broken.toml"
    broken.write_text("id = ")
    with pytest.raises(SpecError, match="not valid TOML"):
        load(broken)
    broken.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SpecError, match="not a text file"):
        load(broken)


def test_digest_covers_what_determines_rows_and_nothing_else():
    base = world().digest()
    assert world(description="other words").digest() == base
    assert world(rows=241).digest() == base, "rows and seed stand beside the digest"
    assert world(splits__train__environments={"weak": 1.0, "strong": 2.0}).digest() == base
    assert world(channels__hue__aligned={"mug": "red"}).digest() == base
    assert world(noise={"signal": {"hue": 0.0}}).digest() == base
    assert world(noise={"signal": {"hue": 0.1}}).digest() != base
    assert world(image__size_px=48).digest() != base
    assert world(channels__hue__values=["green", "red", "blue", "pink"]).digest() != base
    assert world(environments__strong__background={"coupling": "aligned", "p": 0.8}).digest() != base
    swapped = small()
    swapped["splits"] = dict(reversed(list(swapped["splits"].items())))
    assert World.from_dict(swapped).digest() != base


def test_a_channel_of_ones_own_needs_no_code():
    spec = world(
        channels__tilt={
            "values": {"left": {"pose_roll_degrees": -30, "word": "leaning left"}, "right": {"pose_roll_degrees": 30}},
            "says": "adjective",
        },
        environments__weak__tilt=ALIGNED,
    )
    assert spec.values("tilt") == ("left", "right")
    assert spec.channel("tilt").values["left"].word == "leaning left"
    table = Plan(spec).table(range(20))
    assert "tilt" in table.column_names and "pose_roll_degrees" not in table.column_names


def test_values_may_be_borrowed_in_a_table():
    spec = world(channels__hue__values={"red": {}, "teal2": {"hue_degrees": 170}, "blue": {"word": "navy"}, "pink": {}})
    values = spec.channel("hue").values
    assert values["red"].word == "red" and values["red"].traits["hue_degrees"] == 0
    assert values["blue"].word == "navy" and values["blue"].traits["hue_degrees"] > 200
    assert values["teal2"].word == "teal2"
