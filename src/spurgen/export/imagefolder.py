"""ImageFolder: `{split}/{label}/{row_id}.png` for torchvision, and a metadata.parquet with types for Hugging Face.

Folders are named by the label that a learner is told, so by `label_annotated` where labels are noisy; the column
`label` is always the true one.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

from spurgen.export import Format, Tick, flat, picture_column, rows, safe, suffix, target_column
from spurgen.store.features import class_columns, metadata, to_card, yaml

if TYPE_CHECKING:
    from spurgen.store.reader import Dataset


def write(dataset: Dataset, out: Path, tick: Tick) -> None:
    """The pictures in folders, the other columns typed beside them and readable in `rows.csv`."""
    picture, target = picture_column(dataset, "imagefolder"), target_column(dataset)
    kinds = ("Value", "ClassLabel")
    plain = [n for n, f in dataset.features.items() if isinstance(f, dict) and f.get("_type") in kinds]
    with open(out / "rows.csv", "w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["file_name", *plain])
        for split in dataset.splits:
            folder, names = out / safe(split), []
            for row in rows(dataset, split, tick):
                names.append(f"{safe(row[target])}/{row['row_id']:08d}.{suffix(row[picture])}")
                path = folder / names[-1]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(row[picture])
                table.writerow([f"{split}/{names[-1]}", *(flat(row[name]) for name in plain)])
            _write_metadata(dataset, split, names, plain, folder / "metadata.parquet")
    (out / "README.md").write_text(_card(dataset, plain), "utf-8")


def _write_metadata(dataset: Dataset, split: str, names: list[str], plain: list[str], path: Path) -> None:
    """Codes instead of names: the loader of image folders takes its types from this file, not from the card."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = dataset.table(split, plain)
    for name in class_columns({n: dataset.features[n] for n in plain}):
        codes = pa.chunked_array([c.indices.cast(pa.int64()) for c in table[name].chunks], pa.int64())
        table = table.set_column(table.column_names.index(name), name, codes)
    table = table.add_column(0, "file_name", pa.array(names, pa.string()))
    features = {"file_name": {"_type": "Value", "dtype": "string"}} | {n: dataset.features[n] for n in plain}
    about = {"digest": dataset.digest, "seed": dataset.seed}
    pq.write_table(table.replace_schema_metadata(metadata(features, about)), path)


def _card(dataset: Dataset, plain: list[str]) -> str:
    features = {"image": {"_type": "Image"}} | {name: dataset.features[name] for name in plain}
    files = [{"split": s, "path": f"{s}/**"} for s in dataset.splits]
    header = {
        "pretty_name": dataset.manifest.spec_id,
        "configs": [{"config_name": "default", "data_files": files}],
        "dataset_info": {"features": to_card(features)},
    }
    return (
        f"---\n{yaml(header)}---\n\n# {dataset.manifest.spec_id}\n\n"
        f"Exported by SpurGen; seed {dataset.seed}, digest `{dataset.digest}`.\n\n{_folders(dataset)}\n"
    )


def _folders(dataset: Dataset) -> str:
    if target_column(dataset) == "label":
        return "Folders are named by `label`."
    return (
        "Folders are named by `label_annotated`, which a learner is told and which is sometimes wrong; `label` is true."
    )


EXPORT = Format("imagefolder", "one folder of pictures per split and class, typed for Hugging Face", write)
