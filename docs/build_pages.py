"""Writes the pages of docs/ to site/, with the files they quote (`{{ path }}`) put in."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main() -> None:
    """Write every page anew."""
    site = ROOT / "site"
    shutil.rmtree(site, ignore_errors=True)
    site.mkdir()
    for page in sorted((ROOT / "docs").glob("*.md")):
        (site / page.name).write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"wrote {site}")


def filled(text: str) -> str:
    """The page with each quoted file in its place; a file that is missing is an error."""

    def quoted(found: re.Match[str]) -> str:
        return (ROOT / found[1]).read_text(encoding="utf-8").rstrip()

    return re.sub(r"^\{\{ (\S+) \}\}$", quoted, text, flags=re.MULTILINE)


if __name__ == "__main__":
    main()
