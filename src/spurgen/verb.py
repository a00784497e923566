"""Lets a package share its name with the verb it serves: `spurgen.render` is a package and can be called."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any


def callable_package(name: str, function: Callable[..., Any]) -> None:
    """Make calling the package `name` call `function`.

    Importing `spurgen.render` anywhere sets the attribute `render` of `spurgen` to the package, whatever stood there
    before; so the package itself must answer to the call.
    """
    module = sys.modules[name]
    module.__class__ = type(
        "Verb",
        (ModuleType,),
        {
            "__call__": lambda self, *args, **how: function(*args, **how),
            "__signature__": property(lambda self: inspect.signature(function)),
            "__doc__": function.__doc__,
        },
    )
