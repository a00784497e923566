"""Keeps a second process out of a directory that one is building."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from spurgen.errors import Busy, DataError
from spurgen.store.layout import BUILD

# Windows locks a range of bytes, and a locked byte cannot be read: so the lock lies far behind the pid.
_FAR = 1 << 20
_TRIES = 200


@contextmanager
def held(directory: Path) -> Iterator[None]:
    """Hold the directory, or raise Busy at once and name the process that does.

    The system drops the lock of a process that dies, so a killed build blocks nobody.
    """
    path = directory / BUILD / "lock"
    handle = _acquire(path, directory)
    try:
        yield
    finally:
        # Unlinked while still held: whoever opened the old file sees that its name is gone and tries again.
        _release(handle, path)


def _acquire(path: Path, directory: Path) -> int:
    for _ in range(_TRIES):
        try:
            for part in (path.parent, path):
                if part.is_symlink():  # what it leads to is somebody's, and would be written to
                    raise DataError(f"{part} is a link, and SpurGen made none; remove it and start again")
            path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o644)
        except FileNotFoundError:  # another process has just cleaned up
            time.sleep(0.001)
            continue
        except OSError as error:
            raise DataError(f"cannot write in {directory} ({error.strerror}); choose another directory") from error
        if not _try(handle):
            pid = _read_pid(handle)
            os.close(handle)
            raise Busy(f"process {pid} is working on {directory}; wait until it has finished, or stop it")
        if _is_current(handle, path):
            os.ftruncate(handle, 0)
            os.write(handle, str(os.getpid()).encode())
            return handle
        os.close(handle)
    raise Busy(f"other processes keep coming and going in {directory}; wait until they have finished")


def _try(handle: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(handle, _FAR, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
            os.lseek(handle, 0, os.SEEK_SET)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_current(handle: int, path: Path) -> bool:
    try:
        named, opened = os.lstat(path), os.fstat(handle)
    except FileNotFoundError:
        return False
    return (named.st_dev, named.st_ino) == (opened.st_dev, opened.st_ino)


def _read_pid(handle: int) -> str:
    os.lseek(handle, 0, os.SEEK_SET)
    return os.read(handle, 32).decode(errors="replace").strip() or "another"


def _release(handle: int, path: Path) -> None:
    try:
        if sys.platform != "win32":
            path.unlink(missing_ok=True)
    finally:
        os.close(handle)
        try:
            if sys.platform == "win32":
                path.unlink(missing_ok=True)
            path.parent.rmdir()  # stays while a journal lies in it
        except OSError:
            pass
