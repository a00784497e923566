"""Predictions of a trained run, or of any function, for the rows of a split and for their counterfactuals."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from spurgen.errors import DataError
from spurgen.evaluate.interventions import rows_with
from spurgen.evaluate.predictions import SLACK, Probabilities, softmax
from spurgen.load.rows import Rows

if TYPE_CHECKING:
    from spurgen.train.run import Run

BATCH = 256
_BLOCK = 2048  # rows drawn at a time, while the network reads those before
Progress = Callable[[int, int], Any]
Answer = Callable[[Any], Probabilities]


def predict(
    answer: Answer, rows: Rows, wanted: list[str], progress: Progress | None = None
) -> dict[str, Probabilities]:
    """intervention -> (rows, classes). Rows that an edit leaves as they are keep their predictions, undrawn.

    `answer` gives probabilities (rows, classes) for content as `Rows.content` gives it.
    """
    found: dict[str, Probabilities] = {}
    plain: Probabilities | None = None
    for i, (name, table, changed) in enumerate(rows_with(rows.table, rows.spec, wanted)):
        if plain is None:
            plain = found[name] = _through(answer, rows, np.arange(len(rows)))
        else:
            at = np.flatnonzero(changed)
            found[name] = plain.copy()
            if at.size:
                found[name][at] = _through(answer, rows.with_table(table), at)
        if progress is not None:
            progress(i + 1, len(wanted))
    return found


def of_run(run: Run) -> Answer:
    """What a trained run answers."""
    import torch

    from spurgen.train.options import Options, autocast

    device = next(run.learner.parameters()).device
    options = Options(precision=run.about["options"]["precision"])

    @torch.no_grad()
    def answer(content: Any) -> Probabilities:
        raw = run.encoder.raw(content, device)
        n = len(next(iter(raw.values())) if isinstance(raw, dict) else raw)
        scores = []
        for start in range(0, n, BATCH):
            with autocast(options, device):
                part = _part(raw, slice(start, start + BATCH))
                scores.append(run.learner(run.learner.net.inputs(part)).float().cpu().numpy())
        return softmax(np.concatenate(scores))

    return answer


def of_function(function: Callable[[Any], Any], classes: int) -> Answer:
    """What a function of somebody's answers, checked: it is asked about up to 256 rows at a time."""

    def answer(content: Any) -> Probabilities:
        n = len(next(iter(content.values())) if isinstance(content, dict) else content)
        parts = [_checked(function(_part(content, slice(start, start + BATCH)))) for start in range(0, n, BATCH)]
        found = np.concatenate(parts)
        if len(found) != n:
            raise DataError(f"the model gave {len(found)} rows of probabilities for {n} rows; give one for each")
        return found / found.sum(1, keepdims=True)

    def _checked(given: Any) -> Probabilities:
        try:
            found = np.asarray(given.detach().cpu() if hasattr(given, "detach") else given, np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(f"the model gave no table of numbers ({error}); give (rows, {classes}) numbers") from error
        if found.ndim != 2 or found.shape[1] != classes:
            raise DataError(f"the model gave an array of shape {found.shape}; give (rows, {classes}): one per class")
        if not np.isfinite(found).all() or (found < -SLACK).any() or (np.abs(found.sum(1) - 1) > SLACK).any():
            raise DataError("the model gave rows that are negative, not finite, or do not sum to 1; give a softmax")
        return found.clip(0)

    return answer


def _through(answer: Answer, rows: Rows, at: Any) -> Probabilities:
    """Probabilities of some rows; the next block is drawn while one is answered."""
    blocks = [at[start : start + _BLOCK] for start in range(0, len(at), _BLOCK)]
    found = []
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(rows.content, blocks[0])
        for i in range(len(blocks)):
            content = coming.result()
            if i + 1 < len(blocks):
                coming = pool.submit(rows.content, blocks[i + 1])
            found.append(answer(content))
    return np.concatenate(found)


def _part(raw: Any, which: slice) -> Any:
    return {name: part[which] for name, part in raw.items()} if isinstance(raw, dict) else raw[which]
