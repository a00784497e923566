"""A study file: worlds × methods × models × settings × seeds, and how they are compared. Checked, and without code."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from spurgen.compare.select import RULES
from spurgen.errors import SpecError, UnknownName, shortened, unknown
from spurgen.spec import text_of as text_of_file
from spurgen.spec.explain import spec_error
from spurgen.spec.world import Name

_STRICT = ConfigDict(extra="forbid", frozen=True, strict=True)
Label = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=60)]
Value = bool | int | float | str
Values = Value | list[Value]
Seed = Annotated[int, Field(ge=0, lt=2**63)]


class WorldSpec(BaseModel):
    """A world of the study."""

    model_config = _STRICT
    spec: str = Field(description="A preset, or the path of a spec file, seen from the study file.")
    rows: int | None = Field(None, gt=0, le=2**40, description="Number of rows; those of the spec unless given.")
    set: dict[str, Any] = Field({}, description="Edits of the spec, such as { image.size_px = 64 }.")


class ModelSpec(BaseModel):
    """A model of the study: where it may start from, and options of training that are its own."""

    model_config = _STRICT
    starts: list[Literal["nothing", "pretrained", "imagenet", "hub"]] = Field(
        ["nothing"],
        min_length=1,
        description="'nothing': random weights. 'pretrained': weights that the study makes by drawing endless pictures "
        "of other objects. 'imagenet', 'hub': what a model that carries such weights is built with.",
    )
    options: dict[str, Values] = Field({}, description="Options of training for this model; a list is a grid.")


class AblationSpec(BaseModel):
    """Variants of every world. One of the fields is given."""

    model_config = _STRICT
    p: list[Annotated[float, Field(ge=0, le=1)]] | None = Field(
        None, min_length=1, description="Variants in which every p of the training environments is this number."
    )
    without: list[Name] | Literal["each"] | None = Field(
        None, description="Variants in which one channel does not go along with the label; 'each': every one in turn."
    )
    set: dict[Label, dict[str, Any]] | None = Field(
        None, min_length=1, description="Name of a variant -> edits of the spec."
    )

    @model_validator(mode="after")
    def _one(self) -> AblationSpec:
        if sum(given is not None for given in (self.p, self.without, self.set)) != 1:
            raise ValueError("needs exactly one of p, without and set")
        return self


class SearchSpec(BaseModel):
    """A seeded random search over settings of methods and options of training."""

    model_config = _STRICT
    samples: int = Field(gt=0, le=10_000, description="Random settings of each method; the first are the defaults.")
    options: list[Name] = Field(
        ["learning_rate", "weight_decay"], description="Options of training that are searched over too."
    )
    seeds: int = Field(1, gt=0, le=1000, description="Seeds of each sample, before the best is run with all seeds.")
    per_seed: bool = Field(
        False,
        description="Every seed of the study has samples of its own, and its best is chosen among them; nothing is run "
        "again.",
    )
    seed: Seed = Field(0, description="Of the search itself.")


class PretrainSpec(BaseModel):
    """How the start 'pretrained' is made."""

    model_config = _STRICT
    steps: int = Field(8000, gt=0, le=10**8, description="Steps on an endless stream of other objects.")
    batch_size: int = Field(64, gt=0, le=65536, description="Rows in a batch.")
    seed: Seed = Field(0, description="Of weights and rows.")


class StudySpec(BaseModel):
    """What is trained and compared."""

    model_config = _STRICT
    id: Label = Field(description="Name of the study; its directory takes no study of another name.")
    description: str = Field("", max_length=2000, description="What it is for, in a sentence or two.")
    worlds: dict[Label, WorldSpec] = Field(min_length=1, description="Name -> world.")
    methods: dict[Name, dict[str, Values]] = Field(
        min_length=1,
        description="Method -> its settings; a list is a grid, what is left out has its default. "
        "group_by, a list of columns, makes the groups that this method is told; scores have the study's own.",
    )
    models: list[str] | dict[str, ModelSpec] = Field(
        ["small_cnn"], min_length=1, description="Models; or a table model -> starts and options."
    )
    options: dict[str, Values] = Field({}, description="Options of training, the same for all; a list is a grid.")
    seeds: Annotated[int, Field(gt=0, le=1000)] | Annotated[list[Seed], Field(min_length=1)] = Field(
        3, description="How many seeds (0, 1, …), or which."
    )
    fresh_rows: bool = Field(
        True,
        description="Every seed draws rows of its own, so that what is decided holds for the world; false: all seeds "
        "see the same rows.",
    )
    group_by: list[str] | None = Field(
        None, description="Columns that make groups; which channels are aligned, unless given."
    )
    reference: Name = Field("erm", description="The method that all others are compared with.")
    rule: str = Field("worst_group", description="The selection rule that comes first.")
    rules: list[str] = Field(list(RULES), min_length=1, description="Selection rules that are shown side by side.")
    early_stopping: bool = Field(
        False, description="Rules choose among all checks of a trial; false: among configurations, at the end."
    )
    draws: int = Field(2, gt=0, le=1000, description="Random draws of each intervention that scores are made of.")
    keep_weights: bool = Field(
        True, description="Whether the weights of every trial are kept once they are scored; predictions always are."
    )
    unchanged: bool = Field(True, description="Whether worlds are also run as they are, beside their ablations.")
    ablations: dict[Label, AblationSpec] = Field({}, description="Name -> variants of every world.")
    search: SearchSpec | None = Field(None, description="A random search; without it, settings are a grid.")
    pretrain: PretrainSpec = Field(PretrainSpec(), description="How the start 'pretrained' is made.")

    @property
    def seed_list(self) -> list[int]:
        """All seeds."""
        return list(range(self.seeds)) if isinstance(self.seeds, int) else list(self.seeds)

    @property
    def searches_first(self) -> bool:
        """Whether the best of a search are run again, with all seeds."""
        return self.search is not None and not self.search.per_seed

    @property
    def searched_seeds(self) -> list[int]:
        """The seeds of the trials that come first."""
        return self.seed_list[: self.search.seeds] if self.search and self.searches_first else self.seed_list

    @property
    def model_table(self) -> dict[str, ModelSpec]:
        """Model -> starts and options."""
        return self.models if isinstance(self.models, dict) else {name: ModelSpec() for name in self.models}

    def dump(self) -> dict[str, Any]:
        """Plain data, defaults left out."""
        return self.model_dump(mode="json", exclude_defaults=True)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> StudySpec:
        """Check plain data; what is wrong is one sentence with the path of the field."""
        if not isinstance(data, dict):
            raise SpecError("", "the study must be a table")
        try:
            found = cls.model_validate(data)
        except ValidationError as error:
            raise spec_error(error, cls, data) from None
        _check_names(found)
        return found


def _check_names(study: StudySpec) -> None:
    """Names that the study refers to itself by; parts are looked up where the trials are planned."""
    for path, name in (("rule", study.rule), *((f"rules.{i}", rule) for i, rule in enumerate(study.rules))):
        if name not in RULES:
            raise SpecError(path, unknown("selection rule", name, RULES))
    if study.rule not in study.rules:
        raise SpecError("rule", f"is {study.rule!r}, which is not among the rules; add it there")
    if study.reference not in study.methods:
        raise SpecError("reference", unknown("method", study.reference, study.methods, "this study"))
    for path, names in (("seeds", study.seed_list), ("rules", study.rules), ("models", list(study.model_table))):
        if len(set(map(str, names))) < len(names) or (
            isinstance(study.models, list) and path == "models" and len(set(study.models)) < len(study.models)
        ):
            raise SpecError(path, "names something twice; name it once")
    for name, world in study.worlds.items():
        if world.rows is not None and "rows" in world.set:
            raise SpecError(f"worlds.{name}.set.rows", "says the number of rows a second time; say it once")
    starts = {start for model in study.model_table.values() for start in model.starts}
    if "pretrain" in study.model_fields_set and "pretrained" not in starts:
        raise SpecError("pretrain", "has no effect: no model starts from 'pretrained'")
    search = study.search
    if search is not None and "seeds" in search.model_fields_set and search.per_seed:
        raise SpecError("search.seeds", "has no effect with per_seed, which searches with every seed")
    if search is not None and search.seeds > len(study.seed_list):
        raise SpecError("search.seeds", f"is {search.seeds}; the study has {len(study.seed_list)}")
    if not study.unchanged and not study.ablations:
        raise SpecError("unchanged", "is false, and there are no ablations, so nothing would be run")


# ------------------------------------------------------------------------------------------------------- files


def presets() -> list[str]:
    """Names of the studies that come with the package."""
    files = resources.files("spurgen.study").joinpath("presets").iterdir()
    return sorted(f.name.removesuffix(".toml") for f in files if f.name.endswith(".toml"))


def preset_text(name: str) -> str:
    """The commented TOML of a preset."""
    if name not in presets():
        raise UnknownName(unknown("study", name, presets()))
    return resources.files("spurgen.study").joinpath("presets", f"{name}.toml").read_text("utf-8")


def text_of(name_or_path: str | Path) -> tuple[str, Path | None]:
    """(TOML, the folder that its paths are seen from) of a preset or a file."""
    given, path = str(name_or_path), Path(name_or_path)
    name = shortened(given)
    if given in presets():
        return preset_text(given), None
    if not given.endswith(".toml"):
        raise UnknownName(unknown("study", given, presets()) + " (the path of a study file ends in .toml)")
    return text_of_file(path, name), path.resolve().parent


def read(text: str, name: str, overrides: Iterable[str] = ()) -> StudySpec:
    """A study from its TOML, with `KEY=VALUE` edits applied before it is checked."""
    from spurgen.spec.toml import override
    from spurgen.spec.toml import read as parse

    data = parse(text, name)
    for assignment in overrides:
        override(data, assignment)
    return StudySpec.from_dict(data)
