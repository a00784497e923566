"""Turns pydantic's findings into one sentence: the path of the field, what is wrong, the nearest valid name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ValidationError

from spurgen.errors import SpecError, nearest
from spurgen.spec.coupling import COUPLINGS

_TYPES = {
    "string": "a string",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "list": "a list",
    "dict": "a table",
    "model": "a table",
    "model_attributes": "a table",
}


def spec_error(error: ValidationError, model: type[BaseModel], prefix: tuple[str, ...] = ()) -> SpecError:
    """The most telling of a validation's findings as a SpecError."""
    findings = error.errors(include_url=False)
    first = min(findings, key=_rank)
    more = len({_path(f["loc"]) for f in findings}) - 1
    message = _sentence(first, model)
    if more and not _inside_union(first):
        message += f" (and {more} more field{'s' if more > 1 else ''} to mend)"
    return SpecError(".".join((*prefix, *_path(first["loc"]))), message)


def _rank(finding: Any) -> tuple[bool, int]:
    """A misspelt key explains the missing one beside it, so it is told first; otherwise the order of the file."""
    return finding["type"] != "extra_forbidden", 0


def _path(loc: Iterable[str | int]) -> tuple[str, ...]:
    """Where the field stands in the file: pydantic's names for the branches of a union are left out."""
    drop = {*COUPLINGS, "[key]", "constrained-str", "str", "float", "int"}
    out: list[str] = []
    for i, step in enumerate(loc):
        text = str(step)
        union_branch = text in drop and i > 0 or "[" in text and text != "[key]" or "(" in text
        if not union_branch or text == "[key]":
            if text != "[key]":
                out.append(text)
    return tuple(out)


def _inside_union(finding: Any) -> bool:
    return any("[" in str(step) for step in finding["loc"])


def _sentence(finding: Any, model: type[BaseModel]) -> str:
    kind, value, context = finding["type"], finding.get("input"), finding.get("ctx", {})
    if kind == "extra_forbidden":
        return _unknown_key(finding, model)
    if kind == "missing":
        return "is missing"
    if kind == "union_tag_invalid":
        tag = str(context.get("tag"))
        close = nearest(tag, COUPLINGS)
        hint = f"did you mean {close!r}?" if close else f"known: {', '.join(COUPLINGS)}"
        return f"there is no coupling {tag!r}; {hint}"
    if kind == "union_tag_not_found":
        return f"needs a coupling, for example {{ coupling = \"aligned\", p = 0.9 }}; known: {', '.join(COUPLINGS)}"
    if kind in ("greater_than_equal", "less_than_equal", "greater_than", "less_than"):
        sign = {"greater_than_equal": "at least", "less_than_equal": "at most", "greater_than": "above", "less_than": "below"}
        limit = next(iter(context.values()))
        return f"is {_show(value)}; it must be {sign[kind]} {limit:g}"
    if kind == "literal_error":
        close = nearest(str(value), str(context.get("expected", "")).replace("'", "").replace(" or ", ", ").split(", "))
        hint = f"; did you mean {close!r}?" if close else ""
        return f"is {_show(value)}; it must be {context.get('expected')}{hint}"
    if kind == "string_pattern_mismatch":
        if context.get("pattern", "").startswith("^[a-z]"):
            return f"{_show(value)} is not a name; names are lower case letters, digits and underscores"
        return f"is {_show(value)}; write it as name/v1, with letters, digits, dots, dashes and underscores"
    if kind == "too_short":
        return "is empty; give at least one"
    if kind == "finite_number":
        return f"is {_show(value)}; it must be a finite number"
    for prefix, words in _TYPES.items():
        if kind in (f"{prefix}_type", f"{prefix}_parsing"):
            return f"is {_show(value)}; it must be {words}"
    return f"is {_show(value)}: {str(finding['msg'])[0].lower()}{str(finding['msg'])[1:]}"


def _unknown_key(finding: Any, model: type[BaseModel]) -> str:
    key = str(finding["loc"][-1])
    known = _fields_at(finding["loc"][:-1], model)
    close = nearest(key, known)
    hint = f"did you mean {close!r}?" if close else f"known here: {', '.join(known)}" if known else "remove it"
    return f"is not a field of the spec; {hint}"


def _fields_at(loc: Iterable[str | int], model: type[BaseModel]) -> list[str]:
    """Names of the fields that may stand where `loc` points to."""
    steps = [str(s) for s in loc]
    if steps and steps[-1] in COUPLINGS:
        return list(COUPLINGS[steps[-1]].model_fields)
    here: Any = model
    for step in steps:
        field = getattr(here, "model_fields", {}).get(step)
        if field is None:
            continue
        inner = [a for a in _arguments(field.annotation) if isinstance(a, type) and issubclass(a, BaseModel)]
        here = inner[0] if inner else here
    return list(getattr(here, "model_fields", {}))


def _arguments(annotation: Any) -> list[Any]:
    inner = getattr(annotation, "__args__", ())
    return [annotation, *(x for a in inner for x in _arguments(a))]


def _show(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
