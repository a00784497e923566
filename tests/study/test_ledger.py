"""The ledger: appended to by any number of processes, and killed ones leave at most half a line."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spurgen.study import ledger

WRITER = """
import sys
from pathlib import Path
from spurgen.study import ledger
for i in range(int(sys.argv[3])):
    ledger.append(Path(sys.argv[1]), f"{sys.argv[2]}-{i}", "done", seconds=1.5, row={"accuracy": 0.5, "x": "x" * 300})
"""


def test_many_writers_lose_and_mix_nothing(tmp_path):
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), name, "60"]) for name in "abcd"]
    assert [w.wait() for w in writers] == [0] * 4
    found = ledger.read(tmp_path)
    assert sorted(found) == sorted(f"{name}-{i}" for name in "abcd" for i in range(60))
    assert len((tmp_path / ledger.LEDGER).read_text().splitlines()) == 240
    assert all(e.state == "done" and e.seconds == 1.5 and e.row["accuracy"] == 0.5 for e in found.values())


@given(st.integers(0, 400))
def test_half_a_line_is_skipped_and_the_next_one_stands_alone(tmp_path_factory, cut):
    there = tmp_path_factory.mktemp("torn")
    ledger.append(there, "one", "done", row={"accuracy": 1.0})
    whole = (there / ledger.LEDGER).read_bytes()
    ledger.append(there, "two", "done", row={"accuracy": 0.5})
    content = (there / ledger.LEDGER).read_bytes()
    (there / ledger.LEDGER).write_bytes(content[: min(len(whole) + cut, len(content))])
    ledger.append(there, "three", "failed", reason="because")
    found = ledger.read(there)
    assert found["one"].state == "done" and found["three"].reason == "because"
    assert ("two" in found) == (len(whole) + cut >= len(content) - 1)  # all but its line's end is there


def test_what_is_done_stays_done(tmp_path):
    ledger.append(tmp_path, "a", "started")
    ledger.append(tmp_path, "a", "failed", reason="once")
    assert ledger.read(tmp_path)["a"].state == "failed"
    ledger.append(tmp_path, "a", "started")
    ledger.append(tmp_path, "a", "done", row={})
    ledger.append(tmp_path, "a", "started")
    assert ledger.read(tmp_path)["a"].state == "done"


def test_numbers_that_are_none_are_not_written(tmp_path):
    with pytest.raises(ValueError, match="JSON compliant"):
        ledger.append(tmp_path, "a", "done", row={"accuracy": float("nan")})
    assert ledger.read(tmp_path) == {}


def test_lines_of_others_are_skipped(tmp_path):
    (tmp_path / ledger.LEDGER).write_text(
        '[]\n{"key": 3, "event": "done"}\n{"key": "x"}\n\n{"key":"y","event":"odd"}\n'
    )
    ledger.append(tmp_path, "a", "done", row={})
    assert list(ledger.read(tmp_path)) == ["a"]
    assert json.loads((tmp_path / ledger.LEDGER).read_text().splitlines()[-1])["worker"]
