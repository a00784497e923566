"""What was asked of a world against what a table of it holds: alignment, dependence, what each channel gives away."""

from __future__ import annotations

import itertools
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spurgen.latents.traits import column_codes
from spurgen.spec.tables import coupling, table
from spurgen.spec.world import World

if TYPE_CHECKING:
    import pyarrow as pa

Z95 = 1.959963984540054


@dataclass(frozen=True)
class Alignment:
    """P(aligned attribute | label), averaged over labels, in one split and environment."""

    split: str
    environment: str
    channel: str
    coupling: str
    rows: int
    asked: float
    achieved: float
    low: float  # 95% Wilson interval of achieved
    high: float
    largest_miss: float  # of any attribute's count in any cell, in rows; a cell shares label and followed attributes


@dataclass(frozen=True)
class Dependence:
    """How much one column says about another within a split."""

    split: str
    first: str
    second: str
    mutual_information_bits: float
    cramers_v: float


@dataclass(frozen=True)
class Giveaway:
    """How well the label can be guessed from one channel alone within a split: the best any model could do."""

    split: str
    channel: str
    best_accuracy: float
    chance: float


@dataclass(frozen=True)
class Group:
    """Rows that share the pattern of aligned channels, in one split."""

    split: str
    pattern: str  # "background+hue" names the aligned channels; "none" where nothing is
    rows: int


@dataclass(frozen=True)
class Audit:
    """All findings; `largest_miss` is at most one row when quotas were kept."""

    spec_id: str
    rows: int
    splits: dict[str, int]
    labels: dict[str, int]
    alignments: tuple[Alignment, ...]
    dependences: tuple[Dependence, ...]
    giveaways: tuple[Giveaway, ...]
    groups: tuple[Group, ...]

    @property
    def largest_miss(self) -> float:
        """How far, in rows, the count of any attribute in any cell is from what was asked."""
        return max((a.largest_miss for a in self.alignments), default=0.0)

    def as_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {**asdict(self), "largest_miss": self.largest_miss}


def audit(rows: pa.Table, spec: World) -> Audit:
    """Compare a table with its spec."""
    split = column_codes(rows, "split", list(spec.splits))
    environment = column_codes(rows, "environment", list(spec.environments))
    label = column_codes(rows, "label", spec.classes)
    codes = {name: column_codes(rows, name, spec.values(name)) for name in spec.channels}
    alignments: list[Alignment] = []
    dependences: list[Dependence] = []
    giveaways: list[Giveaway] = []
    groups: list[Group] = []
    for s, split_name in enumerate(spec.splits):
        here = split == s
        for e, environment_name in enumerate(spec.environments):
            mine = here & (environment == e)
            if mine.any():
                drawn = {name: c[mine] for name, c in codes.items()}
                alignments += [
                    _alignment(spec, split_name, environment_name, name, label[mine], drawn) for name in spec.channels
                ]
        if here.any():
            dependences += _dependences(spec, split_name, label[here], {n: c[here] for n, c in codes.items()})
            giveaways += [_giveaway(spec, split_name, n, label[here], c[here]) for n, c in codes.items()]
            groups += _groups(spec, split_name, label[here], {n: c[here] for n, c in codes.items()})
    return Audit(
        spec_id=spec.id,
        rows=len(rows),
        splits={name: int((split == s).sum()) for s, name in enumerate(spec.splits)},
        labels={name: int((label == i).sum()) for i, name in enumerate(spec.classes)},
        alignments=tuple(alignments),
        dependences=tuple(dependences),
        giveaways=tuple(giveaways),
        groups=tuple(groups),
    )


def _alignment(
    spec: World, split: str, environment: str, channel: str, label: NDArray[Any], codes: dict[str, NDArray[Any]]
) -> Alignment:
    law = coupling(spec, environment, channel)
    probabilities = table(spec, environment, channel)
    context = codes[law.follows] if law.follows else label
    aligned = np.array(spec.aligned(channel))[label]
    hits, rows = int((codes[channel] == aligned).sum()), len(label)
    low, high = wilson(hits, rows)
    return Alignment(
        split=split,
        environment=environment,
        channel=channel,
        coupling=law.coupling if not law.follows else f"given {law.follows}",
        rows=rows,
        asked=float(probabilities[context, aligned].mean()),
        achieved=hits / rows,
        low=low,
        high=high,
        largest_miss=_largest_miss(
            probabilities, context, codes[channel], _cells(spec, environment, channel, label, codes)
        ),
    )


def _cells(
    spec: World, environment: str, channel: str, label: NDArray[Any], codes: dict[str, NDArray[Any]]
) -> NDArray[np.int64]:
    """The cells in which quotas hold, numbered: by label, and by the attributes of all channels that are followed."""
    cell = label.astype(np.int64)
    ancestors: list[str] = []
    while (parent := coupling(spec, environment, channel).follows) is not None:
        ancestors.append(parent)
        channel = parent
    for name in reversed(ancestors):
        cell = np.unique(cell * len(spec.values(name)) + codes[name], return_inverse=True)[1]
    return cell


