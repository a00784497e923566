"""TOML in and out: tomllib reads, a small writer gives back what specs are made of, `--set` edits one value."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

from spurgen.errors import SpecError, brief, unknown

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def read(text: str, name: str = "the spec") -> dict[str, Any]:
    """A TOML document as plain data; `name` is what messages call it."""
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))  # some editors begin every file with a byte order mark
    except tomllib.TOMLDecodeError as error:
        raise SpecError("", f"{name} is not valid TOML: {error}") from None
    except ValueError:
        raise SpecError("", f"{name} holds a number of thousands of digits; no field takes one") from None
    except RecursionError:
        raise SpecError("", f"{name} is nested too deeply to be read") from None


def write(data: dict[str, Any]) -> str:
    """Plain data as TOML: scalars first, then one [table] for each table of tables."""
    return "\n".join(_lines(data, ())).strip() + "\n"


def override(data: dict[str, Any], assignment: str) -> None:
    """Apply one `--set a.b.c=value` in place; the value is read as TOML, and as plain text where it is none."""
    path, equals, text = assignment.partition("=")
    keys = path.strip().split(".")
    if not equals or not all(keys):
        raise SpecError("", f"cannot read --set {brief(assignment)}; write it as KEY=VALUE, for example rows=1000")
    try:
        found = tomllib.loads(f"value = {text.strip()}")
        value = found["value"] if len(found) == 1 else text.strip()
    except (ValueError, RecursionError):
        value = text.strip()
    _refuse_half_a_coupling(data, keys)
    table = data
    for depth, name in enumerate(keys[:-1]):
        table = table.setdefault(name, {})
        if not isinstance(table, dict):
            where = ".".join(keys[: depth + 1])
            raise SpecError(where, f"is not a table, so --set {brief(path.strip())} has no place in it")
    table[keys[-1]] = value


def _refuse_half_a_coupling(data: dict[str, Any], keys: list[str]) -> None:
    """`environments.E.C.p` edits a coupling that is there; of one field alone none is made."""
    if len(keys) != 4 or keys[0] != "environments" or keys[3] == "coupling":
        return
    here: Any = data
    for depth, kind in enumerate(("environment", "coupling of a channel")):
        here = here.get(keys[depth]) if isinstance(here, dict) else None
        if isinstance(here, dict) and keys[depth + 1] not in here:
            raise SpecError(".".join(keys[: depth + 1]), unknown(kind, keys[depth + 1], here))


def _lines(table: dict[str, Any], path: tuple[str, ...]) -> list[str]:
    # all tables of a table in one style, so that their order survives: rows depend on it
    tables = {k: v for k, v in table.items() if isinstance(v, dict)}
    inner = {} if path and all(map(_is_leaf, tables.values())) else tables
    plain = [f"{key(k)} = {_value(v)}" for k, v in table.items() if k not in inner]
    head = [f"[{'.'.join(map(key, path))}]"] if path and (plain or not inner) else []
    out = [*head, *plain, ""] if head or plain else []
    for name, value in inner.items():
        out += _lines(value, (*path, name))
    return out


def _is_leaf(table: dict[str, Any]) -> bool:
    """Small tables are written on one line."""
    return len(table) <= 4 and all(not isinstance(v, dict) or (len(v) <= 4 and _is_leaf(v)) for v in table.values())


def key(name: str) -> str:
    """A key as it stands in a TOML file: quoted where it must be."""
    return name if _BARE.fullmatch(name) else _text(name)


def _text(value: str) -> str:
    """JSON's escapes are TOML's, but for DEL, which TOML wants escaped."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, dict):
        inside = ", ".join(f"{key(k)} = {_value(v)}" for k, v in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    return repr(value)
