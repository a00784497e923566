"""What has become of the trials: a file of lines that is only ever appended to, by any number of processes.

A line is one JSON object. Whoever was killed while writing leaves half a line; it is skipped, and the next line starts
on its own.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from spurgen.errors import DataError
from spurgen.store import atomic

LEDGER = "ledger.jsonl"


class Entry(NamedTuple):
    """The latest news of a trial. `state` is "started", "done", "failed", or "lost": its files went after it was done.

    `files` says what a trial that is done has left: path within its folder -> digest.
    """

    key: str
    state: str
    time: str
    worker: str
    reason: str = ""
    seconds: float = 0.0
    row: dict[str, Any] = {}
    files: dict[str, str] = {}


def append(directory: Path, key: str, state: str, **more: Any) -> None:
    """Add a line; when this returns, it survives a power cut."""
    told = {"event": state, "key": key, "time": now(), "worker": f"{socket.gethostname()}:{os.getpid()}", **more}
    line = json.dumps(told, ensure_ascii=False, allow_nan=False).encode() + b"\n"
    path = directory / LEDGER
    with atomic.explained(path):
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            with _alone(handle):
                size = os.fstat(handle).st_size
                if size and os.pread(handle, 1, size - 1) != b"\n":
                    line = b"\n" + line  # somebody was killed here
                while line:
                    line = line[os.write(handle, line) :]
                os.fsync(handle)
        finally:
            os.close(handle)


def read(directory: Path) -> dict[str, Entry]:
    """The latest news of every trial that was ever started. A trial that is done stays done, unless it was lost."""
    found: dict[str, Entry] = {}
    for told in lines(directory):
        entry = Entry(
            told["key"],
            told["event"],
            told.get("time", ""),
            told.get("worker", ""),
            told.get("reason", ""),
            float(told.get("seconds") or 0.0),
            told.get("row") or {},
            told.get("files") or {},
        )
        if entry.key not in found or found[entry.key].state != "done" or entry.state == "lost":
            found[entry.key] = entry
    return found


def lines(directory: Path) -> Iterator[dict[str, Any]]:
    """All whole lines, in order."""
    path = directory / LEDGER
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror or error})") from error
    for line in content.split(b"\n"):
        try:
            told = json.loads(line)
        except ValueError:
            continue
        if isinstance(told, dict) and isinstance(told.get("key"), str) and told.get("event") in _EVENTS:
            yield told


_EVENTS = ("started", "done", "failed", "lost")


def now() -> str:
    """The time by the clock, as it is written down."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@contextmanager
def _alone(handle: int) -> Iterator[None]:
    """Hold the file while a line is written."""
    if sys.platform == "win32":  # appending there is one call, and lines are short
        yield
        return
    import fcntl

    fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(handle, fcntl.LOCK_UN)
