"""The edits of the test rows that scores are made of, each with a name that predictions carry.

none                        the rows as they are
shuffle/<channel>/<draw>    that channel drawn uniformly from all its attributes
fix/<channel>/<value>       that channel at one attribute: all of them together are Shuffle without chance
randomise/<draw>            every channel drawn uniformly
conflict/<draw>             every channel at an attribute that belongs to another class
align                       every channel at the attribute that belongs to the class
constant/<i>                every channel at its i-th attribute (those with fewer start again)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from spurgen import seeds
from spurgen.errors import SpurgenError, UnknownName, unknown
from spurgen.latents import intervene

if TYPE_CHECKING:
    import pyarrow as pa

    from spurgen.spec import World

NONE = "none"
SEED = 0  # of all draws, so that names alone say which rows are meant


class Plan(NamedTuple):
    """Which edits are made. `draws` of the random ones; `exact` fixes each attribute in turn in place of shuffling."""

    draws: int = 2
    exact: bool = False
    constants: bool = False


def names(spec: World, plan: Plan) -> list[str]:
    """The names of all edits of a plan, the rows as they are first."""
    seeds.whole("draws", plan.draws, 1, 1000)
    found = [NONE]
    for channel in spec.channels:
        if plan.exact:
            found += [f"fix/{channel}/{value}" for value in spec.values(channel)]
        else:
            found += [f"shuffle/{channel}/{draw}" for draw in range(plan.draws)]
    if not spec.channels:
        return found
    found += [f"randomise/{draw}" for draw in range(plan.draws)]
    if not cannot_conflict(spec):
        found += [f"conflict/{draw}" for draw in range(plan.draws)]
    found.append("align")
    if plan.constants:
        found += [f"constant/{i}" for i in range(max(len(spec.values(c)) for c in spec.channels))]
    return found


def cannot_conflict(spec: World) -> list[str]:
    """Channels in which all classes share one aligned attribute, so that no attribute belongs to another class."""
    return [name for name in spec.channels if len(set(spec.aligned(name))) < 2]


def edited(table: pa.Table, spec: World, name: str) -> pa.Table:
    """The rows after the edit of that name."""
    kind, *rest = name.split("/")
    if kind == NONE and not rest:
        return table
    if kind == "align" and not rest:
        return intervene.align(table, spec)
    if kind in ("randomise", "conflict") and len(rest) == 1:
        verb = intervene.randomise if kind == "randomise" else intervene.conflict
        return verb(table, spec, seed=SEED, draw=_number(name, rest[0]))
    if kind == "constant" and len(rest) == 1:
        i = _number(name, rest[0])
        for channel in spec.channels:
            values = spec.values(channel)
            table = intervene.fix(table, spec, channel, values[i % len(values)])
        return table
    if kind == "shuffle" and len(rest) == 2:
        return intervene.shuffle(table, spec, rest[0], seed=SEED, draw=_number(name, rest[1]))
    if kind == "fix" and len(rest) == 2:
        return intervene.fix(table, spec, rest[0], rest[1])
    known = {name for exact in (False, True) for name in names(spec, Plan(1, exact, constants=True))}
    raise UnknownName(unknown("intervention", name, known))


def _number(name: str, word: str) -> int:
    if not word.isascii() or not word.isdigit() or len(word) > 9 or word != str(int(word)):
        raise SpurgenError(f"the intervention {name!r} ends in {word!r}; it must be a plain number, counted from 0")
    return int(word)


def rows_with(table: pa.Table, spec: World, wanted: list[str]) -> Iterator[tuple[str, pa.Table, np.ndarray]]:
    """(name, edited rows, which rows show something else than before) of each edit."""
    before = shown(table, spec)
    for name in wanted:
        after = edited(table, spec, name)
        yield name, after, (shown(after, spec) != before).any(1)


def changed_by(table: pa.Table, spec: World, name: str) -> np.ndarray:
    """Which rows show something else after the edit of that name."""
    return next(rows_with(table, spec, [name]))[2]


def shown(table: pa.Table, spec: World) -> np.ndarray:
    """(rows, channels): the attributes that rows show, as positions."""
    from spurgen.latents.traits import shown as codes

    found = [codes(table, name, spec.values(name)) for name in spec.channels]
    return np.stack(found, 1) if found else np.zeros((table.num_rows, 0), np.int32)
