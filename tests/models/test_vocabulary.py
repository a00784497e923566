"""The vocabulary: what is a word, which number it has, and what is stored of it."""

import json

import numpy as np
import pytest

from spurgen.errors import DataError
from spurgen.models._vocabulary import Vocabulary, split

TEXTS = ["A red mug.", "a RED heart, red!", "the mug"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A red mug.", ["a", "red", "mug", "."]),
        ("It's 3.5 cm — or 10,000?", ["it's", "3.5", "cm", "—", "or", "10,000", "?"]),
        ("dark-blue_x 2nd", ["dark", "-", "blue", "_", "x", "2", "nd"]),
        ("Größe Ωμέγα l’été", ["größe", "ωμέγα", "l’été"]),
        ("e\u0301te\u0301", ["été"]),  # accents that come after their letters
        ("  \n\t ", []),
    ],
)
def test_words_numbers_and_marks(text, words):
    assert split(text) == words


def test_numbers_go_by_count_and_then_by_the_alphabet():
    # red 3; a 2, mug 2; "!" "," "." heart the 1
    assert Vocabulary.of(TEXTS).words == ("red", "a", "mug", "!", ",", ".", "heart", "the")
    assert Vocabulary.of(reversed(TEXTS)) == Vocabulary.of(TEXTS)


def test_rare_words_and_the_limit():
    assert Vocabulary.of(TEXTS, least=2).words == ("red", "a", "mug")
    assert len(Vocabulary.of(TEXTS, most=4)) == 4 and Vocabulary.of(TEXTS, most=4).words == ("red", "a")
    assert len(Vocabulary.of([])) == len(Vocabulary.of(TEXTS, most=0)) == 2


def test_encode():
    vocabulary = Vocabulary.of(TEXTS, least=2)  # red 2, a 3, mug 4
    numbers = vocabulary.encode(["a red mug", "red zebra", "", "a a a red red"], 4)
    assert numbers.dtype == np.int64
    assert numbers.tolist() == [[3, 2, 4, 0], [2, 1, 0, 0], [0, 0, 0, 0], [3, 3, 3, 2]]
    assert vocabulary.encode([], 4).shape == (0, 4)
    assert numbers.max() < len(vocabulary)


def test_it_is_stored_as_text():
    vocabulary = Vocabulary.of([*TEXTS, "Größe “x”"])
    assert Vocabulary.from_json(vocabulary.to_json()) == vocabulary


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "is no JSON"),
        ("[]", 'has no "words"'),
        ('{"format": "spurgen-vocabulary/1"}', 'has no "words"'),
        (json.dumps({"format": "other/9", "words": []}), "has format 'other/9'.* reads 'spurgen-vocabulary/1'"),
        (json.dumps({"format": "spurgen-vocabulary/1", "words": "ab"}), "must be a list of words"),
        (json.dumps({"format": "spurgen-vocabulary/1", "words": ["a", ""]}), "must be a list of words"),
        (json.dumps({"format": "spurgen-vocabulary/1", "words": ["a", "b", "a"]}), "'a' has two numbers"),
    ],
)
def test_what_is_no_vocabulary_is_said(text, sentence):
    with pytest.raises(DataError, match=sentence):
        Vocabulary.from_json(text)
