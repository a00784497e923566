"""What may be wrong with a dataset, as a list for programs and in a few lines for people, with what mends it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from spurgen.store import layout

_NAMED = 5  # rows and columns that are named one by one; the rest is counted
_BYTES = {"size", "hash", "missing"}  # what `generate` sees by itself: it looks at bytes, and draws nothing to compare
_CONTENT = {"content", "rows", "count", "unreadable", "origin"}


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: in which file, what, and at which rows and columns where that can be said."""

    file: str
    kind: str
    message: str
    row_ids: tuple[int, ...] = ()
    columns: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.file}: {self.message}"


@dataclass(frozen=True)
class Report:
    """What was checked, and every problem found; none means that the dataset is what its spec says."""

    directory: Path
    digest: str | None
    shards: int = 0
    rows: int = 0
    redrawn_rows: int = 0
    problems: list[Problem] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


def differing(file: str, rows: Sequence[int], columns: Sequence[str]) -> Problem:
    """Cells that are not what the spec draws."""
    named = f"column {columns[0]!r} is" if len(columns) == 1 else f"columns {_listed(list(map(repr, columns)))} are"
    word = "row" if len(rows) == 1 else "rows"
    message = f"{named} not what the spec draws at {word} {_listed(rows)}"
    return Problem(file, "content", message, tuple(rows), tuple(columns))


def _listed(names: Sequence[object]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(map(str, names[:_NAMED])) + more


def lines(problems: Sequence[Problem], most: int = 10) -> list[str]:
    """The problems for people: one line for each file and kind, and no more than a few."""
    kinds: dict[tuple[str, str], list[Problem]] = {}
    for problem in problems:
        kinds.setdefault((problem.file, problem.kind), []).append(problem)
    said = [_line(alike) for alike in kinds.values()]
    return said if len(said) <= most else [*said[:most], f"… and {len(said) - most} more (--json lists them all)"]


def _line(alike: Sequence[Problem]) -> str:
    if alike[0].kind == "content":
        rows = sorted({row for problem in alike for row in problem.row_ids})
        return str(differing(alike[0].file, rows, [column for problem in alike for column in problem.columns]))
    return str(alike[0]) + (f" and {len(alike) - 1} more of that kind" if len(alike) > 1 else "")


def count(problems: Sequence[Problem]) -> str:
    """How many there are, in words."""
    files = len({problem.file for problem in problems})
    where = f" in {files} files" if files > 1 else ""
    return f"{len(problems)} problem{'s' if len(problems) > 1 else ''}{where}"


def remedy(problems: Sequence[Problem]) -> str:
    """What mends all of them."""
    strays = sorted(p.file for p in problems if p.kind == "stray" and not layout.split_of(Path(p.file).name))
    said = []
    if any(problem.file not in strays for problem in problems):
        same = "with the same spec, seed and rows"
        anew = f"`spurgen generate … --force` {same} draws it anew"
        said.append(anew if _needs_force(problems) else f"`spurgen generate` {same} mends it")
    if strays:
        said.append(f"move {_listed(strays)} elsewhere, since SpurGen removes nothing that it did not write")
    return "; ".join(said)


def _needs_force(problems: Sequence[Problem]) -> bool:
    """Whether something is wrong that no hash tells: the manifest, or the version of SpurGen, agrees with it."""
    seen = {problem.file for problem in problems if problem.kind in _BYTES}
    if any(problem.kind == "digest" for problem in problems):
        return True
    unseen = [problem for problem in problems if problem.file not in seen]
    return any(p.kind in ("version", "spec") or (p.kind in _CONTENT and p.file != layout.MANIFEST) for p in unseen)
