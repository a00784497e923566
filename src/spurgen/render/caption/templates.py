"""The forms a caption may have.

A template is a sentence with slots:

    {medium} {object}      a word
    {thing}                the adjectives and the object: "small red mug"
    {adjectives}           the adjectives alone: "small, red"
    {background}           "striped background"
    {phrases}              "in bright light from the left, on a carpet"
    {a thing}              the same with "a" or "an" in front
    [ … ]                  left out when the slot inside has nothing to say
    ^                      what comes next begins with a capital

Every template has a place for everything, so that no template hides a channel.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_REST = "[ with {a background}][, {phrases}]"
_ASIDE = "[ with {a background}][, {phrases},]"

TEMPLATES: dict[str, str] = {
    "photo_of": "^{a medium} of {a thing}" + _REST + ".",
    "active": "This {medium} shows {a thing}" + _REST + ".",
    "passive": "^{a thing}[ with {a background}] is shown in this {medium}[, {phrases}].",
    "question": "Can you see {a thing}" + _ASIDE + " in this {medium}?",
    "telegraphic": "^{medium}: {thing}[, {background}][, {phrases}].",
    "dialogue": '"What does the {medium} show?" "^{a thing}' + _REST + '."',
    "tags": "{medium}[, {adjectives}], {object}[, {background}][, {phrases}]",
    "exclamation": "What {a medium}: {a thing}" + _REST + "!",
    "existence": "In this {medium} there is {a thing}" + _REST + ".",
    "cleft": "What this {medium} shows is {a thing}" + _REST + ".",
    "catalogue": "^{object}[ ({adjectives})][; {background}][; {phrases}]; {medium}.",
    "request": "Please make {a medium} of {a thing}" + _REST + ".",
    "setting_first": "^[with {a background}, ][{phrases}, ]{a thing} appears in this {medium}.",
    "negation": "There is nothing but {a thing}" + _ASIDE + " in this {medium}.",
    "hearsay": "They say that this {medium} shows {a thing}" + _REST + ".",
    "first_person": "I made this {medium} of {a thing}" + _REST + ".",
    "command": "Find {a thing}" + _ASIDE + " in this {medium}.",
    "alt_text": "^{medium} of {a thing}[, {background}][, {phrases}]",
}


class Token(NamedTuple):
    """A piece of a template: "text", "slot", "capital", "open" or "close"."""

    kind: str
    text: str = ""
    article: bool = False


def tokens(template: str) -> list[Token]:
    """The pieces of a template, in order."""
    found = re.findall(r"\[|\]|\^|\{[^}]+\}|[^\[\]{}^]+", template)
    return [_token(piece) for piece in found]


def _token(piece: str) -> Token:
    if piece in "[]^":
        return Token({"[": "open", "]": "close", "^": "capital"}[piece])
    if piece.startswith("{"):
        name = piece[1:-1]
        return Token("slot", name.removeprefix("a "), name.startswith("a "))
    return Token("text", piece)
