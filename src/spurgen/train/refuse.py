"""What cannot be trained: data that lacks what a method needs, and options that would have no effect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from spurgen.errors import SpurgenError
from spurgen.learning import Method, Model
from spurgen.train.options import Options
from spurgen.train.world import World


def check_needs(method: Method, settings: Any, world: World) -> None:
    """Refuse data that lacks what the method cannot do without."""
    needs = method.needs
    if getattr(settings, "over", "group") == "class":
        needs = replace(needs, groups=False)
    if world.endless and (needs.rows or needs.validation):
        raise SpurgenError(f"{method.name} needs a fixed list of rows, which a stream is not; train on a dataset")
    if needs.groups and len(world.groups) < 2:
        raise SpurgenError(
            f"{method.name} needs group attributes, and this data has none: {world.name} has no channels; "
            "say what to group by (--group-by), or take a method that needs labels only (spurgen list methods)"
        )
    if needs.groups and int((world.group_sizes > 0).sum()) < 2:
        raise SpurgenError(
            f"{method.name} needs rows of at least two groups, and all training rows of {world.name} are of one; "
            "say what else to group by (--group-by)"
        )
    if needs.generator and not world.spec.channels:
        raise SpurgenError(
            f"{method.name} draws rows again with other attributes, and {world.name} has no channels to do so; "
            "take another method"
        )
    if needs.environments and len(world.environments) < 2:
        raise SpurgenError(
            f"{method.name} compares environments, and the training rows of {world.name} are of one; "
            "train on a world whose training split mixes several"
        )
    if needs.validation and world.val is None:
        raise SpurgenError(f"{method.name} fits on validation rows, and {world.name} has no split for them")
    if needs.validation and world.val is not None and int((world.val.groups.counts > 0).sum()) < 2:
        raise SpurgenError(
            f"{method.name} balances groups of validation rows, and all those of {world.name} are of one; "
            "say what else to group by (--group-by)"
        )


def check_used(given: Mapping[str, Any], options: Options, model: Model, world: World, watched: bool = False) -> None:
    """Refuse options that were given and would have no effect; `watched`: rows are scored besides validation rows."""
    unused = {
        "momentum": options.optimiser != "sgd" and "only the optimiser sgd has one",
        "epochs": options.steps > 0 and "steps are given too, and go before it",
        "shift_px": model.modality != "image" and f"{model.name} does not read pictures alone",
        "checks": world.val is None and not watched and f"{world.name} has no split to validate on",
        "keep": world.val is None and f"{world.name} has no split to validate on",
    }
    for name, reason in unused.items():
        if name in given and reason:
            raise SpurgenError(f"the option {name} would have no effect: {reason}; leave it out")
