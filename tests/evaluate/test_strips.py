from __future__ import annotations

import numpy as np

from spurgen.evaluate import predictions as files
from spurgen.evaluate.strips import strip_positions, write_strips
from spurgen.evaluate.verb import evaluate
from spurgen.train.run import load_run


def test_the_first_rows_of_every_class_are_asked_about(dataset):
    table = dataset.table("test")
    at = strip_positions(table, dataset.spec, each=2)
    labels = [table["label"][i].as_py() for i in at]
    assert {name: labels.count(name) for name in dataset.spec.classes} == dict.fromkeys(dataset.spec.classes, 2)
    for name in dataset.spec.classes:
        mine = [i for i, label in enumerate(table["label"].to_pylist()) if label == name]
        assert set(mine[:2]) <= set(at)


def test_answers_are_those_of_the_run_for_every_value(dataset, trained, tmp_path):
    run = load_run(trained, "cpu")
    path = write_strips(run, dataset, tmp_path)
    table = dataset.table("test")
    ids = table["row_id"].to_numpy()[strip_positions(table, dataset.spec)].astype(np.uint64)
    found = files.read(path, dataset.spec.classes, ids)
    values = [f"fix/{c}/{v}" for c in dataset.spec.channels for v in dataset.spec.values(c)]
    assert list(found) == ["none", *values]
    evaluate(run, dataset, out=tmp_path / "all")
    every = files.read(tmp_path / "all" / "predictions.parquet", dataset.spec.classes, table["row_id"].to_numpy())
    assert np.allclose(found["none"], every["none"][strip_positions(table, dataset.spec)], atol=1e-6)
    channel = next(iter(dataset.spec.channels))
    own = table[channel].to_pylist()
    for row, at in enumerate(strip_positions(table, dataset.spec)):
        assert np.allclose(found[f"fix/{channel}/{own[at]}"][row], found["none"][row], atol=1e-6)
