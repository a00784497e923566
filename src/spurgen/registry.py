"""Finds parts by name: a file's stem is the part's name, and installed packages may add their own."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from importlib.metadata import entry_points
from typing import Any, Generic, TypeVar

from spurgen.errors import SpurgenError, UnknownName, unknown

T = TypeVar("T")


class Registry(Generic[T]):
    """Parts of one kind. Each is an object named `attribute` in a module of `package`.

    Other packages add parts through the entry-point group of the kind, for example
    `[project.entry-points."spurgen.channels"]  fog = "my_package.fog:CHANNEL"`.
    """

    def __init__(self, kind: str, package: str, attribute: str):
        self.kind = kind
        self.package = package
        self.attribute = attribute

    def names(self) -> list[str]:
        """Every name, sorted; imports none of the parts."""
        return sorted({*self._modules(), *self._entry_points(), *self._loaded()})

    def get(self, name: str) -> T:
        """The part called `name`; an unknown name raises with the closest match."""
        part = self._loaded().get(name)
        if part is None:
            part = self._loaded()[name] = self._load(name)
        return part

    def add(self, name: str, part: T) -> None:
        """Make a part known in this process only, for notebooks and tests."""
        if name in self._modules():
            raise ValueError(f"{self.kind} {name!r} comes with spurgen; give yours another name")
        self._loaded()[name] = part

    def __contains__(self, name: object) -> bool:
        return name in self._modules() or name in self._entry_points() or name in self._loaded()

    def _load(self, name: str) -> Any:
        try:
            if name in self._modules():
                return getattr(importlib.import_module(f"{self.package}.{name}"), self.attribute)
            if name in self._entry_points():
                return self._entry_points()[name].load()
        except SpurgenError:
            raise
        except Exception as error:
            where = f"{self.package}.{name}" if name in self._modules() else self._entry_points()[name].value
            raise SpurgenError(
                f"the {self.kind} {name!r} cannot be loaded from {where} ({type(error).__name__}: {error}); mend that "
                "file, or take it away"
            ) from error
        raise UnknownName(unknown(self.kind, name, self.names()))

    @cache  # noqa: B019  registries live as long as the process
    def _loaded(self) -> dict[str, Any]:
        return {}

    @cache  # noqa: B019
    def _modules(self) -> frozenset[str]:
        path = importlib.import_module(self.package).__path__
        return frozenset(m.name for m in pkgutil.iter_modules(path) if not m.name.startswith("_"))

    @cache  # noqa: B019
    def _entry_points(self) -> dict[str, Any]:
        plural = f"{self.kind[:-1]}ies" if self.kind.endswith("y") else f"{self.kind}s"
        return {e.name: e for e in entry_points(group=f"spurgen.{plural}")}
