"""Writes files so that a name either does not exist or holds the whole file, whatever is killed and when."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from spurgen.errors import DataError


def sync_directory(directory: Path) -> None:
    """Make renames in a directory survive a power cut, where the system can."""
    try:
        handle = os.open(directory, os.O_RDONLY)
    except OSError:  # Windows opens no directories
        return
    try:
        os.fsync(handle)
    except OSError:  # some network file systems sync no directories
        pass
    finally:
        os.close(handle)


def replace(temporary: Path, target: Path) -> None:
    """Give a finished file its name; the caller has synced its contents."""
    target.parent.mkdir(parents=True, exist_ok=True)
    os.replace(temporary, target)
    sync_directory(target.parent)


def write(target: Path, content: bytes, temporary: Path | None = None) -> None:
    """Write a small file in one step."""
    temporary = temporary or target.with_name(f".{target.name}.tmp")
    with explained(target):
        try:
            with open(temporary, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            replace(temporary, target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


@contextmanager
def looked_at(path: Path) -> Iterator[None]:
    """Turn what the system says about a path that it cannot even look at (too long, forbidden) into a sentence."""
    try:
        yield
    except OSError as error:
        name = str(path) if len(str(path)) <= 120 else f"{str(path)[:100]}…"
        raise DataError(f"{name} cannot be used ({error.strerror or error}); choose another path") from error


@contextmanager
def explained(target: Path) -> Iterator[None]:
    """Turn what the system says about a failed write into a sentence with what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise DataError(
                f"no space left to write {target}; make room and run the same command again: "
                "everything that was finished is kept"
            ) from error
        raise DataError(
            f"cannot write {target} ({error.strerror or error}); put that right and run the same command again: "
            "everything that was finished is kept"
        ) from error
