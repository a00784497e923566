"""Training data: a stored split held ready on the device, or a stream that is drawn while it is learnt from."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from spurgen.latents import intervene
from spurgen.learning import Data, Positions, Split
from spurgen.load import columns
from spurgen.load.rows import Rows
from spurgen.load.rows import draw as draw_content
from spurgen.train.encode import Encoder, as_tensor

if TYPE_CHECKING:
    import pyarrow as pa

    from spurgen.load.fly import OnTheFly
    from spurgen.spec import World

FREE = 0.4  # of a GPU's free memory that the rows of a split may take; beyond that they stay where they are
_CHUNK = 4096


def attributes(table: pa.Table, spec: World) -> np.ndarray[Any, Any]:
    """(rows, channels): positions of the attributes, as annotated where there are annotations."""
    noted = [f"{c}_annotated" if f"{c}_annotated" in table.column_names else c for c in spec.channels]
    found = [columns.read(table, spec, name).values for name in noted]
    return np.stack(found, 1) if found else np.zeros((table.num_rows, 0), np.int64)


def split_of(rows: Rows, encoder: Encoder, device: torch.device, environments: list[int]) -> Split:
    """Rows with everything that methods look at, on the device. Environments count among those of training."""
    place = np.full(max(len(rows.spec.environments), 1), -1, np.int64)
    place[environments] = np.arange(len(environments))
    arrays = {name: encoder.array(name, rows.whole(name)) for name in encoder.modalities}
    size = sum(array.nbytes for array in arrays.values())
    resident = device.type == "cpu" or size < FREE * torch.cuda.mem_get_info(device)[0]
    parts = {name: _held(array, device, resident) for name, array in arrays.items()}

    def raw(at: Tensor) -> Any:
        found = {name: take(at) for name, take in parts.items()}
        return found if len(found) > 1 else next(iter(found.values()))

    def there(values: Any) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(values, np.int64)).to(device)

    return Split(
        there(rows.y),
        there(rows.groups.codes),
        there(place[rows.environment]),
        there(attributes(rows.table, rows.spec)),
        raw,
        resident,
    )


def _held(array: Any, device: torch.device, resident: bool) -> Callable[[Tensor], Tensor]:
    """A function that gathers rows on the device, from there if they are to lie there."""
    if device.type == "cuda" and resident:
        whole = torch.empty(array.shape, dtype=torch.from_numpy(array[:1].copy()).dtype, device=device)
        for start in range(0, len(array), _CHUNK):
            whole[start : start + _CHUNK] = torch.from_numpy(np.array(array[start : start + _CHUNK]))
        return lambda at: as_tensor(whole.index_select(0, at), device)
    return lambda at: as_tensor(array.take(at.cpu().numpy(), 0), device)


Given = dict[str, Tensor]


class Assembled(NamedTuple):
    """A batch before the network's inputs are made."""

    raw: Any
    columns: dict[str, Tensor]
    partner: Assembled | None = None
    twin: Any = None


class Stored:
    """A training split held ready, and its validation split.

    A batch is given by the positions of its rows; and with what they show, where that does not lie on the device.
    """

    def __init__(self, train: Rows, val: Rows | None, encoder: Encoder, device: torch.device, environments: list[int]):
        self.rows = train
        self.encoder = encoder
        self.device = device
        self.data = Data(
            split_of(train, encoder, device, environments),
            None if val is None else split_of(val, encoder, device, environments),
        )

    def give(self, positions: Positions, partners: Positions | None, twins: tuple[int, int] | None) -> Given:
        """What `assemble` needs; `twins` holds the seed and the number of the draw."""
        given: Given = {}
        for name, at in (("rows", positions), ("partners", partners)):
            if at is not None:
                given[name] = _numbers(at, self.device)
                if not self.data.train.resident:
                    given |= _named(f"raw of {name}", self.data.train.raw(torch.from_numpy(at)))
        if twins is not None:
            table = self.rows.table.take(positions)
            given |= _named("twin", redrawn(table, self.rows.spec, self.encoder, self.device, *twins))
        return given

    def assemble(self, given: Given) -> Assembled:
        """The rows themselves; on a GPU nothing here waits for the host."""
        found = self._rows("rows", given)
        partner = self._rows("partners", given) if "partners" in given else None
        return found._replace(partner=partner, twin=_unnamed("twin", given))

    def _rows(self, name: str, given: Given) -> Assembled:
        train, at = self.data.train, given[name]
        columns = {
            "y": train.y[at],
            "group": train.group[at],
            "environment": train.environment[at],
            "attributes": train.attributes[at],
            "position": at,
        }
        return Assembled(train.raw(at) if train.resident else _unnamed(f"raw of {name}", given), columns)


