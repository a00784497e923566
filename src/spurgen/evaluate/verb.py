"""Evaluate a run, or anybody's predictions, on a split of a dataset."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spurgen.errors import DataError, SpurgenError, UnknownName, unknown
from spurgen.evaluate import predictions as files
from spurgen.evaluate.interventions import Plan, changed_by, names
from spurgen.evaluate.score import Scores, as_row, plain, score
from spurgen.load.groups import group
from spurgen.spec.world import size_px
from spurgen.store import atomic

if TYPE_CHECKING:
    from spurgen.evaluate.predict import Progress
    from spurgen.store.reader import Dataset
    from spurgen.train.run import Run

Model = Callable[[Any], Any]
PREDICTIONS, RESULTS, ROW = "predictions.parquet", "results.json", "results.parquet"


def evaluate(
    run: str | Path | Run | Model | None = None,
    on: str | Path | Dataset | None = None,
    predictions: str | Path | None = None,
    split: str = "test",
    plan: Plan | None = None,
    group_by: str | Sequence[str] | None = None,
    out: str | Path | None = None,
    device: str = "auto",
    progress: Progress | None = None,
    modality: str | tuple[str, ...] | None = None,
) -> Scores:
    """All scores of a run, of any model, or of a file of predictions, on a split of a dataset, as plain data.

    Any model is a function: it is given up to 256 rows of a `modality` ("image" unless said otherwise: uint8 arrays
    (rows, height, width, 3); "caption": a sequence of texts; several: a mapping) and answers with probabilities
    (rows, classes). A run's predictions and results are kept in its directory, below `evaluate/`, or in `out`.
    """
    from spurgen.store import reader

    if run is None and predictions is None:
        raise SpurgenError("say what to evaluate: a run, or a file of predictions (--predictions FILE)")
    if run is not None and predictions is not None:
        raise SpurgenError("a run and a file of predictions are given; give one of them")
    if modality is not None and not callable(run):
        raise SpurgenError("modality says what a function of yours reads; a run and a file know it already")
    if on is None:
        raise SpurgenError("say which dataset to evaluate on (--on DIR)")
    if predictions is not None and plan is not None:
        raise SpurgenError(
            "a file of predictions holds its interventions already; leave out draws, exact and constants"
        )
    if device != "auto" and (predictions is not None or callable(run)):
        raise SpurgenError("only a run is put on a device; leave device out")
    if plan is not None and not isinstance(plan, Plan):
        raise SpurgenError(f"plan is {plan!r}; give a Plan, such as spurgen.evaluate.Plan(draws=5)")
    dataset = reader.open(on) if isinstance(on, str | Path) else on
    if split not in dataset.splits:
        raise UnknownName(unknown("split", split, dataset.splits, str(dataset.directory)))
    if out is not None and dataset.directory.resolve() in (Path(out).resolve(), *Path(out).resolve().parents):
        raise DataError(f"{out} is in the dataset itself; choose another directory for the results")
    if out is not None:
        with atomic.looked_at(Path(out)):
            if Path(out).exists() and not Path(out).is_dir():
                raise DataError(f"{out} is a file; choose a directory for the results")
    table, spec = dataset.table(split), dataset.spec
    groups = group(table, spec, group_by)  # what cannot be grouped is refused before anything is predicted
    trained_on: Any = dataset.table("train") if "train" in dataset.splits else None
    about: dict[str, Any] = {"data": spec.id, "data_digest": dataset.digest, "split": split}
    if predictions is not None:
        ids = table["row_id"].to_numpy().astype(np.uint64)
        found = files.read(predictions, spec.classes, ids, lambda name: changed_by(table, spec, name))
        about |= {"predictions": str(predictions)}
        target = Path(out) if out is not None else None
    elif callable(run):
        found = _answered(run, dataset, split, modality or "image", plan or Plan(), progress)
        about |= {"model": getattr(run, "__qualname__", type(run).__qualname__)}
        target = Path(out) if out is not None else None
    else:
        opened, found = _predicted(run, dataset, split, plan or Plan(), device, progress)
        about |= {key: opened.about[key] for key in ("key", "method", "settings", "model", "seed")}
        if opened.about["data_digest"] != dataset.digest and tuple(opened.about["group_by"]) == groups.keys:
            trained_on = opened.about["task"]["groups"]
        target = Path(out) if out is not None else _place(opened, about, plan or Plan(), group_by)
    scores = {**about, **score(found, table, spec, trained_on, group_by)}
    if target is not None:
        if predictions is None:
            files.write(target / PREDICTIONS, table["row_id"].to_numpy(), found, spec.classes)
        _keep(target, scores, about)
        scores["directory"] = str(target)
    return plain(scores)  # type: ignore[no-any-return]


def _predicted(run: Any, dataset: Dataset, split: str, plan: Plan, device: str, progress: Progress | None) -> Any:
    """(the run opened, its predictions)."""
    from spurgen.evaluate.predict import of_run, predict
    from spurgen.load.rows import open_rows
    from spurgen.train.run import Run, load_run

    opened = load_run(run, device) if isinstance(run, str | Path) else run
    if not isinstance(opened, Run):
        raise SpurgenError(f"run is {type(run).__name__}; give a run, its directory, or a function")
    told = list(opened.about["task"]["classes"])
    if told != list(dataset.spec.classes):
        raise DataError(
            f"the run knows the classes {', '.join(told)}, and {dataset.spec.id} has "
            f"{', '.join(dataset.spec.classes)}; evaluate on a dataset of the same classes in the same order"
        )
    rows = open_rows(dataset, split, opened.encoder.modality, target="label")
    size = size_px(dataset.spec)
    if "image" in opened.encoder.modalities and size != opened.about["size_px"]:
        raise DataError(
            f"the run was trained on pictures of {opened.about['size_px']} px, and those of {dataset.spec.id} have "
            f"{size} px; evaluate on a dataset of the same size"
        )
    return opened, predict(of_run(opened), rows, names(dataset.spec, plan), progress)


def _answered(model: Model, dataset: Dataset, split: str, modality: Any, plan: Plan, progress: Progress | None) -> Any:
    """The predictions of a function."""
    from spurgen.evaluate.predict import of_function, predict
    from spurgen.load.rows import open_rows

    rows = open_rows(dataset, split, modality, target="label")
    return predict(of_function(model, len(dataset.spec.classes)), rows, names(dataset.spec, plan), progress)


def _place(run: Run, about: dict[str, Any], plan: Plan, group_by: str | Sequence[str] | None) -> Path | None:
    """A folder of its own for each dataset, split, plan and grouping, so that nothing kept is written over."""
    if run.directory is None:
        return None
    by = [] if group_by is None else ["by", *([group_by] if isinstance(group_by, str) else group_by)]
    drawn = [f"{plan.draws}-draws"] if plan.draws != Plan().draws else []
    more = [name for name, asked in (("exact", plan.exact), ("constants", plan.constants)) if asked]
    words = [about["data"], about["split"], about["data_digest"][:8], *drawn, *more, *by]
    return run.directory / "evaluate" / re.sub(r"[^\w.-]+", "-", "-".join(words))


def _keep(target: Path, scores: Scores, about: dict[str, Any]) -> None:
    """results.json holds everything, results.parquet one flat row for a ledger."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    target.mkdir(parents=True, exist_ok=True)
    atomic.write(target / RESULTS, (json.dumps(plain(scores), indent=1, ensure_ascii=False) + "\n").encode())
    settings = json.dumps(about.get("settings", {}), sort_keys=True)
    row = as_row(scores, {**{k: v for k, v in about.items() if k != "settings"}, "settings": settings})
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({name: [value] for name, value in row.items()}), sink)
    atomic.write(target / ROW, sink.getvalue().to_pybytes())
