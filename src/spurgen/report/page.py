"""A summary and its pictures as one HTML file that needs nothing else."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from spurgen.report import chapters, records, reproduce, view
from spurgen.report.pictures import Pictures
from spurgen.report.summarize import Summary

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = "templates"


def render(summary: Summary, pictures: dict[int, Pictures]) -> str:
    """The page; `pictures` are those of each scope by its position, as far as they could be drawn."""
    from markupsafe import Markup

    page = {
        "id": summary.about.get("id", summary.name),
        "about": summary.about,
        "name": summary.name,
        "last": summary.last.replace("T", " ").removesuffix("Z"),
        "text": summary.text,
        "rule": summary.rule,
        "early_stopping": summary.early_stopping,
        "rules": view.rules(summary),
        "measures": view.measures(summary),
        "basis": view.basis(summary),
        "overview": view.overview(summary),
        "scopes": view.scopes(summary, pictures),
        "panels": view.panels(summary),
        "costs": view.costs(summary),
        "strengths": chapters.strengths(summary),
        "left_out": chapters.left_out(summary),
        **records.records(summary),
        "again": {
            "whole": reproduce.whole(summary.name, summary.about.get("device", "")),
            "datasets": [reproduce.dataset(summary.name, d) for d in summary.datasets],
            "trial": records.one_trial(summary),
        },
    }
    template = _environment().get_template("page.html")
    return once(template.render(page=page, style=Markup(_text("style.css")), script=Markup(_text("script.js"))))


_IMAGE = re.compile(r'<img src="(data:[^"]+)" alt="([^"]*)" width="(\d+)" height="\d+"(?: class="(\w+)")?>')


def once(page: str) -> str:
    """The page with every picture that it shows several times, in variants of one world say, written once.

    Those are backgrounds; pictures that are shown once stay images.
    """
    times = Counter(found[1] for found in _IMAGE.finditer(page))
    names = {uri: f"p{i}" for i, uri in enumerate(uri for uri, n in times.items() if n > 1)}
    if not names:
        return page

    def placed(found: re.Match[str]) -> str:
        uri, alt, size, kind = found.groups()
        if uri not in names:
            return found[0]
        classes = " ".join(filter(None, ("pic", names[uri], kind)))
        return f'<span class="{classes}" role="img" aria-label="{alt}" style="--px:{size}px"></span>'

    rules = "".join(f".{name}{{background-image:url({uri})}}" for uri, name in names.items())
    return _IMAGE.sub(placed, page).replace("</head>", f"<style>{rules}</style>\n</head>", 1)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("spurgen.report", TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _text(name: str) -> Any:
    return files("spurgen.report").joinpath(TEMPLATES, name).read_text("utf-8")