def _largest_miss(
    probabilities: NDArray[np.float64], context: NDArray[Any], codes: NDArray[Any], cell: NDArray[np.int64]
) -> float:
    """How far the count of any attribute in any cell is from what was asked; all rows of a cell share a context."""
    numbers, first, cell = np.unique(cell, return_index=True, return_inverse=True)
    counts = crosstab(cell, len(numbers), codes, probabilities.shape[1])
    expected = counts.sum(1, keepdims=True) * probabilities[context[first]]
    return float(np.abs(counts - expected).max(initial=0.0))


def _dependences(spec: World, split: str, label: NDArray[Any], codes: dict[str, NDArray[Any]]) -> list[Dependence]:
    columns = {"label": (label, len(spec.classes))} | {n: (c, len(spec.values(n))) for n, c in codes.items()}
    names = list(columns)
    out = []
    for i, first in enumerate(names):
        for second in names[i + 1 :]:
            counts = crosstab(*columns[first], *columns[second])
            out.append(Dependence(split, first, second, mutual_information_bits(counts), cramers_v(counts)))
    return out


def _giveaway(spec: World, split: str, name: str, label: NDArray[Any], codes: NDArray[Any]) -> Giveaway:
    counts = crosstab(label, len(spec.classes), codes, len(spec.values(name)))
    return Giveaway(split, name, float(counts.max(0).sum() / counts.sum()), float(counts.sum(1).max() / counts.sum()))


def _groups(spec: World, split: str, label: NDArray[Any], codes: dict[str, NDArray[Any]]) -> list[Group]:
    """Rows by the channels that are aligned; up to four channels all patterns are listed, beyond that only some."""
    names = list(codes)
    if not names:
        return [Group(split, "none", len(label))]
    hits = np.array([codes[name] == np.array(spec.aligned(name))[label] for name in names])
    patterns, rows = np.unique(np.packbits(hits, axis=0).T, axis=0, return_counts=True)
    aligned = np.unpackbits(patterns, axis=1, count=len(names)).astype(bool)
    found = {tuple(row): int(n) for row, n in zip(aligned.tolist(), rows, strict=True)}
    if len(names) <= 4:
        found = {pattern: found.get(pattern, 0) for pattern in itertools.product((True, False), repeat=len(names))}
    order = sorted(found, key=lambda pattern: (-sum(pattern), [not hit for hit in pattern]))
    return [Group(split, "+".join(itertools.compress(names, p)) or "none", found[p]) for p in order]


# ------------------------------------------------------------------------------------------------- the measures


def crosstab(a: NDArray[Any], a_size: int, b: NDArray[Any], b_size: int) -> NDArray[np.int64]:
    """How often each pair of codes occurs."""
    return np.bincount(a.astype(np.int64) * b_size + b, minlength=a_size * b_size).reshape(a_size, b_size)


def mutual_information_bits(counts: NDArray[np.integer]) -> float:
    """Plug-in mutual information of a contingency table, in bits; 0 when independent.

    >>> mutual_information_bits(np.array([[5, 0], [0, 5]]))
    1.0
    """
    joint = counts / counts.sum()
    expected = joint.sum(1, keepdims=True) * joint.sum(0, keepdims=True)
    seen = joint > 0
    return max(0.0, float((joint[seen] * np.log2(joint[seen] / expected[seen])).sum()))


def cramers_v(counts: NDArray[np.integer]) -> float:
    """Cramér's V of a contingency table: 0 independent, 1 when one column determines the other.

    >>> cramers_v(np.array([[5, 0], [0, 5]]))
    1.0
    """
    counts = counts[counts.sum(1) > 0][:, counts.sum(0) > 0]
    total = counts.sum()
    smaller = min(counts.shape) - 1
    if total == 0 or smaller == 0:
        return 0.0
    expected = counts.sum(1, keepdims=True) * counts.sum(0, keepdims=True) / total
    return float(np.sqrt(((counts - expected) ** 2 / expected).sum() / (total * smaller)))


def wilson(hits: int, rows: int, z: float = Z95) -> tuple[float, float]:
    """Wilson's interval for a share.

    >>> [round(x, 3) for x in wilson(9, 10)]
    [0.596, 0.982]
    """
    if rows == 0:
        return 0.0, 1.0
    share = hits / rows
    centre = (share + z * z / (2 * rows)) / (1 + z * z / rows)
    half = z / (1 + z * z / rows) * float(np.sqrt(share * (1 - share) / rows + z * z / (4 * rows * rows)))
    return max(0.0, centre - half), min(1.0, centre + half)
