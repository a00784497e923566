"""Predictions of a trained run for the rows of a split and for their counterfactuals."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from spurgen.evaluate.interventions import rows_with
from spurgen.evaluate.predictions import Probabilities, softmax
from spurgen.load.rows import Rows
from spurgen.train.options import Options, autocast

if TYPE_CHECKING:
    from spurgen.train.run import Run

BATCH = 256
_BLOCK = 2048  # rows drawn at a time, while the network reads those before
Progress = Callable[[int, int], Any]


def predict(run: Run, rows: Rows, wanted: list[str], progress: Progress | None = None) -> dict[str, Probabilities]:
    """intervention -> (rows, classes). Rows that an edit leaves as they are keep their predictions, undrawn."""
    found: dict[str, Probabilities] = {}
    plain: Probabilities | None = None
    for i, (name, table, changed) in enumerate(rows_with(rows.table, rows.spec, wanted)):
        if plain is None:
            plain = found[name] = _through(run, rows, np.arange(len(rows)))
        else:
            at = np.flatnonzero(changed)
            found[name] = plain.copy()
            if at.size:
                found[name][at] = _through(run, rows.with_table(table), at)
        if progress is not None:
            progress(i + 1, len(wanted))
    return found


@torch.no_grad()
def _through(run: Run, rows: Rows, at: Any) -> Probabilities:
    """Probabilities of some rows; the next block is drawn while the network reads one."""
    device = next(run.learner.parameters()).device
    options = Options(precision=run.about["options"]["precision"])
    blocks = [at[start : start + _BLOCK] for start in range(0, len(at), _BLOCK)]
    scores = []
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(rows.content, blocks[0])
        for i in range(len(blocks)):
            content = coming.result()
            if i + 1 < len(blocks):
                coming = pool.submit(rows.content, blocks[i + 1])
            raw = run.encoder.raw(content, device)
            for start in range(0, len(blocks[i]), BATCH):
                with autocast(options, device):
                    part = _rows(raw, slice(start, start + BATCH))
                    scores.append(run.learner(run.learner.net.inputs(part)).float().cpu().numpy())
    return softmax(np.concatenate(scores))


def _rows(raw: Any, which: slice) -> Any:
    return {name: part[which] for name, part in raw.items()} if isinstance(raw, dict) else raw[which]
