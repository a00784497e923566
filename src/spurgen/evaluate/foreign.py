"""Writes the edited rows of a split as a dataset, for models that SpurGen cannot run: they answer with predictions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spurgen.errors import UnknownName, unknown
from spurgen.evaluate.interventions import NONE, Plan, names, rows_with
from spurgen.export import Format, Summary, Tick, deliver
from spurgen.render import MODALITIES
from spurgen.render import draw as render
from spurgen.store.features import metadata, stored, to_card, yaml

if TYPE_CHECKING:
    from spurgen.store.reader import Dataset

_ROWS = 256  # in a row group


def write_interventions(
    dataset: Dataset,
    out: str | Path,
    split: str = "test",
    plan: Plan | None = None,
    force: bool = False,
    progress: Callable[[int, int], Any] | None = None,
) -> Summary:
    """Every row of a split as it is, and as every edit leaves it where that shows: a file per edit.

    An edit that shows nowhere keeps one row, so that predictions speak of it.
    Columns: row_id, intervention, the modalities, and the latents as edited. A model that was run on them is scored
    with `evaluate(predictions=…)`.
    """
    if split not in dataset.splits:
        raise UnknownName(unknown("split", split, dataset.splits, str(dataset.directory)))
    spec, table = dataset.spec, dataset.table(split)
    wanted = names(spec, plan or Plan())
    total = sum(len(_shows(name, changed)) for name, _, changed in rows_with(table, spec, wanted))

    def write(source: Dataset, folder: Path, tick: Tick) -> None:
        (folder / "data").mkdir()
        features = {
            "row_id": source.features["row_id"],
            "intervention": {"_type": "Value", "dtype": "string"},
            **{name: feature for name, feature in source.features.items() if name != "row_id"},
        }
        for i, (name, edited, changed) in enumerate(rows_with(table, spec, wanted)):
            path = folder / "data" / f"{split}-{i:05d}-of-{len(wanted):05d}.parquet"
            _write(source, edited.take(_shows(name, changed)), name, path, features, tick)
        (folder / "README.md").write_text(_card(source, split, features, wanted), "utf-8")

    form = Format("interventions", "edited rows, for models of others", write)
    return deliver(dataset, form, out, total, force, progress)


def _shows(name: str, changed: np.ndarray) -> np.ndarray:
    """The positions of the rows that an edit is drawn for."""
    if name == NONE:
        return np.arange(len(changed))
    return np.flatnonzero(changed) if changed.any() else np.arange(1)


def _write(dataset: Dataset, rows: Any, name: str, path: Path, features: dict[str, Any], tick: Tick) -> None:
    """One edit's rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    about = {"digest": dataset.digest, "seed": dataset.seed, "intervention": name}
    writer = None
    for start in range(0, rows.num_rows, _ROWS):
        part = rows.slice(start, _ROWS)
        block = stored(part)
        block = block.add_column(1, "intervention", pa.array([name] * part.num_rows, pa.string()))
        for modality in dataset.modalities:
            drawn = MODALITIES.get(modality).encode(render(part, dataset.spec, modality))
            for column, values in drawn.items():
                block = block.append_column(column, values)
        block = block.select([column for column in features if column in block.column_names])
        if writer is None:
            writer = pq.ParquetWriter(path, block.schema.with_metadata(metadata(features, about)), compression="none")
        writer.write_table(block.replace_schema_metadata(metadata(features, about)))
        tick(part.num_rows)
    assert writer is not None
    writer.close()


def _card(dataset: Dataset, split: str, features: dict[str, Any], wanted: list[str]) -> str:
    header = {
        "pretty_name": f"{dataset.manifest.spec_id}, interventions on {split}",
        "configs": [{"config_name": "default", "data_files": [{"split": split, "path": "data/*.parquet"}]}],
        "dataset_info": {"features": to_card(features)},
    }
    which = "" if split == "test" else f" --split {split}"
    listed = "\n".join(f"- `{name}`" for name in wanted)
    return (
        f"---\n{yaml(header)}---\n\n# {dataset.manifest.spec_id}: interventions on {split}\n\n"
        f"Seed {dataset.seed}, digest `{dataset.digest}`. Run a model on every row and write a table with `row_id`, "
        "`intervention` and `probabilities` (or `logits`): a list with a number per class, in the order "
        f"{', '.join(dataset.spec.classes)}. Then `spurgen evaluate --predictions FILE --on DIR{which}`. "
        "Rows that an intervention leaves as they are stand under `none` only (one row stays of an intervention that "
        f"leaves all as they are).\n\n{listed}\n"
    )
