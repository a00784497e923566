"""What captions say about each row: the truth, or on request something else that is marked as wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spurgen.errors import SpecError, unknown
from spurgen.parts import Coded, Rows, Word

TRUTHFUL, WRONG = "truthful", "wrong_"
OBJECT = "object"


@dataclass(frozen=True)
class Said:
    """What is said about one thing, row by row: which word, which name it stands for, and whether that is true."""

    words: tuple[str, ...]
    codes: NDArray[np.int32]
    names: tuple[str, ...]
    name_codes: NDArray[np.int32]
    truthful: NDArray[np.bool_]


def said(rows: Rows, spoken: Mapping[str, Word]) -> dict[str, Said]:
    """For "label" and each channel that captions speak of, what they say."""
    wrong = _wrong(rows, spoken)
    label = _named(rows.label, [part.words for part in rows.classes], wrong.get(OBJECT), rows)
    out = {"label": _object(rows, label, rows.label == label)}
    for name, word in spoken.items():
        codes = _named(word.codes, [(text,) for text in word.words], wrong.get(name), rows, name)
        out[name] = Said(word.words, codes, word.names, codes, codes == word.codes)
    return out


def _object(rows: Rows, label: NDArray[np.int32], truthful: NDArray[np.bool_]) -> Said:
    """The word for a class: the `object_word`-th of its words, counted in a circle."""
    counts = np.array([len(part.words) for part in rows.classes], np.int32)
    first = np.cumsum(counts, dtype=np.int32) - counts
    codes = first[label] + np.asarray(rows.traits["object_word"], np.int32) % counts[label]
    words = tuple(word for part in rows.classes for word in part.words)
    return Said(words, codes.astype(np.int32), rows.class_names, label, truthful)


def _wrong(rows: Rows, spoken: Mapping[str, Word]) -> dict[str, NDArray[np.bool_]]:
    """For each thing that some caption is to be wrong about, which rows those are."""
    claim = rows.traits["claim"]
    if not isinstance(claim, Coded):
        raise SpecError("nuisances.claim", "must be the name of a claim, such as 'truthful'")
    out: dict[str, NDArray[np.bool_]] = {}
    for code, name in enumerate(claim.names):
        refuse_unspoken("claim", name, spoken)
        if name != TRUTHFUL:
            thing = name.removeprefix(WRONG)
            out[thing] = out.get(thing, np.False_) | (claim.codes == code)
    return out


def refuse_unspoken(path: str, claim: str, spoken: Iterable[str]) -> None:
    """A claim about something that captions do not mention is an error of the spec."""
    known = {TRUTHFUL, WRONG + OBJECT, *(WRONG + name for name in spoken)}
    if claim not in known:
        raise SpecError(path, unknown("claim", claim, known) + "; captions can only be wrong about what they speak of")


def _named(
    true: NDArray[np.int32],
    words: Sequence[Sequence[str]],
    wrong: NDArray[np.bool_] | None,
    rows: Rows,
    thing: str = OBJECT,
) -> NDArray[np.int32]:
    """Which name is said: the true one, or where `wrong` one of the others, each equally often."""
    if wrong is None or not wrong.any():
        return np.asarray(true, np.int32)
    others = [[k for k in range(len(words)) if not set(words[k]) & set(words[own])] for own in range(len(words))]
    counts = np.array([len(row) for row in others])
    if (counts[true[wrong]] == 0).any():
        raise SpecError("claim", f"cannot be wrong about {thing!r}, which has no other value with another word")
    table = np.zeros((len(words), max(counts)), np.int32)
    for own, row in enumerate(others):
        table[own, : len(row)] = row
    draw = np.asarray(rows.traits["claim_draw"], np.float64)
    choice = np.minimum(np.floor(draw * counts[true]), counts[true] - 1).astype(np.int64)  # a draw may be 1
    return np.where(wrong, table[true, choice], true).astype(np.int32)
