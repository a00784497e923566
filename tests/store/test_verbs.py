"""What the command line makes of the store: progress, and sentences for paths that no system takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from spurgen.cli import export as cli_export
from spurgen.cli import verify as cli_verify
from spurgen.errors import DataError
from spurgen.export import export
from spurgen.store.reader import open as open_dataset
from spurgen.store.verify import verify
from spurgen.store.writer import build
from worlds import world

LONG = "x" * 300


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """What the bars of `verify` and `export` were told."""
    told: list[tuple[int, int]] = []

    @contextmanager
    def bar(total: int, what: str, quiet: bool) -> Iterator[Any]:
        yield lambda done, total: None if quiet else told.append((done, total))

    for verb in (cli_export, cli_verify):
        monkeypatch.setattr(verb, "progress_bar", bar)
    return told


def test_verify_shows_progress(built: Path, seen: list[tuple[int, int]]) -> None:
    cli_verify.command.main([str(built), "--shallow"], standalone_mode=False)
    assert seen[-1] == (240, 240)
    seen.clear()
    cli_verify.command.main([str(built), "--shallow", "--quiet"], standalone_mode=False)
    assert seen == []


def test_export_shows_progress(built: Path, tmp_path: Path, seen: list[tuple[int, int]]) -> None:
    arguments = [str(built), "--to", "webdataset", "--out", str(tmp_path / "out")]
    cli_export.command.main(arguments, standalone_mode=False)
    assert seen[-1] == (240, 240)


def test_names_that_are_too_long_are_one_sentence(built: Path, tmp_path: Path) -> None:
    for path in (tmp_path / LONG, tmp_path / LONG / "below"):
        for force in (False, True):
            with pytest.raises(DataError, match=r"cannot be used.*choose another path"):
                build(world(), path, force=force)
            with pytest.raises(DataError, match=r"cannot be used.*choose another path"):
                export(built, "wilds", path, force=force)
        with pytest.raises(DataError, match=r"cannot be used.*choose another path"):
            open_dataset(path)
        assert [p.kind for p in verify(path)] == ["manifest"]
    with pytest.raises(DataError, match="cannot be used"):
        export(built, "wilds", tmp_path / LONG[:250])  # long enough for the place beside it to be too long
