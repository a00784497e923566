"""The report of a study: read, summed up, drawn, and written as one file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from spurgen.errors import DataError
from spurgen.store import atomic

if TYPE_CHECKING:
    from spurgen.report.summarize import Summary

REPORT = "report/index.html"


def report(directory: str | Path, out: str | Path | None = None) -> Path:
    """Make the report of a study from its directory, and say where it is: `out`, or report/index.html in there.

    It is one file that opens from disk without a network. Nothing is trained; what is missing is said on the page.
    """
    return made(directory, out)[0]


def made(directory: str | Path, out: str | Path | None = None) -> tuple[Path, Summary]:
    """The same, with what the page says as data."""
    from spurgen.report.page import render
    from spurgen.report.pictures import pictures
    from spurgen.report.reading import read
    from spurgen.report.summarize import summarize

    target = Path(out) if out is not None else Path(directory) / REPORT
    with atomic.looked_at(target):
        if target.is_dir():
            raise DataError(f"{target} is a directory; give the name of an HTML file")
        if target.suffix.lower() not in (".html", ".htm"):
            raise DataError(f"{target} does not end in .html; give the name of an HTML file")
    study = read(directory)
    summary = summarize(study)
    drawn = {at: found for at, scope in enumerate(summary.scopes) if (found := pictures(study, scope)) is not None}
    text = render(summary, drawn)
    with atomic.explained(target):
        target.parent.mkdir(parents=True, exist_ok=True)
    atomic.write(target, text.encode())
    return target, summary
