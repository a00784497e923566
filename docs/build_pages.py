"""Puts the files that the pages of docs/ quote into them: the block of code after `<!-- path -->` is that file.

python docs/build_pages.py            write the pages
python docs/build_pages.py --check    fail when a page quotes what a file no longer says
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
QUOTE = re.compile(r"^<!-- (\S+) -->\n```python\n.*?^```$", flags=re.MULTILINE | re.DOTALL)


def main() -> int:
    """Write every page anew, or compare them."""
    ask = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ask.add_argument("--check", action="store_true", help="write nothing; exit with 1 when a page is out of date")
    check = ask.parse_args().check
    stale = []
    for page in sorted((ROOT / "docs").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        if filled(text) != text:
            stale.append(page.name)
            if not check:
                page.write_text(filled(text), encoding="utf-8")
    if check and stale:
        print(f"out of date: {', '.join(stale)}; run: make docs")
        return 1
    print(f"wrote {', '.join(stale)}" if stale else "every page quotes what the files say")
    return 0


def filled(text: str) -> str:
    """The page with each quoted file in its place; a file that is missing is an error."""

    def quoted(found: re.Match[str]) -> str:
        code = (ROOT / found[1]).read_text(encoding="utf-8").rstrip()
        return f"<!-- {found[1]} -->\n```python\n{code}\n```"

    return QUOTE.sub(quoted, text)


if __name__ == "__main__":
    sys.exit(main())
