"""From plain data to a World in which every name is known and every promise can be kept."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from spurgen.errors import SpecError, unknown
from spurgen.parts import Channel, Choice, Constant, Distribution, Integers, Modality, Trait, Uniform, Value
from spurgen.spec.explain import spec_error
from spurgen.spec.known import CHANNELS, MODALITIES, classes
from spurgen.spec.world import ChannelSpec, World

RESERVED = {"row_id", "split", "environment", "label", "intervention", "y", "file_name", "img_id", "img_filename"}
LARGEST = 1e9  # of any number that a trait is set to


def world_from(data: dict[str, Any]) -> World:
    """Check plain data; the first thing wrong is a SpecError."""
    if not isinstance(data, dict):
        raise SpecError("", "the spec must be a table")
    tables = {k: v for k, v in data.items() if k in MODALITIES}
    rest = {k: v for k, v in data.items() if k not in tables}
    try:
        spec = World.model_validate(rest)
    except ValidationError as error:
        raise spec_error(error, World, rest) from None
    _check_names("modalities", "modality", spec.modalities, MODALITIES.names())
    spec._checked = True
    for name in spec.modalities:
        spec._options[name] = _options(MODALITIES.get(name), tables.get(name, {}))
    for name in tables:
        if name not in spec.modalities:
            raise SpecError(name, f"sets options of a modality that is not drawn; add {name!r} to modalities")
    _check_classes(spec)
    _check_splits(spec)
    for name, channel in spec.channels.items():
        spec._channels[name] = _channel(name, channel)
        _check_aligned(spec, name, channel)
    _check_traits(spec)
    _check_couplings(spec)
    _check_noise(spec)
    _ = spec.varying
    for part in spec.parts:
        if part.check is not None:
            part.check(spec)
    return spec


# ------------------------------------------------------------------------------------- names, classes and splits


def _check_names(path: str, kind: str, names: Iterable[str], known: Iterable[str]) -> None:
    known = list(known)
    seen = set()
    for name in names:
        if name not in known:
            raise SpecError(path, unknown(kind, name, known))
        if name in seen:
            raise SpecError(path, f"names {name!r} twice; name it once")
        seen.add(name)


def _options(part: Modality, table: Any) -> Any:
    try:
        return part.options.model_validate(table, strict=True)
    except ValidationError as error:
        raise spec_error(error, part.options, table, (part.name,)) from None


def _check_classes(spec: World) -> None:
    _check_names("classes", "class", spec.classes, classes())
    if len(spec.classes) < 2:
        raise SpecError("classes", "names one class only; a label needs at least two")
    _check_names("class_shares", "class", spec.class_shares, spec.classes)
    if spec.class_shares and set(spec.class_shares) != set(spec.classes):
        missing = next(c for c in spec.classes if c not in spec.class_shares)
        raise SpecError("class_shares", f"has no entry for class {missing!r}; give every class a share")


def _check_splits(spec: World) -> None:
    total = math.fsum(split.share for split in spec.splits.values())
    if abs(total - 1) > 1e-6:
        raise SpecError("splits", f"the shares sum to {total:g}; they must sum to 1")
    if "all" in spec.splits:
        raise SpecError("splits.all", "is what Hugging Face calls all splits together; call it something else")
    for name, split in spec.splits.items():
        if not split.environments:
            raise SpecError(f"splits.{name}.environments", "is empty; name at least one environment")
        _check_names(f"splits.{name}.environments", "environment", split.environments, spec.environments)


# ------------------------------------------------------------------------------------------------------ channels


def _channel(name: str, given: ChannelSpec) -> Channel:
    """The channel with the values this spec uses, in the order of the spec."""
    path = f"channels.{name}"
    if name in RESERVED or name.endswith(("_shown", "_annotated")):
        raise SpecError(path, f"{name!r} is kept for columns of the table; call the channel something else")
    if any(name in MODALITIES.get(m).columns for m in MODALITIES.names()):
        raise SpecError(path, f"{name!r} is the column of a modality; call the channel something else")
    known = CHANNELS.get(name) if name in CHANNELS else None
    if isinstance(given.values, dict):
        values = {v: _own_value(path, v, written, known) for v, written in given.values.items()}
        base = known or Channel(name, "Defined in the spec.", values)
    elif known is None:
        raise SpecError(path, unknown("channel", name, CHANNELS.names()))
    else:
        base = known
        wanted = list(known.values) if given.values is None else given.values
        _check_names(f"{path}.values", "value", wanted, known.values)
        values = {v: known.values[v] for v in wanted}
    if not values:
        raise SpecError(f"{path}.values", "is empty; name at least one value")
    return replace(base, values=values, says=base.says if given.says is None else given.says)


def _own_value(path: str, name: str, written: dict[str, float | str], known: Channel | None) -> Value:
    traits = {k: v for k, v in written.items() if k != "word"}
    borrowed = known.values.get(name) if known is not None and not traits else None
    word = written.get("word", borrowed.word if borrowed else name.replace("_", " "))
    if not isinstance(word, str) or not word.strip() or len(word) > 60:
        raise SpecError(f"{path}.values.{name}.word", f"is {word!r}; it must be a word or two")
    return Value(word, borrowed.traits if borrowed else traits)


def _check_aligned(spec: World, name: str, channel: ChannelSpec) -> None:
    path = f"channels.{name}.aligned"
    _check_names(path, "class", channel.aligned, spec.classes)
    for value in channel.aligned.values():
        if value not in spec.values(name):
            raise SpecError(path, unknown("value", value, spec.values(name)))


# -------------------------------------------------------------------------------------------------------- traits


def _check_traits(spec: World) -> None:
    """Every trait a channel sets is consumed by a modality, valid, and set by that channel alone."""
    known: dict[str, Trait] = {t.name: t for part in spec.parts for t in part.traits}
    everywhere = {t.name for name in MODALITIES.names() for t in MODALITIES.get(name).traits}
    of_classes = {t for part in spec.class_parts for t in part.traits}
    owner: dict[str, str] = dict.fromkeys(of_classes, "the class")
    for name in spec.channels:
        channel = spec.channel(name)
        for trait in dict.fromkeys(t for v in channel.values.values() for t in v.traits):
            if trait in owner:
                raise SpecError(
                    f"channels.{name}",
                    f"sets the trait {trait!r}, which already follows {owner[trait]}; drop one of the two",
                )
            owner[trait] = f"channel {name!r}"
        shown = bool(channel.says) and "caption" in spec.modalities
        for attribute, value in channel.values.items():
            path = f"channels.{name}.values.{attribute}"
            for trait, setting in value.traits.items():
                if trait not in everywhere:
                    raise SpecError(f"{path}.{trait}", unknown("trait", trait, everywhere))
                if trait in known:
                    _check_setting(f"{path}.{trait}", known[trait], setting)
                    shown = True
        shown = shown or any(modality in spec.modalities for modality in channel.overlays)
        if not shown:
            raise SpecError(
                f"channels.{name}",
                f"shows in none of the modalities {', '.join(spec.modalities)}; "
                "add a modality that it changes, or drop it",
            )
        _check_every_value_sets(name, channel, known)
    for trait in spec.nuisances:
        if trait in owner:
            raise SpecError(f"nuisances.{trait}", f"follows {owner[trait]}; drop one of the two")


def _check_every_value_sets(name: str, channel: Channel, known: Mapping[str, Trait]) -> None:
    """A trait that would vary must be set by every value or by none: otherwise an edit would draw it anew."""
    for trait in dict.fromkeys(t for v in channel.values.values() for t in v.traits):
        if trait in known and not isinstance(known[trait].distribution, Constant):
            for attribute, value in channel.values.items():
                if trait not in value.traits:
                    raise SpecError(
                        f"channels.{name}.values.{attribute}",
                        f"does not set {trait}, which the channel's other values set",
                    )


def _check_setting(path: str, trait: Trait, setting: Any) -> None:
    textual = isinstance(trait.distribution, Choice) or (
        isinstance(trait.distribution, Constant) and isinstance(trait.distribution.value, str)
    )
    if textual:
        names = trait.names or (trait.distribution.names if isinstance(trait.distribution, Choice) else ())
        if not isinstance(setting, str):
            raise SpecError(path, f"is {setting!r}; it must be a string")
        if names and setting not in names:
            raise SpecError(path, unknown(trait.name.replace("_", " "), setting, names))
        return
    if isinstance(setting, str | bool) or not math.isfinite(setting):
        raise SpecError(path, f"is {setting!r}; it must be a finite number")
    if abs(setting) > LARGEST:
        raise SpecError(path, f"is {setting:g}; it must lie between {-LARGEST:g} and {LARGEST:g}")
    if isinstance(trait.distribution, Integers) and setting != int(setting):
        raise SpecError(path, f"is {setting!r}; it must be a whole number")
    if trait.bounds and not trait.bounds[0] <= setting <= trait.bounds[1]:
        raise SpecError(path, f"is {setting:g}; it must lie between {trait.bounds[0]:g} and {trait.bounds[1]:g}")


def nuisances(spec: World) -> dict[str, Distribution]:
    """How each trait varies that neither the class nor a channel sets, constants included."""
    set_elsewhere = {t for part in spec.class_parts for t in part.traits}
    set_elsewhere |= {t for c in spec.channels for v in spec.channel(c).values.values() for t in v.traits}
    traits = {t.name: t for part in spec.parts for t in part.traits if t.name not in set_elsewhere}
    out = {name: trait.distribution for name, trait in traits.items()}
    for name, given in spec.nuisances.items():
        if name not in traits:
            raise SpecError(f"nuisances.{name}", unknown("trait", name, traits))
        out[name] = _restricted(f"nuisances.{name}", traits[name], given)
    for name in out:
        if name in spec.channels or name in RESERVED:
            raise SpecError(
                f"channels.{name}", "has the name of a trait that varies on its own; call it something else"
            )
    return out


def _restricted(path: str, trait: Trait, given: Any) -> Distribution:
    if not isinstance(given, list):
        _check_setting(path, trait, given)
        return Constant(given)
    for setting in given:
        _check_setting(path, trait, setting)
    if given and isinstance(given[0], str):
        if len(set(given)) != len(given):
            raise SpecError(path, "names a value twice; name each once")
        return Choice(tuple(given))
    if len(given) != 2 or given[0] > given[1]:
        raise SpecError(path, f"is {given!r}; a range is [low, high]")
    if isinstance(trait.distribution, Integers):
        return Integers(int(given[0]), int(given[1]))
    return Uniform(float(given[0]), float(given[1]))


# ----------------------------------------------------------------------------------------------------- couplings


def _check_couplings(spec: World) -> None:
    from spurgen.spec.tables import order, table

    for environment, couplings in spec.environments.items():
        _check_names(f"environments.{environment}", "channel", couplings, spec.channels)
        for name, coupling in couplings.items():
            if coupling.follows is not None and coupling.follows not in spec.channels:
                raise SpecError(
                    f"environments.{environment}.{name}.channel", unknown("channel", coupling.follows, spec.channels)
                )
        order(spec, environment)
        for name in spec.channels:
            table(spec, environment, name)


def _check_noise(spec: World) -> None:
    for knob in ("signal", "annotation"):
        _check_names(f"noise.{knob}", "channel", getattr(spec.noise, knob), spec.channels)
    for name in spec.noise.annotation:
        if len(spec.values(name)) < 2:
            raise SpecError(f"noise.annotation.{name}", "needs a channel with at least two values")
    if spec.noise.splits is not None:
        _check_names("noise.splits", "split", spec.noise.splits, spec.splits)
