"""WILDS: a folder of pictures and a metadata.csv with `y`, split codes and the columns that groups are made of.

`y` is the label that a learner is told, so `label_annotated` where labels are noisy; `label` then is the true one.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spurgen.export import Format, Tick, blob_columns, class_names, flat, picture_column, rows, suffix, target_column

if TYPE_CHECKING:
    from spurgen.store.reader import Dataset

_CODES = {"train": 0, "val": 1, "test": 2}


def write(dataset: Dataset, out: Path, tick: Tick) -> None:
    """`images/`, `metadata.csv`, and `wilds.json` with the names behind the codes."""
    picture, target = picture_column(dataset, "wilds"), target_column(dataset)
    names = class_names(dataset)
    splits = _split_codes(list(dataset.splits))
    groups = [n for n in names if n != "split" and (n != "label" or target != "label")]
    named = [n for n in groups if n != "label"]
    texts = [n for n in dataset.features if n not in names and n not in blob_columns(dataset) and n != "row_id"]
    (out / "images").mkdir()
    with open(out / "metadata.csv", "w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        spoken = ["label_name", "split_name", *(f"{g}_name" for g in named)]
        table.writerow(["img_id", "img_filename", "y", "split", *groups, *spoken, *texts])
        for split in dataset.splits:
            for row in rows(dataset, split, tick):
                path = f"images/{row['row_id']:08d}.{suffix(row[picture])}"
                (out / path).write_bytes(row[picture])
                codes = [names[g].index(row[g]) if row[g] is not None else -1 for g in groups]
                fixed = [row["row_id"], path, names["label"].index(row[target]), splits[split], *codes]
                spoken = [row["label"], split, *(row[g] for g in named)]
                table.writerow([*fixed, *spoken, *(flat(row[t]) for t in texts)])
    (out / "wilds.json").write_text(json.dumps(_about(dataset, names, groups, splits), indent=1) + "\n", "utf-8")
    (out / "RELEASE_v1.0.txt").write_text(f"{dataset.manifest.spec_id} {dataset.digest}\n", "utf-8")


def _split_codes(splits: list[str]) -> dict[str, int]:
    """The codes WILDS users know for train, val and test; other splits follow."""
    others = (name for name in splits if name not in _CODES)
    return {k: v for k, v in _CODES.items() if k in splits} | {name: 3 + i for i, name in enumerate(others)}


def _about(dataset: Dataset, names: dict[str, Any], groups: list[str], splits: dict[str, int]) -> dict[str, Any]:
    """The attributes that a WILDSDataset sets in its constructor."""
    return {
        "dataset_name": dataset.manifest.spec_id,
        "n_classes": len(names["label"]),
        "y_size": 1,
        "split_dict": splits,
        "metadata_fields": [*groups, "y"],
        "metadata_map": {g: names[g] for g in groups} | {"y": names["label"]},
    }


EXPORT = Format("wilds", "images and a metadata.csv with codes, as in WILDS", write)
