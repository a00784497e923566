"""A listener that writes what happens during training for TensorBoard."""

from __future__ import annotations

from pathlib import Path

from spurgen.errors import missing_extra
from spurgen.train.events import Began, Checked, Ended, Event, Stepped


class TensorBoard:
    """Scalars of steps and checks, below a directory of logs."""

    def __init__(self, directory: str | Path):
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as error:
            raise missing_extra("logging to TensorBoard", "track") from error
        self.writer = SummaryWriter(str(directory))  # type: ignore[no-untyped-call]

    def __call__(self, event: Event) -> None:
        """Write one event."""
        if isinstance(event, Began):
            words = {key: str(value) for key, value in event.about.items()}
            self.writer.add_text("run", "\n".join(f"    {k}: {v}" for k, v in words.items()))  # type: ignore[no-untyped-call]
        elif isinstance(event, Stepped | Checked):
            part = "train" if isinstance(event, Stepped) else "val"
            for name, value in event.values.items():
                self.writer.add_scalar(f"{part}/{name}", value, event.step)  # type: ignore[no-untyped-call]
        elif isinstance(event, Ended):
            self.writer.flush()  # type: ignore[no-untyped-call]
