"""The spec: a checked description of one world, from which every row follows."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from spurgen.errors import SpecError
from spurgen.parts import Channel, Class, Distribution, Modality
from spurgen.spec.coupling import Coupling, Probability

Share = Annotated[float, Field(ge=1e-6, le=1.0, allow_inf_nan=False)]
Weight = Annotated[float, Field(ge=1e-6, le=1e6, allow_inf_nan=False)]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=60)]
Distinct = Annotated[list[Name], Field(min_length=1)]
_STRICT = ConfigDict(extra="forbid", frozen=True, strict=True)


class SplitSpec(BaseModel):
    """A part of the rows, and which environments it mixes."""

    model_config = _STRICT
    share: Share = Field(description="Share of the rows; the shares of all splits sum to 1.")
    environments: list[Name] | dict[str, Weight] = Field(
        description="Environments of this split, each equally often; or a table environment -> weight."
    )

    @property
    def weights(self) -> dict[str, float]:
        """Environment -> share of the split's rows."""
        given = self.environments if isinstance(self.environments, dict) else dict.fromkeys(self.environments, 1.0)
        total = math.fsum(given.values())  # `sum` adds differently from one Python to the next
        return {name: weight / total for name, weight in given.items()}


class ChannelSpec(BaseModel):
    """A channel of this world: which attributes it has and which of them belongs to which class."""

    model_config = _STRICT
    values: list[Name] | dict[Name, dict[str, float | str]] | None = Field(
        None,
        description="Attributes, in order: names the channel knows, or a table name -> traits (and `word`, for "
        "captions) for attributes, or a whole channel, of your own. All that the channel knows unless given.",
    )
    aligned: dict[str, str] = Field(
        {}, description="Class -> its aligned attribute; unless given, the i-th class has the i-th value, in turn."
    )
    says: Literal["adjective", "background", "phrase", ""] | None = Field(
        None, description="How captions mention it, for a channel of your own."
    )


class NoiseSpec(BaseModel):
    """Knobs of difficulty; each noise leaves the other columns as they are and has a column of its own."""

    model_config = _STRICT
    core: Probability = Field(0.0, description="How often the core signal shows a class drawn at random (label_shown).")
    label: Probability = Field(0.0, description="How often the annotated label is another class (label_annotated).")
    signal: dict[str, Probability] = Field(
        {}, description="Channel -> how often it shows an attribute drawn at random (<channel>_shown)."
    )
    annotation: dict[str, Probability] = Field(
        {}, description="Channel -> how often its annotation is another attribute (<channel>_annotated)."
    )
    splits: list[Name] | None = Field(None, description="The splits that are noisy; all of them unless given.")


class World(BaseModel):
    """Classes, channels, how strongly each goes along with the label, and how rows are shared out."""

    model_config = _STRICT
    id: str = Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*/v[0-9]+$",
        max_length=100,
        description="Name and version, for example 'my-world/v1'; a change that redraws a row wants a new version.",
    )
    description: str = Field("", max_length=2000, description="What this world is for, in a sentence or two.")
    classes: Distinct = Field(description="The labels, in order; `spurgen list classes` shows what there is.")
    class_shares: dict[str, Weight] = Field(
        {}, description="Class -> weight, for unequal classes; every class equally often unless given."
    )
    rows: int = Field(gt=0, le=2**40, description="Number of rows, all splits together.")
    sampling: Literal["quota", "iid"] = Field(
        "quota",
        description="'quota': counts are exact within one row per split, environment and label. "
        "'iid': independent draws; the first n rows stay the same when more rows are asked for.",
    )
    modalities: list[Name] = Field(["image", "caption"], description="What is drawn of each row.")
    splits: dict[Name, SplitSpec] = Field(
        min_length=1, description="Parts of the data: share and environments of each."
    )
    channels: dict[Name, ChannelSpec] = Field({}, description="The factors under control.")
    environments: dict[Name, dict[str, Coupling]] = Field(
        min_length=1, description="Name -> channel -> coupling; channels left out are uniform."
    )
    nuisances: dict[Name, float | str | list[float] | list[str]] = Field(
        {}, description="Trait -> a fixed value, a range [low, high] or a list of names, in place of how it varies."
    )
    noise: NoiseSpec = Field(NoiseSpec(), description="Knobs of difficulty.")

    _options: dict[str, BaseModel] = PrivateAttr(default_factory=dict)
    _channels: dict[str, Channel] = PrivateAttr(default_factory=dict)
    _checked: bool = PrivateAttr(default=False)

    # What resolve.py has checked and looked up; a World from `load` always has it.

    def options(self, modality: str) -> BaseModel:
        """The checked options of one modality, such as the [image] table."""
        return self._known(self._options)[modality]

    def channel(self, name: str) -> Channel:
        """The channel with exactly the values this world uses, in order."""
        return self._known(self._channels)[name]

    def values(self, name: str) -> tuple[str, ...]:
        """The attributes of a channel, in order."""
        return tuple(self.channel(name).values)

    def _known(self, found: dict[str, Any]) -> dict[str, Any]:
        if not self._checked:
            raise SpecError("", "this World was put together by hand; make it with World.from_dict, which checks it")
        return found

    @cached_property
    def varying(self) -> dict[str, Distribution]:
        """How each trait varies that neither the class nor a channel sets, constants included."""
        from spurgen.spec.resolve import nuisances

        return nuisances(self)

    @cached_property
    def parts(self) -> tuple[Modality, ...]:
        """The modalities that are drawn."""
        from spurgen.spec.known import MODALITIES

        return tuple(MODALITIES.get(name) for name in self.modalities)

    @cached_property
    def class_parts(self) -> tuple[Class, ...]:
        """What each label looks like and is called."""
        from spurgen.spec.known import classes

        return tuple(classes()[name] for name in self.classes)

    def aligned(self, name: str) -> tuple[int, ...]:
        """For each class the position of its aligned attribute in a channel."""
        values = self.values(name)
        given = self.channels[name].aligned
        return tuple(values.index(given[c]) if c in given else i % len(values) for i, c in enumerate(self.classes))

    # The ways out.

    def dump(self) -> dict[str, Any]:
        """The spec as plain data, defaults left out; `from_dict` takes it back."""
        data = self.model_dump(mode="json", exclude_defaults=True)
        for name in self.modalities:
            options = self._options[name].model_dump(mode="json", exclude_defaults=True)
            if options:
                data[name] = options
        return data

    def to_toml(self) -> str:
        """The spec as a TOML file that loads to the same world."""
        from spurgen.spec.toml import write

        return write(self.dump())

    def digest(self) -> str:
        """A name for everything that determines the rows: spec, traits behind the names, modality versions."""
        from spurgen.spec.digest import digest

        return digest(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> World:
        """Check plain data; what is wrong is one sentence with the path of the field."""
        from spurgen.spec.resolve import world_from

        return world_from(data)

    @classmethod
    def from_toml(cls, text: str) -> World:
        """Check a TOML document."""
        from spurgen.spec.toml import read

        return cls.from_dict(read(text))


def size_px(spec: World) -> int:
    """Height and width of the pictures of a world; 0 where it has none."""
    return int(spec.options("image").model_dump()["size_px"]) if "image" in spec.modalities else 0
