"""Rows -> captions, a whole template at a time: every place of a template is one vectorised lookup."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from spurgen.errors import SpecError, unknown
from spurgen.parts import Coded, Rows, Word
from spurgen.render.caption.captions import SPAN, SPANS, Captions
from spurgen.render.caption.claims import Said, said
from spurgen.render.caption.grammar import Filled, fill
from spurgen.render.caption.templates import TEMPLATES


def write(rows: Rows, mention: Sequence[str] | None = None) -> Captions:
    """The captions of the rows; they speak of the class and of the channels in `mention` (all unless given)."""
    spoken = _spoken(rows.channels, mention)
    about = said(rows, spoken)
    template, medium = rows.traits["template"], rows.traits["medium"]
    if not isinstance(template, Coded) or not isinstance(medium, Coded):
        raise SpecError("caption", "template and medium must be names")
    always = np.ones(len(rows), np.bool_)
    about["medium"] = Said(medium.names, medium.codes, medium.names, medium.codes, always)
    says = {name: word.says for name, word in spoken.items()}
    words = {name: what.words for name, what in about.items()}
    texts, spans, order = [], [], []
    for code, name in enumerate(template.names):
        which = np.flatnonzero(template.codes == code)
        if len(which):
            filled = fill(_known(name), says, words)
            texts.append(_texts(filled, about, which))
            spans.append(_spans(filled, about, which))
            order.append(which)
    if not order:
        return Captions(pa.array([], pa.string()), pa.array([], SPANS))
    back = pa.array(np.argsort(np.concatenate(order)))
    return Captions(pa.concat_arrays(texts).take(back), pa.concat_arrays(spans).take(back))


def _spoken(channels: Mapping[str, Word], mention: Sequence[str] | None) -> dict[str, Word]:
    for name in mention or ():
        if name not in channels:
            raise SpecError("caption.mention", unknown("channel", name, channels))
    return {n: word for n, word in channels.items() if word.says and (mention is None or n in mention)}


def _known(name: str) -> str:
    if name not in TEMPLATES:
        raise SpecError("template", unknown("template", name, TEMPLATES))
    return TEMPLATES[name]


def _texts(filled: Filled, about: Mapping[str, Said], which: NDArray[np.int64]) -> pa.StringArray:
    columns = [pa.array(place.texts).take(pa.array(about[place.key].codes[which])) for place in filled.places]
    return pc.binary_join_element_wise(*columns, pa.scalar(filled.ending), "")


def _spans(filled: Filled, about: Mapping[str, Said], which: NDArray[np.int64]) -> pa.ListArray:
    marked = [place.key for place in filled.places if place.key != "medium"]
    shape = (len(which), len(marked))
    starts, ends = np.empty(shape, np.int32), np.empty(shape, np.int32)
    truthful = np.empty(shape, np.bool_)
    names: list[str] = []
    values = np.empty(shape, np.int32)
    at, column = np.zeros(len(which), np.int32), 0
    for place in filled.places:
        what = about[place.key]
        codes = what.codes[which]
        if place.key != "medium":
            starts[:, column], ends[:, column] = at + place.starts[codes], at + place.ends[codes]
            values[:, column] = what.name_codes[which] + len(names)
            truthful[:, column] = what.truthful[which]
            names.extend(what.names)
            column += 1
        at += place.ends[codes]
    refers_to = np.tile(np.arange(len(marked), dtype=np.int32), len(which))
    marks = pa.StructArray.from_arrays(
        [
            pa.array(starts.ravel()),
            pa.array(ends.ravel()),
            pa.array(marked).take(pa.array(refers_to)),
            pa.array(names).take(pa.array(values.ravel())),
            pa.array(truthful.ravel()),
        ],
        fields=list(SPAN),
    )
    offsets = np.arange(len(which) + 1, dtype=np.int32) * len(marked)
    return pa.ListArray.from_arrays(pa.array(offsets), marks, type=SPANS)
