"""The commands that make each part of a report again, run where the study's directory lies."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def command(*words: Any) -> str:
    """Words as one line that a shell understands."""
    return shlex.join(str(word) for word in words)


def whole(name: str, device: str = "") -> list[str]:
    """The whole study and its report."""
    where = ["--device", device] if device and device != "cpu" else []
    return [
        command("spurgen", "study", f"{name}/study.toml", "--out", name, *where),
        command("spurgen", "report", name),
    ]


def dataset(name: str, about: Mapping[str, Any]) -> str:
    """The rows of one dataset, the same bytes."""
    spec = f"{name}/data/{about['name']}/spec.toml"
    return command(
        "spurgen", "generate", spec, "--seed", about["seed"], "--rows", about["rows"], "--out", about["name"]
    )


def contact_sheet(name: str, data: str) -> str:
    """A gallery as one picture, and what the dataset holds."""
    return command("spurgen", "inspect", f"{name}/data/{data}", "--out", "sheet.png")


def strip(name: str, data: str, row_id: int, channel: str) -> str:
    """One row with every value of a channel."""
    where = f"{name}/data/{data}"
    return command("spurgen", "counterfactual", where, "--row", row_id, "--channel", channel, "--out", f"{channel}.png")


def training(name: str, trial: Mapping[str, Any]) -> list[str]:
    """One trial by itself: training and scores."""
    data, out = f"{name}/data/{trial['data']}", f"{trial['method']}-{trial['seed']}"
    given = trial.get("options") or {}
    options = {k: given[k] for k in trial.get("asked", ()) if k in given}
    more = [*_pairs("--set", trial.get("settings") or {}), *_pairs("--option", options)]
    about = ["--method", trial["method"], "--model", trial["model"], "--seed", trial["seed"]]
    start = trial.get("starts_from", "nothing")
    if start != "nothing":
        about += ["--start", f"{name}/{start}" if "/" in start else start]
    return [
        command("spurgen", "train", data, *about, *more, *_grouped(trial.get("learns_by")), "--out", out),
        command("spurgen", "evaluate", out, "--on", data, *_grouped(trial.get("group_by"))),
    ]


def scoring(name: str, trial: Mapping[str, Any]) -> list[str]:
    """The scores of a trial from the weights that the study kept; from training it again where it kept none."""
    if not trial.get("keep_weights", True):
        return training(name, trial)
    run, data = f"{name}/trials/{trial['key']}/run", f"{name}/data/{trial['data']}"
    return [command("spurgen", "evaluate", run, "--on", data, *_grouped(trial.get("group_by")), "--out", "scores")]


def numbers(name: str, path: str) -> str:
    """The numbers behind a figure, in Python."""
    return command("python", "-c", f"from spurgen.report.summarize import summarize; print(summarize({name!r}){path})")


def _grouped(by: Sequence[str] | None) -> list[str]:
    return ["--group-by", ",".join(by)] if by else []


def _pairs(flag: str, given: Mapping[str, Any]) -> Iterable[str]:
    for key, value in given.items():
        yield from (flag, f"{key}={value}")
