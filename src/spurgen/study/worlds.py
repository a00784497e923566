"""The worlds of a study and their variants: another strength, a channel that tells nothing, any edit of the spec."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from spurgen.errors import SpecError, unknown
from spurgen.spec import World, load
from spurgen.spec.toml import override, write
from spurgen.study.spec import AblationSpec, StudySpec, WorldSpec

TRAIN, VAL, TEST = "train", "val", "test"  # the splits that a study learns from, chooses by and scores on


class Variant(NamedTuple):
    """A world as it is run. `ablation` and `variant` are empty for the world as it is."""

    world: str
    ablation: str
    variant: str
    spec: World
    rows: int


def variants(study: StudySpec, folder: Path | None) -> list[Variant]:
    """All worlds of a study, each as it is and with every ablation; paths are seen from `folder`."""
    found = []
    for name, given in study.worlds.items():
        base = _world(name, given, folder)
        if study.unchanged:
            found.append(Variant(name, "", "", base, given.rows or base.rows))
        for ablation, asked in study.ablations.items():
            for words, data in _edited(base, ablation, asked):
                try:
                    spec = World.from_dict(data)
                except SpecError as error:
                    raise SpecError(f"ablations.{ablation}", f"{words} of the world {name!r}: {error}") from None
                found.append(Variant(name, ablation, words, spec, given.rows or spec.rows))
    return found


def _world(name: str, given: WorldSpec, folder: Path | None) -> World:
    where: str | Path = given.spec
    if given.spec.endswith(".toml") and folder is not None:
        where = folder / given.spec
    try:
        spec = load(where)
        spec = World.from_dict(_set(spec, given.set)) if given.set else spec
    except SpecError as error:
        raise SpecError(f"worlds.{name}", str(error)) from None
    for split in (TRAIN, TEST):
        if split not in spec.splits:
            raise SpecError(f"worlds.{name}", f"{spec.id} has no split {split!r}; a study trains on it")
    return spec


def _edited(base: World, name: str, asked: AblationSpec) -> Iterator[tuple[str, dict[str, Any]]]:
    """(what the variant is called, its spec as plain data)."""
    path = f"ablations.{name}"
    if asked.p is not None:
        for p in asked.p:
            yield f"p={p:g}", _with_strength(base, p, path)
    if asked.without is not None:
        for channel in base.channels if asked.without == "each" else asked.without:
            if channel not in base.channels:
                raise SpecError(f"{path}.without", unknown("channel", channel, base.channels, base.id))
            yield f"without {channel}", _without(base, channel)
    for words, edits in (asked.set or {}).items():
        yield words, _set(base, edits)


def _with_strength(base: World, p: float, path: str) -> dict[str, Any]:
    """Every p of the environments that training rows are of set to one number."""
    data, changed = copy.deepcopy(base.dump()), 0
    for environment in base.splits[TRAIN].weights:
        for coupling in data["environments"][environment].values():
            if "p" in coupling or coupling.get("coupling") == "one_to_one":  # whose p has a default
                coupling["p"] = p
                changed += 1
    if not changed:
        raise SpecError(f"{path}.p", f"nothing in the training environments of {base.id} has a p to be set")
    return data


def _without(base: World, channel: str) -> dict[str, Any]:
    """A channel that goes along with nothing, and that nothing follows."""
    data = copy.deepcopy(base.dump())
    for couplings in data["environments"].values():
        for name, coupling in list(couplings.items()):
            if name == channel or coupling.get("channel") == channel:
                del couplings[name]
    return data


def _set(base: World, edits: Mapping[str, Any]) -> dict[str, Any]:
    """A world's data with values set, given as tables or by dotted names."""
    data = copy.deepcopy(base.dump())
    for name, value in _leaves(edits, ()):
        override(data, f"{name}={write({'value': value}).partition('=')[2].strip()}")
    return data


def _leaves(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, (*path, name))
        else:
            yield ".".join((*path, name)), value


def data_name(spec: World, rows: int, seed: int) -> str:
    """The folder of a dataset: what it holds, in a name that is the same wherever the study is run."""
    from spurgen.latents.sample import Plan

    Plan(spec, rows, seed)  # rows that cannot meet the quotas are refused here
    return f"{spec.id.replace('/', '-')}-{spec.digest()[:8]}-{rows}-{seed}"
