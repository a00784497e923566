"""From predictions to scores: everything about the rows as they are, SSS of each channel, and the Invariance Gap."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from spurgen.evaluate.interventions import NONE, cannot_conflict, rows_with, shown
from spurgen.evaluate.predictions import Probabilities
from spurgen.load import columns
from spurgen.load.groups import group
from spurgen.metrics.accuracy import accuracy
from spurgen.metrics.auroc import auroc
from spurgen.metrics.balanced_accuracy import balanced_accuracy
from spurgen.metrics.calibration_error import calibration_error
from spurgen.metrics.confusion_matrix import confusion_matrix
from spurgen.metrics.cross_entropy import cross_entropy, row_losses
from spurgen.metrics.group_accuracy import GroupScore, group_accuracy
from spurgen.metrics.ig import ig
from spurgen.metrics.sss import sss
from spurgen.metrics.weighted_accuracy import weighted_by
from spurgen.metrics.worst_group_accuracy import worst_of

if TYPE_CHECKING:
    import pyarrow as pa

    from spurgen.spec import World

Scores = dict[str, Any]


def score(
    found: Mapping[str, Probabilities],
    table: pa.Table,
    spec: World,
    trained_on: pa.Table | Mapping[str, int] | None = None,
    group_by: str | Sequence[str] | None = None,
) -> Scores:
    """All scores of predictions for the rows of a table, as plain data.

    `found` holds an array (rows, classes) for each intervention; those that are missing leave out the scores that need
    them, and `left_out` says which and why. Labels are the true ones, groups what the rows are. `trained_on` are the
    training rows, or how many there were of each group.
    """
    plain = found[NONE]
    label = columns.target(table, spec, "label").values
    groups = group(table, spec, group_by)
    of_groups = group_accuracy(plain, label, groups.codes, groups.names)
    sizes = (
        dict(trained_on or {}) if isinstance(trained_on, Mapping | None) else group(trained_on, spec, group_by).sizes
    )
    worst = worst_of(of_groups)
    shared = any(sizes.get(g.name) for g in of_groups if g.n)
    left_out = {} if shared else {"weighted_accuracy": "no group has rows both here and in training"}
    if len(set(label.tolist())) < 2:
        left_out["auroc"] = "all rows are of one class"
    return {
        "rows": len(label),
        "classes": list(spec.classes),
        "metrics": {
            "accuracy": accuracy(plain, label),
            "balanced_accuracy": balanced_accuracy(plain, label),
            "worst_group_accuracy": worst.value,
            "weighted_accuracy": weighted_by(of_groups, sizes).value if shared else math.nan,
            "cross_entropy": cross_entropy(plain, label),
            "calibration_error": calibration_error(plain, label),
            "auroc": auroc(plain, label),
        },
        "worst_group": worst._asdict(),
        "group_by": list(groups.keys),
        "groups": [_of_group(g, sizes) for g in of_groups],
        "confusion_matrix": confusion_matrix(plain, label).tolist(),
        **_counterfactual(found, table, spec, label, left_out),
    }


def _of_group(found: GroupScore, sizes: Mapping[str, int]) -> dict[str, Any]:
    return {**found._asdict(), "train_rows": int(sizes.get(found.name, 0))}


def _counterfactual(
    found: Mapping[str, Probabilities], table: pa.Table, spec: World, label: Any, left_out: dict[str, str]
) -> Scores:
    """SSS of each channel and IG, from the predictions for edited rows."""
    rows = np.arange(len(label))
    before = found[NONE][rows, label]
    first = shown(table, spec)
    sensitivity: Scores = {}
    for at, channel in enumerate(spec.channels):
        exact = [f"fix/{channel}/{value}" for value in spec.values(channel)]
        drawn = exact if all(n in found for n in exact) else _draws(found, f"shuffle/{channel}")
        if not drawn:
            left_out[f"sss {channel}"] = f"no predictions of shuffle/{channel}/0, nor of fix/{channel} for every value"
            continue
        after = np.stack([found[name][rows, label] for name in drawn])
        changed = np.stack([moved for _, _, moved in rows_with(table, spec, drawn)])
        sensitivity[channel] = sss(before, after, changed)._asdict()
        sensitivity[channel] |= {"exact": drawn is exact, "attributes": len(spec.values(channel))}
        sensitivity[channel]["aligned_share"] = float((first[:, at] == np.array(spec.aligned(channel))[label]).mean())
    return {"sss": sensitivity, "ig": _gaps(found, label, spec, left_out), "left_out": left_out}


def _gaps(found: Mapping[str, Probabilities], label: Any, spec: World, left_out: dict[str, str]) -> Scores:
    if not spec.channels:
        left_out["ig"] = f"{spec.id} has no channels"
        return {}
    free = _draws(found, "randomise")
    if not free:
        left_out["ig"] = "no predictions of randomise/0"
        return {}
    uncontrolled = np.stack([row_losses(found[name], label) for name in free])
    gaps = {}
    fixed = {"conflicting": _draws(found, "conflict"), "aligned": ["align"] if "align" in found else []}
    fixed |= {name: [name] for name in _draws(found, "constant")}
    for name, edits in fixed.items():
        if edits:
            controlled = np.stack([row_losses(found[edit], label) for edit in edits])
            gaps[name] = ig(controlled, uncontrolled)._asdict()
        elif name == "conflicting" and cannot_conflict(spec):
            shared = cannot_conflict(spec)[0]
            left_out["ig conflicting"] = f"all classes share the aligned attribute of {shared}, so nothing conflicts"
        else:
            left_out[f"ig {name}"] = f"no predictions of {'conflict/0' if name == 'conflicting' else 'align'}"
    return gaps


def _draws(found: Mapping[str, Probabilities], kind: str) -> list[str]:
    """The names of all draws of one kind of edit, in the same order whatever that of the predictions."""
    return sorted((n for n in found if n.startswith(f"{kind}/")), key=lambda name: int(name.rpartition("/")[2]))


def as_row(scores: Scores, about: Mapping[str, Any]) -> dict[str, Any]:
    """Scores as one flat row of a ledger: plain numbers and names, nothing nested."""
    row: dict[str, Any] = dict(about)
    row |= scores["metrics"]
    row["worst_group"] = scores["worst_group"]["group"]
    row |= {f"sss_{channel}": s["value"] for channel, s in scores["sss"].items()}
    row |= {f"ig_{kind.replace('/', '_')}": g["value"] for kind, g in scores["ig"].items()}
    return row


def plain(data: Any) -> Any:
    """Data for JSON: tuples as lists, numbers that JSON has no word for as null."""
    if isinstance(data, Mapping):
        return {str(k): plain(v) for k, v in data.items()}
    if isinstance(data, list | tuple):
        return [plain(v) for v in data]
    if isinstance(data, np.generic):
        data = data.item()
    if isinstance(data, float) and not math.isfinite(data):
        return None
    return data
