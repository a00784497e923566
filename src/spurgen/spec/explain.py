"""Turns pydantic's findings into one sentence: the path of the field, what is wrong, the nearest valid name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ValidationError

from spurgen.errors import SpecError, brief, nearest
from spurgen.spec.coupling import COUPLINGS
from spurgen.spec.toml import key

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


def spec_error(error: ValidationError, model: type[BaseModel], data: Any, prefix: tuple[str, ...] = ()) -> SpecError:
    """The most telling of a validation's findings as a SpecError."""
    findings = [(_path(f, data), f) for f in error.errors(include_url=False)]
    # a misspelt key explains the missing one beside it, so it is told first; otherwise the order of the file
    path, _ = min(findings, key=lambda found: found[1]["type"] != "extra_forbidden")
    # of the branches of a union the one that was followed furthest is the one that was meant
    path = max((p for p, _ in findings if p[: len(path)] == path), key=len)
    here = [f for p, f in findings if p == path]
    telling = [f for f in here if not f["type"].endswith(("_type", "_parsing"))]
    message = _sentence(telling[0], model) if telling else _wrong_type(here)
    return SpecError(".".join((*prefix, *map(key, path)))[:200], message)


def _path(finding: Any, data: Any) -> tuple[str, ...]:
    """Where the field stands in the file: pydantic also names the branches of unions, which no file knows."""
    out: list[str] = []
    *outer, last = finding["loc"] or ("",)
    for step in outer:
        if (isinstance(data, dict) and step in data) or (isinstance(data, list) and step in range(len(data))):
            out.append(str(step))
            data = data[step]
    real = isinstance(data, dict) and (last in data or finding["type"] == "missing")
    if real or (isinstance(data, list) and isinstance(last, int)):
        out.append(str(last))
    return tuple(out)


def _wrong_type(findings: list[Any]) -> str:
    kinds = dict.fromkeys(_TYPES.get(f["type"].rsplit("_", 1)[0], "something else") for f in findings)
    return f"is {brief(findings[0].get('input'))}; it must be {' or '.join(kinds)}"


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
        return f"there is no coupling {brief(tag)}; {hint}"
    if kind == "union_tag_not_found":
        return f'needs a coupling, for example {{ coupling = "aligned", p = 0.9 }}; known: {", ".join(COUPLINGS)}'
    if kind in ("greater_than_equal", "less_than_equal", "greater_than", "less_than"):
        sign = {
            "greater_than_equal": "at least",
            "less_than_equal": "at most",
            "greater_than": "above",
            "less_than": "below",
        }
        limit = next(iter(context.values()))
        return f"is {brief(value)}; it must be {sign[kind]} {limit if isinstance(limit, int) else f'{limit:g}'}"
    if kind == "literal_error":
        close = nearest(str(value), str(context.get("expected", "")).replace("'", "").replace(" or ", ", ").split(", "))
        hint = f"; did you mean {close!r}?" if close else ""
        return f"is {brief(value)}; it must be {context.get('expected')}{hint}"
    if kind == "string_pattern_mismatch":
        if context.get("pattern", "").startswith("^[a-z]"):
            return f"{brief(value)} is not a name; names are lower case letters, digits and underscores"
        if "/v" not in context.get("pattern", ""):
            return f"is {brief(value)}; names are letters, digits, dots, dashes and underscores"
        return f"is {brief(value)}; write it as name/v1, with letters, digits, dots, dashes and underscores"
    if kind == "too_short":
        return "is empty; give at least one"
    if kind == "string_too_long":
        return f"is {brief(value)}; it must have at most {context['max_length']} letters"
    if kind == "value_error":
        return str(context["error"])
    if kind == "finite_number":
        return f"is {brief(value)}; it must be a finite number"
    return f"is {brief(value)}: {str(finding['msg'])[0].lower()}{str(finding['msg'])[1:]}"


def _unknown_key(finding: Any, model: type[BaseModel]) -> str:
    name = str(finding["loc"][-1])
    known = _fields_at(finding["loc"][:-1], model)
    close = nearest(name, known)
    hint = f"did you mean {close!r}?" if close else f"known here: {', '.join(known)}" if known else "remove it"
    whose = "study" if model.__name__ == "StudySpec" else "spec"
    return f"is not a field of the {whose}; {hint}"


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
