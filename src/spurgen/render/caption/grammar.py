"""English for captions: a or an, the order of adjectives, and how a template is filled.

A filled template is a list of places. What stands before a word (text, an article) belongs to the word's own place,
so a caption is one word per place, put in a row, and an ending.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from spurgen.render.caption.templates import tokens

# English says a *small glossy red* mug: size first, colour last, what is not listed here between them.
_ADJECTIVE_RANK = {"size": 0, "hue": 2, "colour": 2, "color": 2}
_SOUNDS_OTHERWISE = re.compile(r"(?i)(hour|honest|honou?r|heir)")
_SOUNDS_LIKE_YOU = re.compile(r"(?i)(uni([^nm]|$)|us[aeiu]|eu|ewe|ut[ei]|ub[aeiou]|one\b|once\b)")


def article(words: str) -> str:
    """The indefinite article that goes before these words."""
    if _SOUNDS_OTHERWISE.match(words):
        return "an"
    return "an" if words[:1].lower() in tuple("aeiou") and not _SOUNDS_LIKE_YOU.match(words) else "a"


def in_order(adjectives: Sequence[str]) -> list[str]:
    """Channels whose words stand before the object, in the order English wants."""
    return sorted(adjectives, key=lambda name: _ADJECTIVE_RANK.get(name, 1))


def capitalised(text: str) -> str:
    """The text with a capital in front."""
    return text[:1].upper() + text[1:]


@dataclass(frozen=True)
class Place:
    """Where one word goes: for each word it may be, the text up to and including it, and where the word begins."""

    key: str
    texts: tuple[str, ...]
    starts: NDArray[np.int32]
    ends: NDArray[np.int32]


@dataclass(frozen=True)
class Filled:
    """A template for one set of channels."""

    places: tuple[Place, ...]
    ending: str


def fill(template: str, says: Mapping[str, str], words: Mapping[str, Sequence[str]]) -> Filled:
    """Turn a template into places.

    `says` tells of each channel what kind of words it has; `words` lists the words of every channel, of "label" and
    of "medium".
    """
    kinds = {
        "adjectives": in_order([name for name, kind in says.items() if kind == "adjective"]),
        "background": [name for name, kind in says.items() if kind == "background"],
        "phrases": [name for name, kind in says.items() if kind == "phrase"],
    }
    writer = _Writer(words)
    todo = tokens(template)
    while todo:
        token = todo.pop(0)
        if token.kind == "open":
            inside = list(takewhile(lambda t: t.kind != "close", todo))
            if not all(kinds[t.text] for t in inside if t.kind == "slot"):
                del todo[: len(inside)]
        elif token.kind == "capital":
            writer.capital = True
        elif token.kind == "text":
            writer.text(token.text)
        elif token.kind == "slot":
            _fill_slot(writer, token.text, token.article, kinds)
    return Filled(tuple(writer.places), writer.pending)


def _fill_slot(writer: _Writer, slot: str, with_article: bool, kinds: Mapping[str, Sequence[str]]) -> None:
    keys, between = {
        "medium": (["medium"], ""),
        "object": (["label"], ""),
        "thing": ([*kinds["adjectives"], "label"], " "),
        "adjectives": (kinds["adjectives"], ", "),
        "background": (kinds["background"], " and "),
        "phrases": (kinds["phrases"], ", "),
    }[slot]
    for i, key in enumerate(keys):
        if i:
            writer.text(between)
        writer.word(key, with_article and i == 0)
    if slot == "background":
        writer.text(" background")


class _Writer:
    """Collects places; holds back the text that belongs to the next one."""

    def __init__(self, words: Mapping[str, Sequence[str]]):
        self.words = words
        self.places: list[Place] = []
        self.pending = ""
        self.capital = False

    def text(self, text: str) -> None:
        self.pending += capitalised(text) if self.capital else text
        self.capital = False

    def word(self, key: str, with_article: bool) -> None:
        texts, starts = [], []
        for word in self.words[key]:
            before = f"{article(word)} " if with_article else ""
            said = capitalised(before + word) if self.capital else before + word
            texts.append(self.pending + said)
            starts.append(len(texts[-1]) - len(word))
        ends = [len(text) for text in texts]
        self.places.append(Place(key, tuple(texts), np.array(starts, np.int32), np.array(ends, np.int32)))
        self.pending, self.capital = "", False
