"""What a model says of a few rows with every value of each channel: a report shows it as strips."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from spurgen.evaluate import predictions as files
from spurgen.evaluate.interventions import NONE, Plan, names
from spurgen.latents.traits import column_codes

if TYPE_CHECKING:
    import pyarrow as pa

    from spurgen.spec import World
    from spurgen.store.reader import Dataset
    from spurgen.train.run import Run

STRIPS = "strips.parquet"
EACH = 2  # rows of a class


def strip_positions(table: pa.Table, spec: World, each: int = EACH) -> list[int]:
    """Which rows of a table are asked about: the first of every class."""
    label = column_codes(table, "label", spec.classes)
    return sorted(int(i) for c in range(len(spec.classes)) for i in np.flatnonzero(label == c)[:each])


def write_strips(run: Run, dataset: Dataset, out: str | Path, split: str = "test", each: int = EACH) -> Path:
    """Ask a run about those rows, and keep its answers as a file of predictions in the directory `out`."""
    from spurgen.evaluate.predict import of_run, predict
    from spurgen.load.rows import Rows

    spec, table = dataset.spec, dataset.table(split)
    table = table.take(strip_positions(table, spec, each))
    wanted = [name for name in names(spec, Plan(exact=True)) if name == NONE or name.startswith("fix/")]
    found = predict(of_run(run), Rows(spec, table, modality=run.encoder.modality, target="label"), wanted)
    path = Path(out) / STRIPS
    files.write(path, table["row_id"].to_numpy(), found, spec.classes)
    return path
