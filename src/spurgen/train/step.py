"""One step of descent: a batch, a loss, gradients, and what is noted of it; on a GPU as a captured graph."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from spurgen.errors import SpurgenError
from spurgen.learning import Batch, Learner, Loss
from spurgen.train.optimiser import optimiser, set_rate
from spurgen.train.options import Options, autocast
from spurgen.train.source import Assembled, Given, Source

MOST_GROUPS = 256  # more are not noted step by step
_EAGER = 3  # steps of a phase before it is captured: they make what is made on first use


class Stepper:
    """Takes the steps of one stage of a trial.

    `notes` holds a row per step since it was last emptied: loss, accuracy, and each group's loss (nan where the batch
    had none of its rows). Nothing waits for the device before notes are read.
    """

    def __init__(
        self,
        learner: Learner,
        stage: int,
        options: Options,
        source: Source,
        graphs: bool,
        room: int,
        stream: torch.cuda.Stream | None = None,
    ):
        device = source.device
        self.source = source
        self.learner = learner
        self.options = options
        self.device = device
        self.graphs = graphs
        self.parameters = learner.trained(stage)
        wanted = {id(p) for p in self.parameters}
        for parameter in learner.parameters():
            parameter.requires_grad_(id(parameter) in wanted)
            parameter.grad = None
        self.optimiser = optimiser(self.parameters, options, device)
        self.groups = len(learner.task.groups) if len(learner.task.groups) <= MOST_GROUPS else 0
        self.notes = torch.full((room, 2 + self.groups), torch.nan, device=device)
        self.noted = 0
        self._codes = torch.arange(self.groups, device=device)[:, None]
        self._at = torch.zeros(1, dtype=torch.long, device=device)  # the row of notes that comes next
        self._captured: dict[str, torch.cuda.CUDAGraph] = {}
        self._seen: dict[str, int] = {}
        self._places: Given = {}
        self._frozen = learner.frozen(stage)
        # All graphs use one stream and one pool of memory: the gradients that one leaves are dropped before the next.
        self._stream = (stream or torch.cuda.Stream(device)) if graphs else None
        self._pool = torch.cuda.graph_pool_handle() if graphs else None
        self.train_mode()

    def train_mode(self) -> None:
        """As in training, but for what a stage freezes, which keeps its statistics."""
        self.learner.train()
        for module in self._frozen:
            module.eval()

    def take(self, given: Given, phase: str, rate: float) -> None:
        """One step, from what `source.assemble` makes a batch of."""
        set_rate(self.optimiser, rate)
        if not self.graphs:
            self._step(given, phase)
        else:
            self._replay(given, phase)
        self.noted += 1

    def close(self) -> None:
        """Let go of the graphs, once they have run, before others are captured on the same stream."""
        if self._captured:
            torch.cuda.current_stream(self.device).synchronize()
        for graph in self._captured.values():
            graph.reset()
        self._captured.clear()

    def read(self) -> Tensor:
        """The notes of the steps since they were last read; waits for the device."""
        found = self.notes[: self.noted].to("cpu", copy=True)
        self.noted = 0
        self._at.zero_()
        return found

    def _step(self, given: Given, phase: str) -> None:
        with autocast(self.options, self.device):
            batch = self._batch(self.source.assemble(given))
            loss = self.learner.loss(batch, phase)
        self.optimiser.zero_grad(set_to_none=True)
        loss.total.backward()  # type: ignore[no-untyped-call]
        if self.options.clip:
            nn.utils.clip_grad_norm_(self.parameters, self.options.clip)
        self.optimiser.step()
        self._note(batch, loss)

    def _batch(self, found: Assembled) -> Batch:
        """The batch with the network's inputs made."""
        inputs = self._shifted(self.learner.net.inputs(found.raw))
        partner = self._batch(found.partner) if found.partner is not None else None
        twin = self._shifted(self.learner.net.inputs(found.twin)) if found.twin is not None else None
        return Batch(inputs, partner=partner, twin=twin, **found.columns)

    def _shifted(self, inputs: Tensor) -> Tensor:
        """Pictures moved by up to shift_px, what leaves on one side coming back on the other."""
        if not self.options.shift_px:
            return inputs
        if inputs.ndim != 4:
            raise SpurgenError("shift_px is for pictures; leave it at 0")
        most = self.options.shift_px
        down, right = torch.randint(-most, most + 1, (2, 1), device=self.device)
        rows = (torch.arange(inputs.shape[2], device=self.device) + down) % inputs.shape[2]
        columns = (torch.arange(inputs.shape[3], device=self.device) + right) % inputs.shape[3]
        moved = inputs.permute(0, 2, 3, 1)[:, rows][:, :, columns]  # as it lies in memory: channels last
        return moved.permute(0, 3, 1, 2)

    @torch.no_grad()
    def _note(self, batch: Batch, loss: Loss) -> None:
        row = torch.full((self.notes.shape[1],), torch.nan, device=self.device)
        row[0] = loss.total.detach()
        if loss.scores is not None:
            scores = loss.scores.detach().float()
            row[1] = (scores.argmax(1) == batch.y).float().mean()
            if self.groups:
                rows = cross_entropy(scores, batch.y, reduction="none")
                member = batch.group == self._codes
                row[2:] = (member * rows).sum(1) / member.sum(1)  # 0 / 0 is nan
        self.notes.index_copy_(0, self._at, row[None])
        self._at += 1

    # --------------------------------------------------------------------------------------------------- graphs

    def _replay(self, given: Given, phase: str) -> None:
        """The step as a graph: the first of a phase are taken one operation at a time, then it is captured."""
        for name, value in given.items():
            if name in self._places:
                self._places[name].copy_(value, non_blocking=True)
            else:
                self._places[name] = value.to(self.device, copy=True)
        places = {name: self._places[name] for name in given}
        if phase in self._captured:
            self._captured[phase].replay()
            return
        self._seen[phase] = self._seen.get(phase, 0) + 1
        assert self._stream is not None
        if self._seen[phase] <= _EAGER:
            self._stream.wait_stream(torch.cuda.current_stream(self.device))
            with torch.cuda.stream(self._stream):
                self._step(places, phase)
            torch.cuda.current_stream(self.device).wait_stream(self._stream)
            return
        self.optimiser.zero_grad(set_to_none=True)
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph, self._pool, self._stream, capture_error_mode="thread_local"):
                self._step(places, phase)
        except RuntimeError as error:
            reason = str(error).splitlines()[0]
            raise SpurgenError(f"a step cannot be captured as a graph ({reason}); train with --graphs off") from error
        self._captured[phase] = graph
        graph.replay()  # type: ignore[no-untyped-call]
