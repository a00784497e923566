"""ImageFolder: `{split}/{label}/{row_id}.png` with a metadata.csv per split, for torchvision and Hugging Face."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

from spurgen.export import Format, Tick, blob_columns, flat, picture_column, rows, safe, suffix
from spurgen.store.features import Features, to_card, yaml

if TYPE_CHECKING:
    from spurgen.store.reader import Dataset


def write(dataset: Dataset, out: Path, tick: Tick) -> None:
    """The pictures in folders; the README tells `datasets.load_dataset` the types of the other columns."""
    picture = picture_column(dataset, "imagefolder")
    plain = [n for n in dataset.features if n not in blob_columns(dataset) and _is_flat(dataset.features[n])]
    for split in dataset.splits:
        folder = out / safe(split)
        folder.mkdir()
        with open(folder / "metadata.csv", "w", encoding="utf-8", newline="") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(["file_name", *plain])
            for row in rows(dataset, split, tick):
                path = f"{safe(row['label'])}/{row['row_id']:08d}.{suffix(row[picture])}"
                (folder / path).parent.mkdir(exist_ok=True)
                (folder / path).write_bytes(row[picture])
                table.writerow([path, *(flat(row[name]) for name in plain)])
    (out / "README.md").write_text(_card(dataset, plain), "utf-8")


def _is_flat(feature: object) -> bool:
    return isinstance(feature, dict) and feature.get("_type") in ("Value", "ClassLabel")


def _card(dataset: Dataset, plain: list[str]) -> str:
    features: Features = {"image": {"_type": "Image"}} | {name: dataset.features[name] for name in plain}
    files = [{"split": s, "path": f"{s}/**"} for s in dataset.splits]
    header = {
        "pretty_name": dataset.manifest.spec_id,
        "configs": [{"config_name": "default", "data_files": files}],
        "dataset_info": {"features": to_card(features)},
    }
    return (
        f"---\n{yaml(header)}---\n\n# {dataset.manifest.spec_id}\n\n"
        f"Exported by SpurGen; seed {dataset.seed}, digest `{dataset.digest}`.\n"
    )


EXPORT = Format("imagefolder", "one folder of pictures per split and class, with a metadata.csv", write)
