"""Spec -> table of latents. Any rows can be asked for, in any order, at a cost that depends only on how many."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spurgen import seeds
from spurgen.errors import SpecError, SpurgenError, UnknownName, unknown
from spurgen.latents.coupling import Cells, Draw, by_chance, by_quota, cells, shares
from spurgen.parts import Choice, Constant, Distribution
from spurgen.spec.tables import coupling, order, table
from spurgen.spec.world import World

if TYPE_CHECKING:
    import pyarrow as pa

CHUNK = 65_536  # small enough that the intermediate arrays stay in cache
MOST_CELLS = 2_000_000  # of one channel in one split and environment; a chain of `given` multiplies them
MOST_LISTED = 2**28  # rows of independent draws whose splits can be listed in memory
Ids = NDArray[np.uint64]


def sample(spec: World, rows: int | None = None, seed: int = 0) -> pa.Table:
    """All rows of a world as one table."""
    plan = Plan(spec, rows, seed)
    return plan.table(np.arange(plan.rows, dtype=np.uint64))


class Plan:
    """Which rows there are and what each holds: a pure function of (spec, rows, seed, row_id)."""

    def __init__(self, spec: World, rows: int | None = None, seed: int = 0):
        self.spec = spec
        self.rows = seeds.whole("rows", spec.rows if rows is None else rows, 1, 2**40)
        self.seed = seeds.whole("seed", seed)
        self._classes = len(spec.classes)
        self._environments = list(spec.environments)
        self._class_shares = _normal([spec.class_shares.get(c, 1.0) for c in spec.classes])
        self._nuisances = spec.varying
        if spec.sampling == "quota":
            self._check_quotas()

    # ------------------------------------------------------------------------------------------ which rows

    @cached_property
    def splits(self) -> dict[str, int]:
        """Rows in each split."""
        if self.spec.sampling == "iid":
            return {name: len(ids) for name, ids in self._members.items()}
        sizes = shares(self.rows, _normal([s.share for s in self.spec.splits.values()]))
        return dict(zip(self.spec.splits, sizes.tolist(), strict=True))

    def row_ids(self, split: str, start: int = 0, stop: int | None = None) -> Ids:
        """Ids of the rows from position `start` to `stop` of a split."""
        if split not in self.spec.splits:
            raise UnknownName(unknown("split", split, self.spec.splits, self.spec.id))
        stop = self.splits[split] if stop is None else min(stop, self.splits[split])
        if self.spec.sampling == "iid":
            return self._members[split][start:stop]
        return np.arange(self._first[split] + start, self._first[split] + stop, dtype=np.uint64)

    @cached_property
    def _first(self) -> dict[str, int]:
        ends = np.cumsum(list(self.splits.values()))
        return dict(zip(self.splits, (ends - list(self.splits.values())).tolist(), strict=True))

    @cached_property
    def _members(self) -> dict[str, Ids]:
        if self.rows > MOST_LISTED:
            raise SpurgenError(
                f"{self.rows} independent draws are too many to be listed by split; use sampling = 'quota'"
            )
        found: dict[str, list[Ids]] = {name: [] for name in self.spec.splits}
        for start in range(0, self.rows, CHUNK):
            ids = np.arange(start, min(start + CHUNK, self.rows), dtype=np.uint64)
            codes = self._split_by_chance(ids)
            for i, name in enumerate(found):
                found[name].append(ids[codes == i])
        return {name: np.concatenate(parts) for name, parts in found.items()}

    # -------------------------------------------------------------------------------------- what each holds

    def table(self, row_ids: Any) -> pa.Table:
        """The latents of the given rows, in the order given."""
        import pyarrow as pa

        ids = np.atleast_1d(np.asarray(row_ids))
        if ids.size and ids.dtype.kind not in "iu":
            raise SpurgenError("row ids must be whole numbers")
        for end in (ids.min(initial=0), ids.max(initial=0)) if ids.size else ():
            if not 0 <= int(end) < self.rows:
                raise SpurgenError(f"there is no row {int(end)}; rows run from 0 to {self.rows - 1}")
        ids = ids.astype(np.uint64)
        chunks = [self._chunk(ids[i : i + CHUNK]) for i in range(0, len(ids), CHUNK)] or [self._chunk(ids)]
        return pa.concat_tables(chunks).combine_chunks()

    def _chunk(self, ids: Ids) -> pa.Table:
        import pyarrow as pa

        split, environment, label, attributes = (self._quota if self.spec.sampling == "quota" else self._chance)(ids)
        columns: dict[str, Any] = {
            "row_id": pa.array(ids),
            "split": _coded(split, self.spec.splits),
            "environment": _coded(environment, self._environments),
            "label": _coded(label, self.spec.classes),
        }
        for name, codes in attributes.items():
            columns[name] = _coded(codes, self.spec.values(name))
        columns |= self._noise(ids, split, label, attributes)
        for name, distribution in self._nuisances.items():
            if not isinstance(distribution, Constant):
                drawn = distribution.sample(seeds.uniform(self.seed, f"nuisance/{name}", ids))
                columns[name] = (
                    _coded(drawn, distribution.names) if isinstance(distribution, Choice) else pa.array(drawn)
                )
        return pa.table(columns)

    def _quota(self, ids: Ids) -> tuple[Any, Any, Any, dict[str, NDArray[np.int32]]]:
        split = np.searchsorted(np.cumsum(list(self.splits.values())), ids.astype(np.int64), "right").astype(np.int32)
        environment = np.zeros(len(ids), np.int32)
        label = np.zeros(len(ids), np.int32)
        attributes = {name: np.zeros(len(ids), np.int32) for name in self.spec.channels}
        for s, (name, size) in enumerate(self.splits.items()):
            here = np.flatnonzero(split == s)
            if not here.size:
                continue
            position = ids[here].astype(np.int64) - self._first[name]
            place = seeds.permute(self.seed, f"cells/{name}", 0, position, size)
            sizes = self._sizes[name]
            ends = np.cumsum(sizes)
            cell = np.searchsorted(ends, place, "right")
            rank = place - (ends - sizes)[cell]
            environment[here], label[here] = np.divmod(cell, self._classes)
            for e in np.unique(environment[here]):
                mine = environment[here] == e
                drawn = self._quota_channels(name, self._environments[e], label[here][mine], rank[mine])
                for channel, draw in drawn.items():
                    attributes[channel][here[mine]] = draw.codes
        return split, environment, label, attributes

    def _quota_channels(self, split: str, environment: str, label: Any, rank: Any) -> dict[str, Draw]:
        drawn: dict[str, Draw] = {}
        for name in order(self.spec, environment):
            parent = coupling(self.spec, environment, name).follows
            key, at = (drawn[parent].key, drawn[parent].rank) if parent else (label.astype(np.int64), rank)
            stream = f"channel/{name}/{split}/{environment}"
            drawn[name] = by_quota(self.seed, stream, self._laws[split, environment, name], key, at)
        return drawn

    @cached_property
    def _sizes(self) -> dict[str, NDArray[np.int64]]:
        """For each split the rows of every (environment, label), environments outermost."""
        out, odd = {}, 0
        for name, size in self.splits.items():
            weights = self.spec.splits[name].weights
            per_environment = shares(size, _normal([weights.get(e, 0.0) for e in self._environments]))
            cells = []
            for rows in per_environment:
                # the odd rows go to the classes after those that had the last ones, so that classes stay even
                turn = (np.arange(self._classes) - odd) % self._classes
                cells.append(shares(rows, self._class_shares, turn.astype(np.float64)))
                odd += int(rows - np.floor(np.round(rows * self._class_shares, 9)).sum())
            out[name] = np.concatenate(cells)
        return out

    @cached_property
    def _laws(self) -> dict[tuple[str, str, str], Cells]:
        laws: dict[tuple[str, str, str], Cells] = {}
        for split in self.splits:
            for e, environment in enumerate(self._environments):
                label_sizes = self._sizes[split][e * self._classes : (e + 1) * self._classes]
                for name in order(self.spec, environment):
                    parent = coupling(self.spec, environment, name).follows
                    sizes = laws[split, environment, parent].counts.reshape(-1) if parent else label_sizes
                    probabilities = table(self.spec, environment, name)
                    if sizes.size * probabilities.shape[1] > MOST_CELLS:
                        raise SpecError(
                            f"environments.{environment}.{name}",
                            "ends a chain of channels that follow one another, too long for exact quotas; "
                            "use sampling = 'iid', or a shorter chain",
                        )
                    contexts = np.tile(probabilities, (sizes.size // len(probabilities), 1))
                    stream = f"channel/{name}/{split}/{environment}"
                    laws[split, environment, name] = cells(self.seed, stream, sizes, contexts)
        return laws

    def _chance(self, ids: Ids) -> tuple[Any, Any, Any, dict[str, NDArray[np.int32]]]:
        def drawn(stream: str, probabilities: Any) -> NDArray[np.int32]:
            rows = np.broadcast_to(probabilities, (len(ids), np.shape(probabilities)[-1]))
            return by_chance(seeds.uniform(self.seed, stream, ids), rows)

        split = self._split_by_chance(ids)
        weights = [s.weights for s in self.spec.splits.values()]
        mixture = np.array([_normal([w.get(e, 0.0) for e in self._environments]) for w in weights])
        environment = drawn("environment", mixture[split])
        label = drawn("label", self._class_shares)
        attributes: dict[str, NDArray[np.int32]] = {}
        for e, name in enumerate(self._environments):
            mine = environment == e
            here: dict[str, NDArray[np.int32]] = {}
            for channel in order(self.spec, name):
                parent = coupling(self.spec, name, channel).follows
                context = here[parent] if parent else label[mine]
                u = seeds.uniform(self.seed, f"channel/{channel}", ids[mine])
                here[channel] = by_chance(u, table(self.spec, name, channel)[context])
            for channel, codes in here.items():
                attributes.setdefault(channel, np.zeros(len(ids), np.int32))[mine] = codes
        return split, environment, label, {name: attributes[name] for name in self.spec.channels}

    def _split_by_chance(self, ids: Ids) -> NDArray[np.int32]:
        probabilities = _normal([s.share for s in self.spec.splits.values()])
        rows = np.broadcast_to(probabilities, (len(ids), len(probabilities)))
        return by_chance(seeds.uniform(self.seed, "split", ids), rows)

    # ---------------------------------------------------------------------------------------------- noise

    def _noise(self, ids: Ids, split: Any, label: Any, attributes: dict[str, Any]) -> dict[str, Any]:
        """The columns that noise adds: null in `_shown` means that the row shows what it says."""
        noise = self.spec.noise
        noisy_splits = [noise.splits is None or name in noise.splits for name in self.spec.splits]
        noisy = np.array(noisy_splits)[split]
        out: dict[str, Any] = {}
        if noise.core:
            out["label_shown"] = self._shown("label", noise.core, ids, noisy, self.spec.classes)
        if noise.label:
            out["label_annotated"] = self._annotated("label", noise.label, ids, noisy, label, self.spec.classes)
        for name in self.spec.channels:
            values = self.spec.values(name)
            if p := noise.signal.get(name, 0.0):
                out[f"{name}_shown"] = self._shown(name, p, ids, noisy, values)
            if p := noise.annotation.get(name, 0.0):
                out[f"{name}_annotated"] = self._annotated(name, p, ids, noisy, attributes[name], values)
        return out

    def _shown(self, name: str, p: float, ids: Ids, noisy: Any, values: Any) -> Any:
        hit = noisy & (seeds.uniform(self.seed, f"noise/{name}/signal", ids) < p)
        codes = seeds.integers(self.seed, f"noise/{name}/shown", ids, len(values))
        return _coded(codes, values, ~hit)

    def _annotated(self, name: str, p: float, ids: Ids, noisy: Any, codes: Any, values: Any) -> Any:
        hit = noisy & (seeds.uniform(self.seed, f"noise/{name}/annotation", ids) < p)
        step = 1 + seeds.integers(self.seed, f"noise/{name}/annotated", ids, max(len(values) - 1, 1))
        return _coded(np.where(hit, (codes + step) % len(values), codes), values)

    # -------------------------------------------------------------------------------------------- columns

    @cached_property
    def features(self) -> dict[str, dict[str, Any]]:
        """Hugging Face feature of every column, in order."""
        out: dict[str, dict[str, Any]] = {}
        first = self._chunk(np.zeros(1, np.uint64))
        for name in first.column_names:
            column = first.column(name)
            if hasattr(column.type, "index_type"):
                names = column.chunk(0).dictionary.to_pylist()
                out[name] = {"_type": "ClassLabel", "names": names}
            else:
                kind = {"float": "float32", "double": "float64"}.get(str(column.type), str(column.type))
                out[name] = {"_type": "Value", "dtype": kind}
        return out

    @property
    def nuisances(self) -> dict[str, Distribution]:
        """How every trait varies that neither class nor channel sets."""
        return self._nuisances

    def _check_quotas(self) -> None:
        for split, sizes in self._sizes.items():
            for e, environment in enumerate(self._environments):
                mine = sizes[e * self._classes : (e + 1) * self._classes]
                if self.spec.splits[split].weights.get(environment, 0) and (mine == 0).any():
                    name = self.spec.classes[int(np.argmin(mine))]
                    raise SpecError(
                        "rows",
                        f"{self.rows} rows leave split {split!r}, environment {environment!r} without a row of class "
                        f"{name!r}; {self._enough()}use sampling = 'iid'",
                    )

    def _enough(self) -> str:
        smallest = min(
            split.share * weight * float(self._class_shares.min())
            for split in self.spec.splits.values()
            for weight in split.weights.values()
        )
        rows = np.ceil(1 / smallest - 1e-9)
        return f"ask for at least {int(rows)} rows, or " if rows <= 2**40 else ""


def _normal(weights: list[float]) -> NDArray[np.float64]:
    out = np.array(weights, np.float64)
    return out / out.sum()


def _coded(codes: Any, names: Any, null: Any = None) -> Any:
    import pyarrow as pa

    indices = pa.array(np.asarray(codes, np.int32), mask=null)
    return pa.DictionaryArray.from_arrays(indices, pa.array(list(names), pa.string()))
