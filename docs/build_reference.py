"""Writes docs/spec.md and docs/study-reference.md, all that a spec and a study may say, from the schemas themselves.

python docs/build_reference.py            write them
python docs/build_reference.py --check    fail when what is written is not what the code says
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from spurgen.compare.select import RULES
from spurgen.parts import Choice, Constant, Distribution, Integers, Trait, Uniform
from spurgen.spec.coupling import COUPLINGS
from spurgen.spec.known import CHANNELS, MODALITIES, classes
from spurgen.spec.world import ChannelSpec, NoiseSpec, SplitSpec, World
from spurgen.study.spec import AblationSpec, ModelSpec, PretrainSpec, SearchSpec, StudySpec, WorldSpec

DOCS = Path(__file__).parent


def main() -> int:
    """Write the pages, or compare them."""
    ask = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ask.add_argument("--check", action="store_true", help="write nothing; exit with 1 when a page is out of date")
    check, apart = ask.parse_args().check, 0
    for name, text in (("spec.md", page()), ("study-reference.md", study_page())):
        path = DOCS / name
        if not check:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path}")
            continue
        current = path.exists() and path.read_text(encoding="utf-8") == text
        print(f"{path} is up to date" if current else f"{path} is out of date; run: make docs")
        apart += not current
    return int(apart > 0)


def study_page() -> str:
    """All that a study may say."""
    parts = [
        "# Studies: reference",
        "A study is a TOML file. This page is written from the schema that checks it (`make docs`); "
        "`spurgen list studies` shows studies to start from, and [studies](studies.md) explains them.",
        *model("The top level", StudySpec),
        *model("`[worlds.NAME]`", WorldSpec),
        *model("`[models.NAME]`", ModelSpec),
        *model("`[ablations.NAME]`", AblationSpec),
        *model("`[search]`", SearchSpec),
        *model("`[pretrain]`", PretrainSpec),
        "## Selection rules",
        table(("rule", "chooses"), [(f"`{r.name}`", r.about) for r in RULES.values()]),
    ]
    return "\n\n".join(parts) + "\n"


def page() -> str:
    """The whole page."""
    parts = [
        "# The spec: reference",
        "A spec is a TOML file. This page is written from the schema that checks it (`make docs`); "
        "`spurgen list presets` shows worlds to start from.",
        *model("The top level", World),
        *model("`[splits.NAME]`", SplitSpec),
        *model("`[channels.NAME]`", ChannelSpec),
        *model("`[noise]`", NoiseSpec),
        "## `[environments.NAME]`: couplings",
        "Each line ties one channel to the label (or, with `given`, to another channel): "
        '`hue = { coupling = "aligned", p = 0.9 }`. Channels without a line are uniform.',
    ]
    for name, kind in COUPLINGS.items():
        parts += model(f"`{name}`", kind, level=3, leave_out={"coupling"})
    for name in MODALITIES.names():
        part = MODALITIES.get(name)
        parts += model(f"`[{name}]`", part.options, about=f"Options of the modality: {part.about}.")
        parts += ["Traits, and how each varies when no channel sets it:", traits(part.traits)]
    parts += ["## Channels", channels(), "## Classes", class_names()]
    return "\n\n".join(parts) + "\n"


def model(
    title: str, kind: type[BaseModel], level: int = 2, about: str | None = None, leave_out: Iterable[str] = ()
) -> list[str]:
    """A heading, a sentence and the fields of one table of the spec."""
    schema = kind.model_json_schema()
    required, known = set(schema.get("required", ())), schema.get("$defs", {})
    rows = [
        (f"`{name}`", shape(field, known), "required" if name in required else default(field), cell(field))
        for name, field in schema.get("properties", {}).items()
        if name not in set(leave_out)
    ]
    sentence = about or (kind.__doc__ or "").strip().split("\n")[0]
    out = [f"{'#' * level} {title}", sentence]
    return [*out, table(("field", "type", "default", "meaning"), rows)] if rows else out


def shape(field: Mapping[str, Any], known: Mapping[str, Any]) -> str:
    """What may be written for a field, in words."""
    if "$ref" in field:
        name = field["$ref"].rsplit("/", 1)[-1]
        return "table" if known[name].get("type") == "object" else shape(known[name], known)
    if "const" in field:
        return f"`{field['const']!r}`"
    if "enum" in field:
        return " or ".join(f'`"{value}"`' for value in field["enum"])
    options = field.get("anyOf") or field.get("oneOf")
    if options:
        words = dict.fromkeys(shape(option, known) for option in options if option.get("type") != "null")
        anything = {"true or false", "whole number", "number", "text"}
        words = {"value": None} | words if words.keys() >= anything else words
        return " or ".join(word for word in words if "value" not in words or word not in anything)
    kind = field.get("type")
    if kind == "array":
        return f"list of {shape(field.get('items', {}), known)}"
    if kind == "object":
        inside = field.get("additionalProperties")
        return f"table of {shape(inside, known)}" if isinstance(inside, dict) else "table"
    return {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}.get(
        str(kind), "anything"
    )


def default(field: Mapping[str, Any]) -> str:
    """What holds when a field is left out."""
    value = field.get("default")
    return "" if value in (None, [], "") or isinstance(value, dict) else f"`{toml(value)}`"


def toml(value: Any) -> str:
    """A plain value the way TOML writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "[" + ", ".join(toml(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {toml(item)}" for name, item in value.items() if item is not None) + "}"
    return f'"{value}"' if isinstance(value, str) else f"{value}"


def cell(field: Mapping[str, Any]) -> str:
    """The explanation of a field and its limits."""
    limits = [
        f"{words} {field[key]}"
        for key, words in (
            ("minimum", "at least"),
            ("exclusiveMinimum", "more than"),
            ("maximum", "at most"),
            ("exclusiveMaximum", "less than"),
        )
        if key in field
    ]
    text = str(field.get("description", ""))
    return f"{text} ({', '.join(limits)})" if limits else text


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A Markdown table."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(text.replace("|", "\\|") for text in line) + " |" for line in lines)


def traits(known: Iterable[Trait]) -> str:
    """The traits of a modality."""
    rows = [(f"`{t.name}`", law(t.distribution), allowed(t), t.about) for t in known]
    return table(("trait", "varies", "may be", "meaning"), rows)


def law(distribution: Distribution) -> str:
    """A distribution in words."""
    match distribution:
        case Uniform(low, high):
            return f"{low:g} to {high:g}"
        case Integers(low, high):
            return f"whole numbers {low} to {high}"
        case Choice(names):
            return f"one of {len(names)} names"
        case Constant(value):
            return f"always {toml(value)}"


def allowed(trait: Trait) -> str:
    """What a channel or a spec may set a trait to."""
    if trait.names:
        return ", ".join(trait.names)
    return f"{trait.bounds[0]:g} to {trait.bounds[1]:g}" if trait.bounds else ""


def channels() -> str:
    """Every channel there is."""
    known = [CHANNELS.get(name) for name in CHANNELS.names()]
    rows = [(f"`{c.name}`", c.about, c.says or "–", ", ".join(c.values)) for c in known]
    return table(("channel", "what it is", "in captions", "values"), rows)


def class_names() -> str:
    """Every class there is."""
    return table(
        ("class", "words in captions"), [(f"`{name}`", ", ".join(part.words)) for name, part in classes().items()]
    )


if __name__ == "__main__":
    sys.exit(main())
