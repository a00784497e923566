"""What a world is: the spec, its presets, and the sentences for what is wrong with one."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import resources
from pathlib import Path

from spurgen.errors import SpecError, UnknownName, shortened, unknown
from spurgen.spec.world import World

__all__ = ["World", "load", "preset_text", "presets", "text_of"]


def presets() -> list[str]:
    """The ids of the worlds that come with the package."""
    files = resources.files("spurgen.spec").joinpath("presets").iterdir()
    return sorted("/".join(f.name.removesuffix(".toml").rsplit("-", 1)) for f in files if f.name.endswith(".toml"))


def preset_text(name: str) -> str:
    """The commented TOML of a preset."""
    if name not in presets():
        raise UnknownName(unknown("preset", name, presets()))
    return resources.files("spurgen.spec").joinpath("presets", name.replace("/", "-") + ".toml").read_text("utf-8")


def load(name_or_path: str | Path | World, overrides: Iterable[str] = ()) -> World:
    """A preset by its id, or a TOML file by its path, with `KEY=VALUE` edits applied before it is checked."""
    from spurgen.spec.toml import override, read

    if isinstance(name_or_path, World):
        data = name_or_path.dump()
    else:
        data = read(_text(name_or_path), shortened(str(name_or_path)))
    for assignment in overrides:
        override(data, assignment)
    return World.from_dict(data)


def _text(name_or_path: str | Path) -> str:
    given, path = str(name_or_path), Path(name_or_path)
    name = shortened(given)
    if given in presets():
        return preset_text(given)
    if not (isinstance(name_or_path, Path) or given.endswith(".toml") or _is_file(path)):
        raise UnknownName(unknown("preset", given, presets()) + " (the path of a spec ends in .toml)")
    return text_of(path, name)


def text_of(path: Path, name: str) -> str:
    """What a TOML file holds; `name` is what messages call it."""
    try:
        if path.exists() and not path.is_file() and not path.is_dir():  # reading a pipe may wait for ever
            raise SpecError("", f"{name} is not a regular file; give the path of a .toml file")
        return path.read_text("utf-8")
    except FileNotFoundError:
        raise SpecError("", f"there is no file {name}") from None
    except IsADirectoryError:
        raise SpecError("", f"{name} is a directory; give the path of a .toml file") from None
    except UnicodeDecodeError:
        raise SpecError("", f"{name} is not a text file in UTF-8") from None
    except (OSError, ValueError) as error:
        raise SpecError("", f"{name!r} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that is too long for the file system
        return False
