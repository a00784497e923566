"""A report in a browser that is on this machine: Chromium, driven by Playwright; axe-core comes from npm.

Where one of them is missing the tests are skipped, unless SPURGEN_BROWSER=1 says that they must run: `make browser`.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from spurgen.report import report
from tests.report.studies import METHODS, Believer, Told, fabricate, usual
from tests.worlds import world

AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def missing(what: str) -> NoReturn:
    """Skip, or fail where the tests must run."""
    if os.environ.get("SPURGEN_BROWSER") == "1":
        pytest.fail(f"{what}; `make browser` says what is needed")
    pytest.skip(f"{what}; see `make browser`")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium without a window."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("Playwright is not installed (pip install 'spurgen[browser]')")
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        missing("there is no Chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core."""
    if not AXE.is_file():
        missing("axe-core is not installed (npm ci --prefix tests/browser)")
    return AXE.read_text("utf-8")


@pytest.fixture(scope="session")
def page_path(tmp_path_factory) -> Path:
    """The report of two models, four methods and a world in three strengths; one trial failed."""
    trials = usual(3)
    trials += [Told(t.method, t.believer, t.config, t.settings, t.seed, model="resnet18") for t in usual(2)]
    worlds = {"small-0": world()}
    for p in (0.5, 0.8):
        worlds[f"small-{p}"] = world(environments__strong__background__p=p)
        for method, believer in METHODS.items():
            weaker = Believer(believer.core, {c: lean * p for c, lean in believer.leans.items()})
            trials.append(Told(method, weaker, ablation="strength", variant=f"p={p}", data=f"small-{p}"))
    trials.append(Told("irm", METHODS["erm"], fails="the loss became NaN in step 12"))
    return report(fabricate(tmp_path_factory.mktemp("study") / "made", worlds, trials))
