"""Studies that nobody ran: real datasets, and trials of models made of latents, so that no test of reports trains."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from spurgen.evaluate import predictions as files
from spurgen.evaluate.interventions import Plan, names, rows_with
from spurgen.evaluate.score import as_row, plain, score
from spurgen.evaluate.strips import STRIPS, strip_positions
from spurgen.latents.traits import column_codes, shown
from spurgen.load.groups import group
from spurgen.spec import World
from spurgen.store import reader
from spurgen.store.writer import build
from spurgen.study import ledger
from spurgen.study.directory import settle, trial_folder, write_plan
from spurgen.study.trial import Trial

STEPS = (40, 80, 120, 160, 200)


@dataclass(frozen=True)
class Believer:
    """How strongly a fabricated model believes the object, and what each channel shows."""

    core: float
    leans: Mapping[str, float]
    noise: float = 1.0

    def says(self, table: pa.Table, spec: World, seed: int, trained: float = 1.0) -> np.ndarray:
        """Probabilities (rows, classes); the same row has the same noise under every edit."""
        draws = np.random.default_rng(seed).standard_normal((table.num_rows, len(spec.classes)))
        scores = self.noise * draws + self.core * trained * np.eye(len(spec.classes))[_labels(table, spec)]
        for channel, lean in self.leans.items():
            if channel in spec.channels:
                mine = shown(table, channel, spec.values(channel))[:, None] == np.array(spec.aligned(channel))
                scores = scores + lean * min(1.0, 2 * trained) * mine
        return files.softmax(scores)


@dataclass(frozen=True)
class Told:
    """One trial to fabricate."""

    method: str
    believer: Believer
    config: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    world: str = "small"
    model: str = "small_cnn"
    ablation: str = ""
    variant: str = ""
    data: str = "small-0"
    fails: str = ""
    is_open: bool = False


def fabricate(
    out: Path,
    worlds: Mapping[str, World],
    trials: Sequence[Told],
    *,
    rows: int | None = None,
    keep_predictions: bool = True,
    keep_checks: bool = True,
    keep_strips: bool = True,
    description: str = "Made up for tests.",
    reference: str = "erm",
) -> Path:
    """A study's directory as `spurgen study` leaves it; `worlds` are datasets by their folder's name."""
    methods = dict.fromkeys([reference, *(told.method for told in trials)])
    study = {
        "id": "made-up",
        "description": description,
        "worlds": {told.world: {"spec": "quick/v1"} for told in trials} or {"small": {"spec": "quick/v1"}},
        "methods": {method: {} for method in methods},
        "reference": reference,
        "early_stopping": True,
    }
    about = {"id": "made-up", "description": description, "device": "cpu", "folder": "", "study": study}
    settle(out, 'id = "made-up"\n\n[methods.erm]\n', about)
    datasets = {}
    for name, spec in worlds.items():
        build(spec, out / "data" / name, rows=rows)
        datasets[name] = reader.open(out / "data" / name)
    planned = []
    for told in trials:
        trial = _planned(told, datasets[told.data])
        planned.append(trial)
        if told.is_open:
            continue
        ledger.append(out, trial.key, "started")
        if told.fails:
            ledger.append(out, trial.key, "failed", reason=told.fails)
        else:
            row = _perform(out, told, trial, datasets[told.data], keep_predictions, keep_checks, keep_strips)
            ledger.append(out, trial.key, "done", seconds=12.5, row=row)
    with (out / "ledger.jsonl").open("a") as file:
        file.write('{"event": "done", "key": "to')  # a last line that was torn off, as a kill leaves it
    write_plan(out, planned)
    return out


def _planned(told: Told, dataset: reader.Dataset) -> Trial:
    return Trial(
        world=told.world,
        ablation=told.ablation,
        variant=told.variant,
        spec_id=dataset.spec.id,
        spec_digest=dataset.spec.digest(),
        data=told.data,
        data_seed=0,
        rows=len(dataset),
        method=told.method,
        settings=dict(told.settings),
        config=told.config,
        model=told.model,
        model_digest="",
        start="nothing",
        pretrain=None,
        options={"epochs": 20.0, "learning_rate": 0.001},
        asked=["epochs"],
        seed=told.seed,
        device="cpu",
        group_by=None,
        learns_by=None,
        draws=2,
        phase="final",
    ).keyed()


def _perform(
    out: Path, told: Told, trial: Trial, dataset: reader.Dataset, predictions: bool, checks: bool, strips: bool
) -> dict[str, Any]:
    spec, folder = dataset.spec, trial_folder(out, trial.key)
    test, train = dataset.table("test"), dataset.table("train")
    found = {n: told.believer.says(t, spec, told.seed) for n, t, _ in rows_with(test, spec, names(spec, Plan()))}
    scores = {"data": spec.id, "data_digest": dataset.digest, "split": "test", **score(found, test, spec, train)}
    (folder / "scores").mkdir(parents=True)
    (folder / "scores" / "results.json").write_text(json.dumps(plain(scores)), "utf-8")
    if predictions:
        files.write(folder / "scores" / "predictions.parquet", test["row_id"].to_numpy(), found, spec.classes)
    if strips:
        few = test.take(strip_positions(test, spec))
        wanted = [n for n in names(spec, Plan(exact=True)) if n == "none" or n.startswith("fix/")]
        found = {n: told.believer.says(t, spec, told.seed) for n, t, _ in rows_with(few, spec, wanted)}
        files.write(folder / "scores" / STRIPS, few["row_id"].to_numpy(), found, spec.classes)
    if checks:
        _course(folder / "run", told, test, train, spec)
    return plain(as_row(scores, {}))


def _course(folder: Path, told: Told, test: pa.Table, train: pa.Table, spec: World) -> None:
    """Checks and records as training would have kept them: beliefs grow with the steps."""
    folder.mkdir()
    (folder / "run.json").write_text("{}", "utf-8")
    checks: list[dict[str, float]] = []
    for step in STEPS:
        row: dict[str, float] = {"step": float(step), "stage": 0.0}
        for words, table, seed in (("", test, 9), ("test ", test, told.seed), ("training ", train, told.seed)):
            said = told.believer.says(table, spec, seed, step / STEPS[-1])
            row |= {words + name: value for name, value in _scores(said, table, spec).items()}
        checks.append(row)
    pq.write_table(pa.Table.from_pylist(checks), folder / "checks.parquet")
    losses = [{"loss": float(2 * 0.98**i + 0.1), "accuracy": float(1 - 0.8 * 0.98**i)} for i in range(STEPS[-1])]
    pq.write_table(pa.Table.from_pylist(losses), folder / "records.parquet")


def _scores(said: np.ndarray, table: pa.Table, spec: World) -> dict[str, float]:
    label = _labels(table, spec)
    hits = said.argmax(1) == label
    groups = group(table, spec)
    of_groups = [hits[groups.codes == g].mean() for g in range(len(groups)) if (groups.codes == g).sum() >= 3]
    return {
        "loss": float(-np.log(said[np.arange(len(label)), label]).mean()),
        "accuracy": float(hits.mean()),
        "worst_group_accuracy": float(min(of_groups)),
        "worst_class_accuracy": float(min(hits[label == k].mean() for k in range(len(spec.classes)))),
    }


def _labels(table: pa.Table, spec: World) -> np.ndarray:
    return column_codes(table, "label", spec.classes)


ERM = Believer(2.2, {"background": 2.6, "hue": 1.5, "light": 0.6})
GROUP_DRO = Believer(2.5, {"background": 1.4, "hue": 1.0, "light": 0.5})
DFR = Believer(2.6, {"background": 1.2, "hue": 0.7, "light": 0.3})
CONTRASTIVE = Believer(3.0, {"background": 0.4, "hue": 0.3, "light": 0.2})
METHODS = {"erm": ERM, "group_dro": GROUP_DRO, "dfr": DFR, "contrastive": CONTRASTIVE}


def usual(seeds: int = 3, data: str = "small-0", world: str = "small", **more: Any) -> list[Told]:
    """Four methods, one of them in two configurations, with some seeds each."""
    told = []
    for seed in range(seeds):
        for method, believer in METHODS.items():
            if method == "group_dro":
                eta = {"config": "eta=0.1", "settings": {"eta": 0.1}}
                told.append(Told(method, believer, seed=seed, data=data, world=world, **eta, **more))
                eta = {"config": "eta=0.01", "settings": {"eta": 0.01}}
                weaker = Believer(2.3, {"background": 2.4, "hue": 1.4})
                told.append(Told(method, weaker, seed=seed, data=data, world=world, **eta, **more))
            else:
                told.append(Told(method, believer, seed=seed, data=data, world=world, **more))
    return told
