"""Shows what artefacts hold, at a glance; reads them and never trains."""

from __future__ import annotations

from spurgen.report.verb import report
from spurgen.verb import callable_package

__all__ = ["report"]

callable_package(__name__, report)