class Streamed:
    """A stream of rows that never come again, and the rows of a plan to validate on. A batch is given as it is."""

    def __init__(
        self, stream: OnTheFly, val: Rows | None, encoder: Encoder, device: torch.device, environments: list[int]
    ):
        self.stream = stream
        self.encoder = encoder
        self.device = device
        self.place = np.full(max(len(stream.spec.environments), 1), -1, np.int64)
        self.place[environments] = np.arange(len(environments))
        nothing = torch.zeros(0, dtype=torch.long, device=device)
        empty = Split(nothing, nothing, nothing, nothing, lambda at: at)
        self.data = Data(empty, None if val is None else split_of(val, encoder, device, environments))
        self._coming = iter(stream)

    def give(self, positions: Positions, partners: Positions | None, twins: tuple[int, int] | None) -> Given:
        """The next rows, whatever the positions."""
        batch = next(self._coming)
        table = batch.table
        columns = {
            "y": batch.y,
            "group": batch.group,
            "environment": self.place[batch.environment],
            "attributes": attributes(table, self.stream.spec),
            "position": np.full(len(batch), -1),
        }
        given = _named("raw", self.encoder.raw(batch.x, self.device))
        given |= {name: _numbers(values, self.device) for name, values in columns.items()}
        if twins is not None:
            given |= _named("twin", redrawn(table, self.stream.spec, self.encoder, self.device, *twins))
        return given

    def assemble(self, given: Given) -> Assembled:
        """The rows as they were given."""
        columns = {name: given[name] for name in ("y", "group", "environment", "attributes", "position")}
        return Assembled(_unnamed("raw", given), columns, None, _unnamed("twin", given))

    def go_to(self, state: dict[str, Any]) -> None:
        """Go on where another stream was."""
        self.stream.load_state_dict(state)
        self._coming = iter(self.stream)


Source = Stored | Streamed


def redrawn(table: pa.Table, spec: World, encoder: Encoder, device: torch.device, seed: int, draw: int) -> Any:
    """Rows with every channel drawn uniformly and all else kept, as raw tensors."""
    edited = intervene.randomise(table, spec, seed=seed, draw=draw)
    content = {}
    for name in encoder.modalities:
        on_gpu = {"device": str(device)} if name == "image" and device.type == "cuda" else {}
        content[name] = draw_content(edited, spec, name, **on_gpu)
    return encoder.raw(content if len(content) > 1 else content[encoder.modalities[0]], device)


def _numbers(values: Any, device: torch.device) -> Tensor:
    """Whole numbers on the device; from page-locked memory, so that nobody waits."""
    found = torch.from_numpy(np.ascontiguousarray(values, np.int64))
    return found if device.type == "cpu" else found.pin_memory().to(device, non_blocking=True)


def _named(what: str, raw: Any) -> Given:
    return {f"{what}/{name}": part for name, part in raw.items()} if isinstance(raw, dict) else {what: raw}


def _unnamed(what: str, given: Given) -> Any:
    if what in given:
        return given[what]
    return {name.removeprefix(f"{what}/"): v for name, v in given.items() if name.startswith(f"{what}/")} or None
