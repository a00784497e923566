"""The trials of a study, each keyed by the hash of all that determines it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

from spurgen import seeds
from spurgen.errors import SpecError, SpurgenError
from spurgen.learning import METHODS, Model
from spurgen.settings import OneOf, fill
from spurgen.study.spec import StudySpec
from spurgen.study.trial import Place, Trial, place_of
from spurgen.study.worlds import Variant, data_name, variants
from spurgen.train.encode import find_model
from spurgen.train.options import Options
from spurgen.train.pretrain import check_model

GROUPS = "group_by"  # among the settings of a method: what makes the groups that it is told


class Config(NamedTuple):
    """Settings of a method and options of training, as they were asked for; `words` tells it from its siblings."""

    settings: dict[str, Any]
    options: dict[str, Any]
    words: str


def plan(study: StudySpec, folder: Path | None, device: str) -> list[Trial]:
    """All trials of a study; of a search whose best are run again, those of the search.

    Paths in the study are seen from `folder`.
    """
    arms = _arms(study)
    found: dict[tuple[str, Place], Trial] = {}  # the same content may have several names, and then is run once
    for variant in variants(study, folder):
        for seed in study.searched_seeds:
            data_seed = seed if study.fresh_rows else 0
            data = data_name(variant.spec, variant.rows, data_seed)
            for name, model, start, its_options, method in arms:
                for config in configurations(study, method, its_options, seed):
                    trial = _trial(study, variant, data, name, model, start, method, config, seed, device)
                    found.setdefault((trial.key, place_of(trial)), trial)
    return list(found.values())


def again(study: StudySpec, trial: Trial) -> list[Trial]:
    """A trial of a search with all seeds of the study, as those that count."""
    found = []
    for seed in study.seed_list:
        data_seed = seed if study.fresh_rows else 0
        data = f"{trial.data.rpartition('-')[0]}-{data_seed}"
        found.append(replace(trial, data=data, data_seed=data_seed, seed=seed, phase="final").keyed())
    return found


def _arms(study: StudySpec) -> list[tuple[str, Model, str, dict[str, Any], str]]:
    """(model's name, model, start, options of the model, method) in every combination; all names are looked up."""
    found: list[tuple[str, Model, str, dict[str, Any], str]] = []
    for name, given in study.model_table.items():
        try:
            model = find_model(name)
        except SpurgenError as error:
            raise SpecError(f"models.{name}"[:80], str(error)) from None
        for start in given.starts:
            if start == "pretrained":
                try:
                    check_model(model)
                except SpurgenError as error:
                    raise SpecError(f"models.{name}.starts", str(error)) from None
            if start in ("imagenet", "hub") and model.pretrained != start:
                held = f"always starts from {model.pretrained}" if model.pretrained else "is built with random weights"
                raise SpecError(f"models.{name}.starts", f"{name} {held}; say {model.pretrained or 'nothing'!r}")
            if start not in ("imagenet", "hub") and model.pretrained:
                raise SpecError(
                    f"models.{name}.starts", f"{name} always starts from {model.pretrained}; say {model.pretrained!r}"
                )
            found += [(name, model, str(start), dict(given.options), method) for method in study.methods]
    for method in study.methods:
        try:
            part = METHODS.get(method)
        except SpurgenError as error:
            raise SpecError("methods", str(error)) from None
        _check_lists(_settings(study, method), f"methods.{method}")
        listens = part.needs.groups or part.needs.validation or "over" in {f.name for f in fields(part.settings)}
        if GROUPS in study.methods[method] and not listens:
            raise SpecError(f"methods.{method}.{GROUPS}", f"has no effect: {method} is told no groups")
        for choice in _products(_settings(study, method)):
            _filled(part.settings, choice, f"methods.{method}", f"method {method}")
    for path, options in (
        ("options", study.options),
        *((f"models.{name}.options", given.options) for name, given in study.model_table.items()),
    ):
        _check_lists(options, path)
        for choice in _products(options):
            _filled(Options, choice, path, "training")
    if "keep" in study.options or any("keep" in given.options for given in study.model_table.values()):
        raise SpecError("options.keep", "is not for studies, whose rules choose afterwards; say early_stopping = true")
    for option in study.search.options if study.search is not None else ():
        if option not in _ranges(Options):
            raise SpecError("search.options", f"there is nothing to search for {option!r}; known: {_known()}")
        if option == "momentum" and study.options.get("optimiser") != "sgd":
            raise SpecError("search.options", "momentum has no effect unless options.optimiser is 'sgd'")
    return found


def _known() -> str:
    return ", ".join(_ranges(Options))


def _settings(study: StudySpec, method: str) -> dict[str, Any]:
    """What the study says of a method's settings."""
    return {name: value for name, value in study.methods[method].items() if name != GROUPS}


def _learns_by(study: StudySpec, method: str) -> list[str] | None:
    """What makes the groups that a method is told."""
    found = study.methods[method].get(GROUPS, study.group_by)
    if found is not None and not (isinstance(found, list) and found and all(isinstance(name, str) for name in found)):
        raise SpecError(f"methods.{method}.{GROUPS}", "must be a list of columns, such as ['label']")
    return cast("list[str] | None", found)


def _filled(kind: Any, given: Mapping[str, Any], path: str, whose: str) -> Any:
    try:
        return fill(kind, given, whose)
    except SpurgenError as error:
        raise SpecError(path, str(error)) from None


def configurations(study: StudySpec, method: str, its_options: Mapping[str, Any], seed: int) -> Iterator[Config]:
    """The settings that are tried of one method with one model: a grid, or samples."""
    settings, options = _settings(study, method), study.options | dict(its_options)
    if study.search is not None:
        yield from _samples(study, method, settings, options, seed)
        return
    varied = [name for name, value in (settings | options).items() if isinstance(value, list) and len(value) > 1]
    grid = [(chosen, how) for chosen in _products(settings) for how in _products(options)]
    words = [_words({n: (chosen | how)[n] for n in varied}) for chosen, how in grid]
    if len(set(words)) < len(words):  # values that only differ far behind the point
        words = [", ".join(f"{n}={(chosen | how)[n]!r}" for n in varied) for chosen, how in grid]
    for (chosen, how), said in zip(grid, words, strict=True):
        yield Config(chosen, how, said)


def _samples(
    study: StudySpec, method: str, settings: Mapping[str, Any], options: Mapping[str, Any], seed: int
) -> Iterator[Config]:
    """Random settings; the first sample has the defaults, and what the study fixes stays as it is."""
    search = study.search
    assert search is not None
    mine = _ranges(METHODS.get(method).settings)
    shared = {name: found for name, found in _ranges(Options).items() if name in search.options}
    whose = f"{method}/{seed}" if search.per_seed else method
    for i in range(search.samples):
        chance = partial(_chance, search.seed, f"study/search/{whose}", i)
        chosen, how = _drawn(settings, mine, chance), _drawn(options, shared, chance)
        free = {n: v for n, v in (chosen | how).items() if not _fixed(n, settings, options)}
        yield Config(chosen, how, f"#{i} {_words(free) if i else 'defaults'}".strip())


def _drawn(
    given: Mapping[str, Any], ranges: Mapping[str, Any], chance: Callable[[str], float | None]
) -> dict[str, Any]:
    """Values where `chance` gives a number in [0, 1); where it gives None, the first or none, which is the default."""
    found = {}
    for name in {**ranges, **given}:
        value = given.get(name)
        u = chance(name)
        if value is not None and not isinstance(value, list):
            found[name] = value
        elif value is not None:
            found[name] = value[0] if u is None else OneOf(tuple(value)).sample(u)
        elif u is not None:
            found[name] = ranges[name].sample(u)
    return found


def _fixed(name: str, settings: Mapping[str, Any], options: Mapping[str, Any]) -> bool:
    return any(name in given and not isinstance(given[name], list) for given in (settings, options))


def _chance(seed: int, stream: str, i: int, name: str) -> float | None:
    """A number for a setting of the i-th sample; None for the first, which has the defaults."""
    return float(seeds.uniform(seed, f"{stream}/{name}", [i])[0]) if i else None


def _ranges(kind: Any) -> dict[str, Any]:
    """Setting -> the range that a search looks in."""
    return {f.name: f.metadata["search"] for f in fields(kind) if f.metadata.get("search") is not None}


def _check_lists(given: Mapping[str, Any], path: str) -> None:
    """A list without values would make trials vanish, one with a value twice would run nothing for it."""
    for name, value in given.items():
        if isinstance(value, list) and not value:
            raise SpecError(f"{path}.{name}", "is empty; give at least one value")
        if isinstance(value, list) and len({repr(v) for v in value}) < len(value):
            raise SpecError(f"{path}.{name}", "names a value twice; name it once")


def _products(given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Every combination of the values of lists."""
    lists = [value if isinstance(value, list) else [value] for value in given.values()]
    for values in itertools.product(*lists):
        yield dict(zip(given, values, strict=True))


def _words(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v}" for k, v in settings.items())


def _trial(
    study: StudySpec,
    variant: Variant,
    data: str,
    name: str,
    model: Model,
    start: str,
    method: str,
    config: Config,
    seed: int,
    device: str,
) -> Trial:
    """A trial with all defaults filled in."""
    options = asdict(_filled(Options, config.options, "options", "training"))
    return Trial(
        world=variant.world,
        ablation=variant.ablation,
        variant=variant.variant,
        spec_id=variant.spec.id,
        spec_digest=variant.spec.digest(),
        data=data,
        data_seed=seed if study.fresh_rows else 0,
        rows=variant.rows,
        method=method,
        settings=asdict(_filled(METHODS.get(method).settings, config.settings, f"methods.{method}", method)),
        config=config.words,
        model=name,
        model_digest=model.digest,
        start=start,
        pretrain=study.pretrain.model_dump() if start == "pretrained" else None,
        options=options | {"learning_rate": options["learning_rate"] or model.learning_rate},
        asked=sorted(config.options),
        seed=seed,
        device=device,
        group_by=study.group_by,
        learns_by=_learns_by(study, method),
        draws=study.draws,
        phase="search" if study.searches_first else "final",
        keep_weights=study.keep_weights,
    ).keyed()
