"""What a card says about noise: what was made unreliable on purpose, how often, and where the truth stands."""

from __future__ import annotations

from typing import Any


def columns(spec: Any) -> dict[str, str]:
    """The columns that noise adds, and what each holds."""
    out = {}
    if spec.noise.core:
        out["label_shown"] = "the class whose object is drawn; empty where it is the label"
    if spec.noise.label:
        out["label_annotated"] = "the label that a learner is told, sometimes wrong; `label` is the truth"
    for name in _noisy(spec.noise.signal):
        out[f"{name}_shown"] = f"the {name} that is shown; empty where it is that of the column `{name}`"
    for name in _noisy(spec.noise.annotation):
        out[f"{name}_annotated"] = f"the {name} that a learner is told, sometimes wrong; `{name}` is the truth"
    return out


def where(spec: Any) -> str:
    """The splits that are noisy, in words."""
    return "all splits" if spec.noise.splits is None else f"these splits: {', '.join(spec.noise.splits) or 'none'}"


def rows(spec: Any) -> list[list[str]]:
    """Each noise: what it does, how often, and the column that tells."""
    noise = spec.noise
    drawn, wrong = "is that of a {} drawn at random", "is a wrong one"
    found = [["the object", noise.core, drawn.format("class"), "label_shown"]] if noise.core else []
    found += [["the label that a learner is told", noise.label, wrong, "label_annotated"]] if noise.label else []
    for name, p in _noisy(noise.signal).items():
        found.append([f"the {name} that is shown", p, drawn.format(name), f"{name}_shown"])
    for name, p in _noisy(noise.annotation).items():
        found.append([f"the {name} that a learner is told", p, wrong, f"{name}_annotated"])
    return [[f"{what} {how}", f"{p:.4g}", f"`{column}`"] for what, p, how, column in found]


def _noisy(shares: dict[str, float]) -> dict[str, float]:
    return {name: p for name, p in shares.items() if p}


def missing(spec: Any) -> str:
    """A sentence on empty cells."""
    empty = [f"`{name}`" for name in columns(spec) if name.endswith("_shown")]
    if not empty:
        return "Nothing is missing."
    return f"Cells of {', '.join(empty)} are empty where a row shows what it says; nothing else is missing."


def protocol(spec: Any) -> str:
    """A sentence on where labels and attributes come from."""
    told = [name for name in columns(spec) if name.endswith("_annotated")]
    if not told:
        return "Labels and attributes are what the rows were drawn from, not annotations."
    return (
        f"Labels and attributes are what the rows were drawn from. {', '.join(told)}: simulated annotations, wrong at "
        "the rates that the spec gives."
    )
