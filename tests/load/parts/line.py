"""Lines of text for tests, with a second column that only describes the first."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from spurgen.parts import Modality, Rows


class Options(BaseModel):
    pass


class Lines:
    def __init__(self, texts: list[str]):
        self.texts = texts

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, part: Any) -> Any:
        return Lines(self.texts[part]) if isinstance(part, slice) else self.texts[part]


def draw(rows: Rows, options: Options, device: str = "cpu", workers: int | None = None) -> Lines:
    hue = rows.channels["hue"]
    return Lines([f"a {hue.names[h]} {rows.class_names[y]}" for h, y in zip(hue.codes, rows.label, strict=True)])


def encode(batch: Any) -> Any:
    import pyarrow as pa

    return {"line": pa.array(batch.texts, pa.string()), "line_length": pa.array(map(len, batch.texts), pa.int32())}


MODALITY = Modality(
    name="line",
    about="what is to be seen",
    version=1,
    traits=(),
    options=Options,
    columns={
        "line": {"_type": "Value", "dtype": "string"},
        "line_length": {"_type": "Value", "dtype": "int32"},
    },
    draw=draw,
    encode=encode,
    decode=lambda columns: Lines(columns["line"].to_pylist()),
    content=lambda batch, i: batch[i].encode(),
)
