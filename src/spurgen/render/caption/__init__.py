"""The caption modality: a sentence about exactly the class and the channels of a row, with every word marked.

Importing this module is cheap; the grammar is imported when the first caption is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from spurgen.channels.medium import NAMES as MEDIA
from spurgen.errors import SpecError, unknown
from spurgen.parts import Choice, Constant, Integers, Modality, Rows, Trait, Uniform
from spurgen.render.caption.templates import TEMPLATES
from spurgen.spec.known import CHANNELS

if TYPE_CHECKING:
    import pyarrow as pa

    from spurgen.render.caption.captions import Captions
    from spurgen.spec.world import World


class Options(BaseModel):
    """What captions speak of."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    mention: list[str] | None = Field(
        None, description="The channels that captions speak of; every channel that has words for it unless given."
    )


TRAITS = (
    Trait("template", Choice(tuple(TEMPLATES)), "the form of the sentence", names=tuple(TEMPLATES)),
    Trait("medium", Choice(MEDIA), "what the caption calls the picture", names=MEDIA),
    Trait("object_word", Integers(0, 2), "which of the words for the class is used", bounds=(0, 100)),
    Trait(
        "claim",
        Constant("truthful"),
        "`truthful`, or what the caption is wrong about: `wrong_object`, or `wrong_` and the name of a channel",
        names=("truthful", "wrong_object", *(f"wrong_{name}" for name in CHANNELS.names())),
    ),
    Trait("claim_draw", Uniform(0.0, 1.0), "which of the wrong words is used, where the claim is wrong", bounds=(0, 1)),
)


def draw(rows: Rows, options: Options | None = None, device: str = "cpu", workers: int | None = None) -> Captions:
    """The captions of the rows. They are text: the same on every device, and written by one thread."""
    from spurgen.render.caption.write import write

    return write(rows, (options or Options()).mention)


def check(spec: World) -> None:
    """Captions can mention only channels that are there, and be wrong only about what they mention."""
    from spurgen.render.caption.claims import refuse_unspoken

    mention = spec.options("caption").mention  # type: ignore[attr-defined]
    for name in mention or ():
        if name not in spec.channels:
            raise SpecError("caption.mention", unknown("channel", name, spec.channels))
    spoken = [n for n in spec.channels if spec.channel(n).says and (mention is None or n in mention)]
    for name in spec.channels:
        for value, part in spec.channel(name).values.items():
            if "claim" in part.traits:
                refuse_unspoken(f"channels.{name}.values.{value}", str(part.traits["claim"]), spoken)
    given = spec.nuisances.get("claim", [])
    for claim in given if isinstance(given, list) else [given]:
        refuse_unspoken("nuisances.claim", str(claim), spoken)


def encode(batch: Captions) -> Mapping[str, pa.Array]:
    """The two columns that are stored."""
    return {"caption": batch.text, "caption_spans": batch.spans}


def decode(columns: Mapping[str, pa.Array]) -> Captions:
    """The captions that were encoded."""
    from spurgen.render.caption.captions import Captions

    return Captions.of(columns["caption"], columns["caption_spans"])


def content(batch: Captions, i: int) -> bytes:
    """The bytes of one caption that digests are made of: the text and its marks."""
    return batch.contents[i]


def _value(dtype: str) -> dict[str, str]:
    return {"dtype": dtype, "_type": "Value"}


MODALITY = Modality(
    name="caption",
    about="a sentence about the class and the channels, with the words for each marked",
    version=1,
    traits=TRAITS,
    options=Options,
    columns={
        "caption": _value("string"),
        "caption_spans": [  # a list written this way is read by every version of `datasets`
            {
                "start": _value("int32"),
                "end": _value("int32"),
                "refers_to": _value("string"),
                "value": _value("string"),
                "truthful": _value("bool"),
            }
        ],
    },
    draw=draw,
    encode=encode,
    decode=decode,
    content=content,
    check=check,
)
