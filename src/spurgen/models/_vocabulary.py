"""Which word has which number: a vocabulary counted from training captions, and captions as rows of numbers."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spurgen.errors import DataError

PADDING, UNKNOWN = 0, 1
RESERVED = 2  # the numbers before the first word's
FORMAT = "spurgen-vocabulary/1"
# A word with its apostrophes, a number with its points, or one punctuation mark.
TOKEN = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|\d+(?:[.,]\d+)*|[^\w\s]|_")


@dataclass(frozen=True)
class Vocabulary:
    """Words in the order of their numbers, which begin at 2: 0 is padding, 1 stands for every other word."""

    words: tuple[str, ...]
    padding = PADDING

    @classmethod
    def of(cls, texts: Iterable[str], least: int = 1, most: int = 8192) -> Vocabulary:
        """The words that come `least` times or more: the most frequent ones, equals in the order of the alphabet.

        `most` bounds the size of the vocabulary, padding and unknown included.
        """
        counts = Counter(token for text in texts for token in split(text))
        often = [word for word, count in counts.items() if count >= least]
        often.sort(key=lambda word: (-counts[word], word))
        return cls(tuple(often[: max(0, most - RESERVED)]))

    def __len__(self) -> int:
        return RESERVED + len(self.words)

    def encode(self, texts: Sequence[str], tokens: int) -> NDArray[np.int64]:
        """(texts, tokens) numbers. What is too long loses its end, what is too short is padded with zeros."""
        numbers = np.full((len(texts), tokens), PADDING, np.int64)
        for row, text in zip(numbers, texts, strict=True):
            known = [self._numbers.get(token, UNKNOWN) for token in split(text)[:tokens]]
            row[: len(known)] = known
        return numbers

    def to_json(self) -> str:
        """The vocabulary as text, to be stored beside a trained model."""
        return json.dumps({"format": FORMAT, "words": self.words}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Vocabulary:
        """The vocabulary that `to_json` wrote."""
        try:
            read = json.loads(text)
        except ValueError as error:
            raise DataError(f"the vocabulary is no JSON ({error}); it is damaged, or another file") from error
        return cls(_checked(read))

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words, RESERVED)}


def split(text: str) -> list[str]:
    """Lower-case words, numbers and punctuation marks; accents are joined to their letters first."""
    return TOKEN.findall(unicodedata.normalize("NFC", text).lower())


def _checked(read: Any) -> tuple[str, ...]:
    if not isinstance(read, dict) or "words" not in read:
        raise DataError('the vocabulary has no "words"; it is another file, or was not written by SpurGen')
    if read.get("format") != FORMAT:
        raise DataError(f"the vocabulary has format {read.get('format')!r}; this version of SpurGen reads {FORMAT!r}")
    words = read["words"]
    if not isinstance(words, list) or not all(isinstance(word, str) and word for word in words):
        raise DataError('"words" of the vocabulary must be a list of words')
    twice = [word for word, count in Counter(words).items() if count > 1]
    if twice:
        raise DataError(f"the word {twice[0]!r} has two numbers in the vocabulary; it is damaged")
    return tuple(words)
