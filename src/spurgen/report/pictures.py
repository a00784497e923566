"""Pictures and captions of rows as a page can hold them: a gallery, strips of counterfactuals, mistakes."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from spurgen.latents import intervene
from spurgen.latents.traits import column_codes
from spurgen.render import draw
from spurgen.report.gallery import shown
from spurgen.report.mistakes import Mistake, mistakes
from spurgen.report.reading import Study, Trial

if TYPE_CHECKING:
    import pyarrow as pa

    from spurgen.report.summarize import ScopeSummary
    from spurgen.spec import World
    from spurgen.store.reader import Dataset

MOST_PX = 96  # larger pictures are made smaller, and kept with some loss, so that a page stays small
EACH = 4  # pictures of a class and split in the gallery
SHOWN_SPLITS = ("train", "test")


@dataclass(frozen=True)
class Picture:
    """One row as it is shown: a picture, a caption, or both."""

    src: str  # a data URI, "" where the world has no pictures
    caption: str
    alt: str


@dataclass(frozen=True)
class Said:
    """What one model said of one picture."""

    method: str
    predicted: str
    probability: float
    right: bool


@dataclass(frozen=True)
class Tile:
    """One value of a channel in a strip."""

    picture: Picture
    value: str
    own: bool
    belongs: tuple[str, ...]  # classes whose aligned attribute it is
    said: tuple[Said | None, ...]


@dataclass(frozen=True)
class Strip:
    """One row with every value of one channel."""

    row_id: int
    label: str
    channel: str
    tiles: tuple[Tile, ...]


@dataclass(frozen=True)
class Pictures:
    """All pictures of one scope."""

    size_px: int
    gallery: list[tuple[str, str, list[list[Picture]]]] = field(default_factory=list)  # class, about, pictures by split
    splits: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()  # those that speak in strips
    strips: list[Strip] = field(default_factory=list)
    mistakes: dict[str, list[tuple[Mistake, Picture]]] = field(default_factory=dict)


def pictures(study: Study, scope: ScopeSummary) -> Pictures | None:
    """Everything of a scope that is looked at; None where its dataset cannot be opened."""
    dataset = study.datasets.get(scope.data)
    if dataset is None:
        return None
    spec = dataset.spec
    trials = {t.plan.key: t for t in study.trials}
    methods = tuple(m for m in (scope.reference, scope.best) if m in scope.trial_of)
    of = {m: trials[scope.trial_of[m]] for m in methods}
    asked = {m: t for m, t in of.items() if t.plan.data == scope.data}  # about the same rows
    splits = tuple(s for s in SHOWN_SPLITS if s in dataset.splits) or tuple(dataset.splits)[:2]
    table = study.test_rows(scope.data)
    return Pictures(
        size_px=min(MOST_PX, _size(spec)),
        gallery=_gallery(dataset, splits),
        splits=splits,
        methods=tuple(asked),
        strips=_strips(spec, table, asked) if table is not None else [],
        mistakes={m: _mistakes(study, t) for m, t in of.items()},
    )


def _gallery(dataset: Dataset, splits: Sequence[str]) -> list[tuple[str, str, list[list[Picture]]]]:
    """Some rows of every class and split, and what goes along with the class in training."""
    spec = dataset.spec
    tables = [dataset.table(split) for split in splits]
    labels = [column_codes(t, "label", spec.classes) for t in tables]
    found = []
    for c, name in enumerate(spec.classes):
        mine = [t.take(np.flatnonzero(y == c)[:EACH]) for t, y in zip(tables, labels, strict=True)]
        aligned = ", ".join(spec.values(channel)[spec.aligned(channel)[c]] for channel in spec.channels)
        found.append((name, aligned.replace("_", " "), [_drawn(t, spec, dataset.batch_of) for t in mine]))
    return found


def _mistakes(study: Study, trial: Trial) -> list[tuple[Mistake, Picture]]:
    spec, table = study.world(trial.plan.data), study.test_rows(trial.plan.data)
    if spec is None or table is None:
        return []
    found = mistakes(trial, spec, table)
    ids = np.array([m.row_id for m in found], np.uint64)
    at = {int(r): i for i, r in enumerate(table["row_id"].to_pylist())}
    drawn = _drawn(table.take([at[int(i)] for i in ids]), spec) if found else []
    return list(zip(found, drawn, strict=True))


def _strips(spec: World, table: pa.Table, trials: dict[str, Trial]) -> list[Strip]:
    """For every channel one row: where it is known, one that the first model gets wrong by the channel alone."""
    if not spec.channels or not trials:
        return []
    asked = {m: _Asked(t, spec) for m, t in trials.items()}
    first = next(iter(asked.values()))
    found: list[Strip] = []
    labels = [spec.classes[c] for c in column_codes(table, "label", spec.classes)]
    ids = [int(i) for i in table["row_id"].to_pylist()]
    for channel in spec.channels:
        own = table.column(channel).to_pylist()
        taken = {s.row_id for s in found}
        rows = [i for i in range(len(ids)) if ids[i] not in taken]
        told = [i for i in rows if first.knows(ids[i])] or rows[:1]
        if not told:
            continue
        at = max(told[:400], key=lambda i: first.telling(ids[i], labels[i], channel, own[i]))
        row = table.slice(at, 1)
        drawn = _drawn(intervene.every_value(row, spec, channel), spec)
        tiles = []
        for picture, value in zip(drawn, spec.values(channel), strict=True):
            belongs = tuple(
                c for c, a in zip(spec.classes, spec.aligned(channel), strict=True) if spec.values(channel)[a] == value
            )
            said = tuple(_said(m, a.of(ids[at], channel, value, own[at]), spec, labels[at]) for m, a in asked.items())
            tiles.append(Tile(picture, value, value == own[at], belongs, said))
        found.append(Strip(ids[at], labels[at], channel, tuple(tiles)))
    return found


class _Asked:
    """What a trial's model said of rows with every value of a channel, as far as it was asked."""

    def __init__(self, trial: Trial, spec: World):
        self.spec = spec
        self.kept = [
            p for p in (trial.strips(len(spec.classes)), trial.predictions(len(spec.classes))) if p is not None
        ]

    def of(self, row_id: int, channel: str, value: str, own: str) -> Any:
        """Probabilities, or None. A row with its own value is the row as it is."""
        for kept in self.kept:
            for name in (f"fix/{channel}/{value}", *(["none"] if value == own else [])):
                said = kept.of(name, row_id)
                if said is not None:
                    return said
        return None

    def knows(self, row_id: int) -> bool:
        """Whether it was asked about every value of the first channel."""
        channel = next(iter(self.spec.channels))
        return all(self.of(row_id, channel, value, "") is not None for value in self.spec.values(channel))

    def telling(self, row_id: int, label: str, channel: str, own: str) -> float:
        """How much a strip tells: sure of the class as the row is, and misled by many of the other values."""
        at = self.spec.classes.index(label)
        said = [self.of(row_id, channel, value, own) for value in self.spec.values(channel)]
        believed = [float(p[at]) for p in said if p is not None]
        right = [p.argmax() == at for p in said if p is not None]
        if len(believed) < 2:
            return -1.0
        mixed = 1.0 if any(right) and not all(right) else 0.0
        return mixed + float(np.std(believed))


