"""A study of four methods on a small world, with variants of it and a trial that failed."""

from __future__ import annotations

from pathlib import Path

import pytest

from spurgen.report.reading import Study, read
from spurgen.report.summarize import Summary, summarize
from tests.report.studies import METHODS, Believer, Told, fabricate, usual
from tests.worlds import world


@pytest.fixture(scope="session")
def made(tmp_path_factory) -> Path:
    """The directory of the study."""
    strengths = {f"small-{p}": world(environments__strong__background__p=p) for p in (0.5, 0.8)}
    without = {"small-without-hue": world(environments__strong={"background": {"coupling": "aligned", "p": 0.9}})}
    trials = usual(seeds=3)
    for method in ("erm", "contrastive"):
        believer = METHODS[method]
        for seed in range(2):
            for p in (0.5, 0.8):
                weaker = Believer(believer.core, {c: lean * p for c, lean in believer.leans.items()})
                trials.append(Told(method, weaker, seed=seed, ablation="strength", variant=f"p={p}", data=f"small-{p}"))
            blind = Believer(believer.core, {"background": believer.leans["background"]})
            where = {"ablation": "without", "variant": "without hue", "data": "small-without-hue"}
            trials.append(Told(method, blind, seed=seed, **where))
    trials.append(Told("irm", METHODS["erm"], fails="the loss became NaN in step 12; choose a smaller learning rate"))
    worlds = {"small-0": world(), **strengths, **without}
    return fabricate(tmp_path_factory.mktemp("studies") / "made", worlds, trials)


@pytest.fixture(scope="session")
def study(made) -> Study:
    return read(made)


@pytest.fixture(scope="session")
def summary(study) -> Summary:
    return summarize(study)
