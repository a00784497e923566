"""What of a study could only fail, said before anything is drawn: from latents alone, which take no time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spurgen.compare.select import RULES
from spurgen.errors import SpecError, SpurgenError
from spurgen.latents.sample import Plan
from spurgen.learning import METHODS
from spurgen.load import columns
from spurgen.load.rows import Rows
from spurgen.settings import fill
from spurgen.spec.world import size_px
from spurgen.study.spec import StudySpec
from spurgen.study.trial import Trial
from spurgen.study.worlds import TEST, TRAIN, VAL, Variant
from spurgen.train.encode import find_model
from spurgen.train.options import Options
from spurgen.train.refuse import check_needs, check_used
from spurgen.train.world import World


def foresee(study: StudySpec, worlds: list[Variant], trials: list[Trial]) -> None:
    """Refuse a study that asks for what cannot be."""
    for variant in worlds:
        _check_rules(study, variant)
        mine = [t for t in trials if (t.world, t.ablation, t.variant) == variant[:3]]
        _check_groups(study, variant)
        for trial in {(t.method, t.model, t.config): t for t in mine}.values():
            _check(trial, variant)


def _check_rules(study: StudySpec, variant: Variant) -> None:
    blind = [name for name in study.rules if RULES[name].column.startswith("val_")]
    if blind and VAL not in variant.spec.splits:
        seeing = [name for name in RULES if name not in blind]
        raise SpecError(
            f"worlds.{variant.world}",
            f"{variant.spec.id} has no split {VAL!r}, by which {', '.join(blind)} choose; add one to the spec, or say "
            f"rules = {seeing} and rule = {seeing[0]!r}",
        )


def _check_groups(study: StudySpec, variant: Variant) -> None:
    told: dict[str, Any] = {f"methods.{m}.group_by": s["group_by"] for m, s in study.methods.items() if "group_by" in s}
    for path, keys in {"group_by": study.group_by, **told}.items():
        if keys is not None:
            try:
                _rows(variant, TEST, variant.spec.modalities[0], keys)
            except SpurgenError as error:
                raise SpecError(path, str(error)) from None


def _check(trial: Trial, variant: Variant) -> None:
    """The same refusals that training itself would come to."""
    method, model = METHODS.get(trial.method), find_model(trial.model)
    modality: Any = tuple(model.modality.split("+"))
    modality = modality[0] if len(modality) == 1 else modality
    try:
        world = _world(variant, modality, trial.learns_by)
        check_needs(method, fill(method.settings, trial.settings, trial.method), world)
        options: Mapping[str, Any] = {name: trial.options[name] for name in trial.asked}
        check_used(options, fill(Options, options, "training"), model, world, watched=True)
        size = trial.options["batch_size"]
        if len(world.y) < size:
            raise SpurgenError(f"{world.name} has {len(world.y)} training rows, fewer than a batch of {size}")
    except SpurgenError as error:
        raise SpecError(f"methods.{trial.method}", str(error)) from None


def _world(variant: Variant, modality: Any, group_by: list[str] | None) -> World:
    train = _rows(variant, TRAIN, modality, group_by)
    val = _rows(variant, VAL, modality, group_by) if VAL in variant.spec.splits else None
    return World(
        name=variant.spec.id,
        digest="",
        train=train,
        stream=None,
        val=val,
        classes=tuple(train.classes),
        y=train.y,
        groups=train.groups,
        environment=columns.read(train.table, variant.spec, "environment").values,
        size_px=size_px(variant.spec),
        group_by=train.groups.keys,
        splits=(TRAIN, VAL),
        spec=variant.spec,
    )


_SEEN: dict[tuple[Any, ...], Rows] = {}


def _rows(variant: Variant, split: str, modality: Any, group_by: list[str] | None) -> Rows:
    """The latents of a split; nothing of them is drawn."""
    plan = Plan(variant.spec, variant.rows, 0)
    key = (variant.spec.digest(), variant.rows, split, modality, tuple(group_by or ()))
    if key not in _SEEN:
        if len(_SEEN) > 64:
            _SEEN.clear()
        table = plan.table(plan.row_ids(split))
        _SEEN[key] = Rows(variant.spec, table, None, modality, group_by=group_by, annotated=True)
    return _SEEN[key]
