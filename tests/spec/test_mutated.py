"""Five hundred damaged specs: each is a world that can be sampled, or one clear sentence."""

import copy
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spurgen.cli import main
from spurgen.errors import SpurgenError
from spurgen.latents.audit import audit
from spurgen.latents.sample import Plan
from spurgen.render import draw
from spurgen.spec import World, load, presets
from spurgen.spec.toml import override, write
from spurgen.store.verify import verify

WORLDS = [load(name).dump() for name in presets()]
JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 5),
    st.integers(),
    st.floats(allow_nan=True, allow_infinity=True),
    st.text(max_size=12),
    st.lists(st.one_of(st.text(max_size=5), st.floats(), st.integers()), max_size=3),
    st.dictionaries(st.text(max_size=6), st.one_of(st.floats(), st.text(max_size=5)), max_size=3),
    st.sampled_from(["aligned", "hue", "mug", "", "rows", "\x00", "ä", "../x", "train"]),
)


def paths(data, here=()):
    """Every place in nested tables and lists."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield (*here, key)
        yield from paths(value, (*here, key))


def mutate(data, path, how, junk):
    *outer, last = path
    for key in outer:
        data = data[key]
    if how == "replace":
        data[last] = junk
    elif how == "delete":
        del data[last]
    elif how == "add" and isinstance(data, dict):
        data[junk if isinstance(junk, str) else "extra"] = copy.deepcopy(data[last])
    elif how == "rename" and isinstance(data, dict):
        data[f"{last}x"] = data.pop(last)
    elif how == "nudge" and isinstance(data[last], int | float):
        data[last] = data[last] * 3 - 1


@settings(max_examples=500, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_mutated_specs(data):
    spec = copy.deepcopy(data.draw(st.sampled_from(WORLDS)))
    for _ in range(data.draw(st.integers(1, 3))):
        places = list(paths(spec))
        if places:
            path = data.draw(st.sampled_from(places))
            mutate(
                spec, path, data.draw(st.sampled_from(["replace", "delete", "add", "rename", "nudge"])), data.draw(JUNK)
            )
    try:
        world = World.from_dict(spec)
        rows = min(world.rows, 400)
        plan = Plan(world, rows=rows)
        table = plan.table(range(rows))
        assert audit(table, world).rows == rows
        for modality in world.modalities:
            assert len(draw(table.slice(0, 2), world, modality)) == min(rows, 2)
        assert World.from_toml(world.to_toml()).digest() == world.digest()
    except SpurgenError as error:
        sentence = str(error)
        assert sentence and "\n" not in sentence.strip() and "Traceback" not in sentence
        assert len(sentence) < 600


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_mutated_specs_on_the_command_line(data):
    spec = copy.deepcopy(data.draw(st.sampled_from(WORLDS)))
    place = data.draw(st.sampled_from(list(paths(spec))))
    mutate(
        spec,
        place,
        data.draw(st.sampled_from(["replace", "delete", "rename", "nudge"])),
        data.draw(st.text(max_size=6)),
    )
    with tempfile.TemporaryDirectory() as folder:
        file, out = Path(folder) / "spec.toml", Path(folder) / "out"
        file.write_text(write(spec))
        words = ["generate", str(file), "--out", str(out), "--rows", "120", "--quiet"]
        with pytest.raises(SystemExit) as end:
            main(words + ([] if "image" not in spec.get("modalities", ["image"]) else ["--set", "image.size_px=32"]))
        assert end.value.code in (0, 1)
        if end.value.code == 0:
            assert not verify(out)
        else:
            assert not (out / "data").exists()


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=30), JUNK)
def test_any_override_is_applied_or_explained(text, junk):
    data = copy.deepcopy(WORLDS[0])
    try:
        override(data, f"{text}={junk}")
        World.from_dict(data)
    except SpurgenError:
        pass


@settings(max_examples=200, deadline=None)
@given(
    st.recursive(
        st.one_of(st.booleans(), st.integers(-(2**62), 2**62), st.floats(allow_nan=False), st.text(max_size=8)),
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=6), inner, max_size=4)),
        max_leaves=12,
    )
)
def test_toml_is_written_as_it_is_read(value):
    import tomllib

    data = {"key": value, "table": {"inner": {"deep": value}}}
    again = tomllib.loads(write(data))
    assert again == data
    assert repr(again["table"]) == repr(data["table"]), "order survives within tables"