def _said(method: str, probabilities: Any, spec: World, label: str) -> Said | None:
    if probabilities is None:
        return None
    at = int(probabilities.argmax())
    return Said(method, spec.classes[at], float(probabilities[at]), spec.classes[at] == label)


def _drawn(table: pa.Table, spec: World, source: Any = None) -> list[Picture]:
    """Rows as pictures with captions; the words say what is to be seen."""
    if table.num_rows == 0:
        return []
    images, captions = shown(table, spec, source or (lambda rows, modality: draw(rows, spec, modality)))
    alts = _alts(table, spec)
    sources = [""] * len(alts) if images is None else [_uri(image) for image in images]
    return [
        Picture(src, "" if captions is None else captions[i], alt)
        for i, (src, alt) in enumerate(zip(sources, alts, strict=True))
    ]


def _alts(table: pa.Table, spec: World) -> list[str]:
    columns = {c: table.column(c).to_pylist() for c in spec.channels}
    labels = table.column("label").to_pylist()
    return [
        "; ".join([str(label), *(f"{c} {values[i]}" for c, values in columns.items())]).replace("_", " ")
        for i, label in enumerate(labels)
    ]


def _uri(image: Any) -> str:
    from spurgen.render.image import png

    if max(image.shape[:2]) > MOST_PX:
        from PIL import Image

        small, content = Image.fromarray(image), BytesIO()
        small.thumbnail((2 * MOST_PX, 2 * MOST_PX), Image.Resampling.LANCZOS)
        small.save(content, "JPEG", quality=80)
        return "data:image/jpeg;base64," + base64.b64encode(content.getvalue()).decode()
    return "data:image/png;base64," + base64.b64encode(png.encode(image[None], workers=1)[0]).decode()


def _size(spec: World) -> int:
    from spurgen.spec.world import size_px

    return size_px(spec)
