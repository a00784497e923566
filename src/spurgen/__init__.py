"""SpurGen: does a model understand, or does it cheat?

A dataset is a table of latents; a modality is a pure function of it; an intervention is an edit of one column.

    import spurgen
    spec = spurgen.load_spec("quick/v1")
    table = spurgen.sample(spec, rows=100)
    other = spurgen.intervene.shuffle(table, spec, "background", seed=1)
    pictures = spurgen.render(other, spec, "image")

The verbs below are imported when they are first used, so that `import spurgen` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spurgen.version import __version__

if TYPE_CHECKING:
    from spurgen.evaluate import evaluate
    from spurgen.export import export
    from spurgen.latents import intervene
    from spurgen.latents.audit import audit
    from spurgen.latents.sample import Plan, sample
    from spurgen.render import draw as render
    from spurgen.report import report
    from spurgen.spec import World
    from spurgen.spec import load as load_spec
    from spurgen.store.reader import open
    from spurgen.store.verify import verify
    from spurgen.store.writer import build
    from spurgen.study.run import run_study
    from spurgen.train import train
    from spurgen.train.pretrain import pretrain

_VERBS = {
    "load_spec": ("spurgen.spec", "load"),
    "World": ("spurgen.spec", "World"),
    "sample": ("spurgen.latents.sample", "sample"),
    "Plan": ("spurgen.latents.sample", "Plan"),
    "intervene": ("spurgen.latents.intervene", None),
    "audit": ("spurgen.latents.audit", "audit"),
    "render": ("spurgen.render", None),
    "build": ("spurgen.store.writer", "build"),
    "open": ("spurgen.store.reader", "open"),
    "verify": ("spurgen.store.verify", "verify"),
    "export": ("spurgen.export", None),
    "pretrain": ("spurgen.train.pretrain", "pretrain"),
    "train": ("spurgen.train", None),
    "evaluate": ("spurgen.evaluate", None),
    "run_study": ("spurgen.study.run", "run_study"),
    "report": ("spurgen.report", None),
}

__all__ = [
    "Plan",
    "World",
    "__version__",
    "audit",
    "build",
    "evaluate",
    "export",
    "intervene",
    "load_spec",
    "open",
    "pretrain",
    "render",
    "report",
    "run_study",
    "sample",
    "train",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in _VERBS:
        raise AttributeError(f"module 'spurgen' has no attribute {name!r}")
    import importlib

    module, attribute = _VERBS[name]
    found = importlib.import_module(module)
    return found if attribute is None else getattr(found, attribute)


def __dir__() -> list[str]:
    return __all__
