"""Trials on this machine: processes side by side, each with one trial at a time.

python -m spurgen.study.launch.local DIRECTORY …        what each of the processes runs
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from spurgen.errors import Busy, SpurgenError
from spurgen.store import lock
from spurgen.study import directory as place
from spurgen.study import ledger
from spurgen.study.launch import Job, Launcher
from spurgen.study.perform import claim, claiming
from spurgen.study.trial import Trial, trial_from
from spurgen.train.turns import beside

_LOOK_SECONDS = 0.5
_ON_GPU = 8  # trials side by side on a GPU: small networks leave most of one idle
_MOST_ON_GPU = 16  # torch has 32 streams, and trials must not share one
_NO_WAY_ON = 75  # how a process ends that met what no trial survives
_DEATHS = 2  # of the processes that performed a trial, after which it is called failed


def launch(job: Job) -> None:
    """Settle all trials."""
    if job.device == "cuda" and (job.jobs or 1) > _MOST_ON_GPU:
        raise SpurgenError(f"--jobs is {job.jobs}; at most {_MOST_ON_GPU} trials run side by side on a GPU")
    jobs = job.jobs or min(os.cpu_count() or 1, max(1, len(job.trials)))
    died: dict[str, int] = {}
    retry = job.retry
    while todo := unsettled(job.directory, job.trials, retry):
        if all(_is_held(job.directory, trial) for trial in todo):  # by another study's processes
            time.sleep(_LOOK_SECONDS)
            job.told()
            continue
        if jobs == 1 or job.device == "cuda":
            _here(job, todo, retry)
        else:
            _beside(job, todo, min(jobs, len(todo)), retry, died)
        retry = False  # once is enough


def unsettled(directory: Path, trials: list[Trial], retry: bool = False) -> list[Trial]:
    """The trials that are neither done nor failed."""
    news = ledger.read(directory)
    settled = ("done",) if retry else ("done", "failed")
    return [trial for trial in trials if trial.key not in news or news[trial.key].state not in settled]


def _is_held(directory: Path, trial: Trial) -> bool:
    folder = place.trial_folder(directory, trial.key)
    if not folder.is_dir():
        return False
    try:
        with lock.held(folder):
            return False
    except Busy:
        return True


def _here(job: Job, todo: list[Trial], retry: bool) -> None:
    """In this process: one after the other, and on a GPU side by side, each with a stream of its own."""
    import torch

    width = (job.jobs or _ON_GPU) if job.device == "cuda" else 1
    listeners = [lambda event: job.told()]
    work = (claiming(job.directory, trial, retry, listeners, turns=width > 1) for trial in todo)
    threads = torch.get_num_threads()
    torch.set_num_threads(job.threads)
    try:
        for _ in beside(work, width):
            job.told()
    finally:
        torch.set_num_threads(threads)


# ------------------------------------------------------------------------------------------------- processes


class _Worker:
    """A process, and what it says where things go wrong."""

    def __init__(self, job: Job, trials: Path, retry: bool):
        self.said: Any = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115  closed by who made the worker
        told = {"threads": job.threads, "retry": retry, "trials": str(trials), "parent": os.getpid()}
        threads = str(job.threads)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "spurgen.study.launch.local", str(job.directory), json.dumps(told)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self.said,
            env={**os.environ, "OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads},
        )

    @property
    def last_words(self) -> str:
        """The last line that it wrote."""
        self.said.seek(0)
        lines = [line.strip() for line in self.said if line.strip()]
        return lines[-1] if lines else ""


def _beside(job: Job, todo: list[Trial], jobs: int, retry: bool, died: dict[str, int]) -> None:
    """In processes of their own, until all of these have ended."""
    with tempfile.TemporaryDirectory(prefix="spurgen-study-") as folder:
        trials = Path(folder) / "trials.json"
        trials.write_text(json.dumps([trial.as_dict() for trial in todo]))
        workers = [_Worker(job, trials, retry) for _ in range(jobs)]
        try:
            while any(worker.process.poll() is None for worker in workers):
                time.sleep(_LOOK_SECONDS)
                job.told()
        finally:
            for worker in workers:
                if worker.process.poll() is None:
                    worker.process.terminate()
                    worker.process.wait()
        for worker in workers:
            if worker.process.returncode:
                _bury(job, worker, died)
            worker.said.close()
    job.told()


def _bury(job: Job, worker: _Worker, died: dict[str, int]) -> None:
    """See to the trial of a process that died; one that keeps killing its process is called failed."""
    code = worker.process.returncode
    if code == _NO_WAY_ON:
        raise SpurgenError(worker.last_words.removeprefix("error: "))
    how = f"was ended by signal {-code}" if code < 0 else f"ended with code {code}"
    lines = [li for li in ledger.lines(job.directory) if str(li.get("worker")).endswith(f":{worker.process.pid}")]
    key = lines[-1]["key"] if lines and lines[-1]["event"] == "started" else ""
    died[key] = died.get(key, 0) + 1
    if died[key] < _DEATHS:
        return
    said = f" ({worker.last_words})" if worker.last_words else ""
    if not key:
        raise SpurgenError(f"processes of the study die before they begin a trial: one {how}{said}")
    hint = "; was there enough memory? (--jobs 1 needs less)" if code == -9 else ""
    ledger.append(job.directory, key, "failed", reason=f"its process {how}{said}{hint}")


def work(directory: Path, trials: list[Trial], threads: int, retry: bool) -> None:
    """What a process does: each trial that nobody else is at."""
    import torch

    torch.set_num_threads(threads)
    for trial in trials:
        claim(directory, trial, retry)


def _end_with(parent: int) -> None:
    """Nobody waits for a process whose parent was killed."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


LAUNCHER = Launcher("local", "processes on this machine", launch)


def main() -> None:
    """Work until nothing is left."""
    told = json.loads(sys.argv[2])
    _end_with(told["parent"])
    trials = [trial_from(each, told["trials"]) for each in json.loads(Path(told["trials"]).read_text())]
    try:
        work(Path(sys.argv[1]), trials, told["threads"], told["retry"])
    except SpurgenError as error:
        print(f"error: {error}", file=sys.stderr)  # noqa: T201  its parent reads it
        sys.exit(_NO_WAY_ON)


if __name__ == "__main__":
    main()
