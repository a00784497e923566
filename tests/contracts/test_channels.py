"""Every channel in every modality: a counterfactual changes what it should and draws nothing else anew."""

import pkgutil
from functools import cache

import numpy as np
import pytest

import spurgen.channels
import spurgen.render
from spurgen.latents import intervene
from spurgen.latents.sample import sample
from spurgen.parts import Constant
from spurgen.render import draw
from spurgen.spec import World
from spurgen.spec.known import CHANNELS, MODALITIES


def offered(registry, package):
    """What comes with the package or is installed beside it; not what other tests have made known."""
    home = package.__file__.removesuffix("__init__.py")
    found = {m.name for m in pkgutil.iter_modules([home]) if not m.name.startswith("_")}
    return sorted(found | set(registry._entry_points()))


ALL = offered(CHANNELS, spurgen.channels)
MODES = offered(MODALITIES, spurgen.render)
# other channels that vary beside the one that is looked at; none of them hides or smears what is compared
COMPANY = (
    *("background", "hue", "light", "material", "floor", "position", "size", "elevation", "shadow"),
    *("medium", "template", "object_word"),
)
ROWS = 30


def traits_of(name):
    return {trait for value in CHANNELS.get(name).values.values() for trait in value.traits}


@cache
def world(*wanted):
    """A world with these channels, but for those that set a trait which one before them sets; and some rows of it."""
    names, taken = [], set()
    for name in wanted:
        if name not in names and not traits_of(name) & taken:
            names.append(name)
            taken |= traits_of(name)
    spec = World.from_dict(
        {
            "id": "everything/v1",
            "classes": ["mug", "heart", "star", "chair", "dumbbell", "mushroom", "hourglass", "arrow", "torus", "jack"],
            "rows": ROWS,
            "modalities": MODES,
            "image": {"size_px": 64},
            "splits": {"train": {"share": 1.0, "environments": ["even"]}},
            "channels": {name: {} for name in names},
            "environments": {"even": {}},
        }
    )
    return spec, sample(spec)


@pytest.mark.parametrize("name", ALL)
def test_channels_are_described(name):
    channel = CHANNELS.get(name)
    assert channel.name == name
    assert channel.about and len(channel.values) >= 2
    assert all(value.word for value in channel.values.values())
    known = {t.name: t for m in MODES for t in MODALITIES.get(m).traits}
    for value in channel.values.values():
        assert set(value.traits) <= set(known)
    words = [v.word for v in channel.values.values()]
    assert len(set(words)) == len(words), "two values that are called the same cannot be told apart in captions"


@pytest.mark.parametrize("name", [n for n in ALL if "image" in CHANNELS.get(n).touches])
def test_pictures_change_where_the_channel_touches_them(name):
    spec, table = world(name, *COMPANY)
    values = spec.values(name)
    drawn = draw(intervene.every_value(table, spec, name), spec, "image", truth=True)
    shape = (len(table), len(values))
    image = drawn.image.reshape(*shape, *drawn.image.shape[1:])
    mask = drawn.mask.reshape(*shape, *drawn.mask.shape[1:])
    changed = (image != image[:, :1]).any(-1)
    assert changed[:, 1:].any((2, 3)).mean() > 0.9, "nearly every value must show in nearly every row"
    size = image.shape[2]
    y, x = np.mgrid[:size, :size]
    region = CHANNELS.get(name).touches["image"]
    if region == "object":
        assert (mask == mask[:, :1]).all()
        assert not (changed & (mask == 0)).any()
    elif region == "surroundings":
        assert not (changed & (mask == 255) & (mask[:, :1] == 255)).any()
    elif region == "corner":
        corners = [
            across & down for across in (x < 0.3 * size, x > 0.7 * size) for down in (y < 0.3 * size, y > 0.7 * size)
        ]
        assert any(not (changed & ~corner).any() for corner in corners), "one corner, the same in every row"
    elif region == "border":
        inside = (np.minimum(x, size - 1 - x) > 0.13 * size) & (np.minimum(y, size - 1 - y) > 0.13 * size)
        assert not (changed & inside).any()
    else:
        assert region == "everywhere"


@pytest.mark.parametrize("name", [n for n in ALL if "image" not in CHANNELS.get(n).touches])
def test_channels_of_words_leave_pictures_alone(name):
    spec, table = world(name, *COMPANY)
    few = table.slice(0, 4)
    drawn = draw(intervene.every_value(few, spec, name), spec, "image")
    drawn = drawn.reshape(4, -1, *drawn.shape[1:])
    assert (drawn == drawn[:, :1]).all()


@pytest.mark.parametrize("name", ALL)
def test_captions_say_the_same_of_every_other_channel(name):
    spec, table = world(name, *COMPANY)
    values = spec.values(name)
    captions = draw(intervene.every_value(table, spec, name), spec, "caption")
    for row in range(len(table)):
        said = [facts(captions, row * len(values) + v, without={name, "claim"}) for v in range(len(values))]
        if name == "claim":
            continue
        assert all(s == said[0] for s in said)


def facts(captions, i, without):
    """What a caption says: (of what, what), the order aside."""
    one = captions[i : i + 1]
    spans = (
        one.encode_spans()
        if hasattr(one, "encode_spans")
        else MODALITIES.get("caption").encode(one)["caption_spans"].to_pylist()[0]
    )
    return sorted((s["refers_to"], s["value"]) for s in spans if s["refers_to"] not in without)


@pytest.mark.parametrize("modality", MODES)
def test_rows_do_not_know_of_each_other(modality):
    spec, table = world(*ALL)
    part = MODALITIES.get(modality)
    order = np.random.default_rng(0).permutation(len(table))
    together = draw(table, spec, modality)
    mixed = draw(table.take(order), spec, modality)
    for at, row in enumerate(order):
        assert part.content(mixed, at) == part.content(together, int(row))
    alone = draw(table.slice(3, 1), spec, modality)
    assert part.content(alone, 0) == part.content(together, 3)


@pytest.mark.parametrize("modality", MODES)
def test_what_is_stored_is_what_was_drawn(modality):
    spec, table = world(*ALL)
    part = MODALITIES.get(modality)
    batch = draw(table, spec, modality)
    again = part.decode(part.encode(batch))
    assert [part.content(again, i) for i in range(len(table))] == [part.content(batch, i) for i in range(len(table))]
    assert set(part.encode(batch)) == set(part.columns)


@pytest.mark.parametrize("modality", MODES)
def test_modalities_are_described(modality):
    part = MODALITIES.get(modality)
    assert part.name == modality and part.about and part.version >= 1
    names = [t.name for t in part.traits]
    assert len(set(names)) == len(names)
    for trait in part.traits:
        assert trait.about
        if isinstance(trait.distribution, Constant) and isinstance(trait.distribution.value, str):
            assert trait.distribution.value in trait.names
    for name, field in part.options.model_fields.items():
        assert field.description, f"{modality}.{name} has no explanation"
