"""Several trials in one process, a step of each in turn; what torch keeps for the whole process is each one's own.

On a GPU every trial has a stream of its own, so that their steps run beside one another.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterable, Iterator
from typing import Any, TypeVar

import torch

T = TypeVar("T")
Turns = Generator[None, None, T]


def done(work: Turns[T]) -> T:
    """What a generator returns, once it is through."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            found: T = end.value
            return found


def beside(work: Iterable[Turns[T]], width: int) -> Iterator[T]:
    """What generators return, in the order in which they end; up to `width` of them take turns."""
    coming = iter(work)
    at_work: list[Turns[T]] = []
    try:
        while True:
            while len(at_work) < width and (more := next(coming, None)) is not None:
                at_work.append(more)
            if not at_work:
                return
            for one in list(at_work):
                try:
                    next(one)
                except StopIteration as end:
                    at_work.remove(one)
                    yield end.value
    finally:
        for one in at_work:
            one.close()


# Streams that no trial has any more. Torch hands out 32 of them in turn, again and again, so that making one for every
# trial would in time give two trials the same, and what the one's graphs free at its end the other's would still use.
_FREE: dict[str, list[Any]] = {}


class Own:
    """What is global in torch and belongs to one trial while it is its turn: random numbers, exactness, a stream."""

    def __init__(self, device: torch.device, turns: bool):
        self.device = device
        self.turns = turns
        self._random: torch.Tensor | None = None
        self._inside = contextlib.ExitStack()
        self._stream: Any = None
        if device.type == "cuda" and turns:
            index = device.index if device.index is not None else torch.cuda.current_device()
            self._generator = torch.cuda.default_generators[index]
            self._state: Any = self._generator.clone_state()  # graphs that are captured with it keep to it
            self._place = f"{device.type}:{index}"
            self._stream = _FREE[self._place].pop() if _FREE.get(self._place) else torch.cuda.Stream(device)
            self._stream.wait_stream(torch.cuda.current_stream(device))

    def enter(self) -> None:
        """The trial's turn begins."""
        inside = self._inside
        inside.enter_context(torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True))
        on_gpu = self.device.type == "cuda"
        if on_gpu:
            inside.enter_context(torch.cuda.device(self.device))
        if on_gpu and not self.turns:
            inside.enter_context(torch.random.fork_rng(devices=[self.device]))
            return
        inside.callback(torch.set_rng_state, torch.get_rng_state())
        if self._random is not None:
            torch.set_rng_state(self._random)
        if on_gpu:
            inside.callback(self._generator.graphsafe_set_state, self._generator.graphsafe_get_state())
            self._generator.graphsafe_set_state(self._state)
            inside.enter_context(torch.cuda.stream(self._stream))

    @property
    def stream(self) -> Any:
        """The trial's own stream; None where it has none."""
        return self._stream

    def leave(self) -> None:
        """The trial's turn ends, and everything is as it was before."""
        if self.turns:
            self._random = torch.get_rng_state()
        self._inside.close()

    def end(self) -> None:
        """The last turn is over: what is still under way is waited for, and the stream is free for another trial."""
        self.leave()
        if self._stream is not None:
            self._stream.synchronize()
            _FREE.setdefault(self._place, []).append(self._stream)
            self._stream = None
