"""The dataset card: a YAML header that Hugging Face reads, and a datasheet made from the spec."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from spurgen.store import noise
from spurgen.store.features import Features, to_card, yaml
from spurgen.store.layout import CROISSANT, DATA, MANIFEST, SPEC
from spurgen.store.manifest import Manifest

LICENSE = "cc0-1.0"
_SIZES = {10**3: "K", 10**6: "M", 10**9: "B", 10**12: "T"}  # Hugging Face's categories go up in tens
LIMITS = (
    "The rows are synthetic: what holds here is evidence about how a method handles shortcuts, not about any "
    "population of real things. Couplings are simpler and known, shapes and words are few. Results on one spec say "
    "little about another coupling, strength or modality."
)
USES = (
    "Measuring how far a model relies on channels that go along with the label without causing it: worst-group "
    "accuracy, sensitivity to counterfactual edits, invariance, comparing methods and benchmarks."
)
NOT_FOR = "It is not meant for training systems that are used on people, nor as a measure of general ability."


def write(spec: Any, features: Features, manifest: Manifest) -> str:
    """The whole README.md."""
    sections = [
        f"---\n{_header(spec, features, manifest)}---\n",
        f"# {spec.id}\n",
        f"{spec.description or 'A dataset whose shortcuts are known, because they were put there.'}\n",
        _loading(manifest),
        "## Datasheet\n",
        "### Motivation\n",
        f"{USES} {NOT_FOR}\n",
        "### Composition\n",
        _composition(spec, manifest),
        "### Channels and couplings\n",
        _channels(spec),
        _couplings(spec),
        *_noise(spec),
        "### Columns\n",
        _columns(features, spec),
        "### Collection process\n",
        _process(manifest),
        "### Uses and limits\n",
        f"{LIMITS}\n",
        "### Distribution and licence\n",
        "CC0 1.0: do as you like. No person is shown, named or described; no data was collected from anyone.\n",
        "### Digests\n",
        _digests(manifest),
    ]
    return "\n".join(sections)


def _header(spec: Any, features: Features, manifest: Manifest) -> str:
    files = [{"split": s, "path": f"{DATA}/{s}-*-of-*.parquet"} for s in manifest.splits]
    tasks = {"image": "image-classification", "caption": "text-classification", "audio": "audio-classification"}
    header = {
        "license": LICENSE,
        "pretty_name": spec.id,
        "size_categories": [_size(manifest.totals.rows)],
        "task_categories": [tasks[m] for m in spec.modalities if m in tasks],
        "tags": ["spurious-correlations", "synthetic", "counterfactual", "spurgen"],
        "configs": [{"config_name": "default", "data_files": files}],
        "dataset_info": {"features": to_card(features)},
    }
    return yaml({key: value for key, value in header.items() if value})


def _size(rows: int) -> str:
    if rows < 1000:
        return "n<1K"
    if rows >= 10**12:
        return "n>1T"
    low = 10 ** (len(str(rows)) - 1)
    return f"{_short(low)}<n<{_short(10 * low)}"


def _short(number: int) -> str:
    size = max(s for s in _SIZES if s <= number)
    return f"{number // size}{_SIZES[size]}"


def _loading(manifest: Manifest) -> str:
    split = next(iter(manifest.splits))
    return (
        "```python\n"
        "import spurgen, datasets, duckdb\n"
        'ds = spurgen.open("this/folder")                # any row, any counterfactual\n'
        'ds = datasets.load_dataset("this/folder")       # typed columns\n'
        f"duckdb.sql(\"select label, count(*) from 'this/folder/{DATA}/{split}-*.parquet' group by all\")\n"
        "```\n"
    )


def _composition(spec: Any, manifest: Manifest) -> str:
    rows = [[name, f"{total.rows:,}", ", ".join(spec.splits[name].weights)] for name, total in manifest.splits.items()]
    modalities = ", ".join(spec.modalities) or "latents only"
    return (
        f"{manifest.totals.rows:,} rows; each is one object with a label and its channels, shown as: {modalities}. "
        f"Classes: {', '.join(spec.classes)}. {noise.missing(spec)} Rows are independent of each other given the "
        f"quotas of the spec ({spec.sampling} sampling).\n\n" + table(["split", "rows", "environments"], rows)
    )


def _channels(spec: Any) -> str:
    if not spec.channels:
        return "None: nothing but the label goes along with the label.\n"
    rows = []
    for name in spec.channels:
        values = spec.values(name)
        aligned = dict(zip(spec.classes, (values[i] for i in spec.aligned(name)), strict=True))
        rows.append([name, ", ".join(values), ", ".join(f"{c} → {v}" for c, v in aligned.items())])
    return table(["channel", "attributes", "aligned attribute of each class"], rows)


def _couplings(spec: Any) -> str:
    rows = []
    for name, couplings in spec.environments.items():
        cells = [_coupling(couplings.get(channel)) for channel in spec.channels]
        rows.append([name, *cells])
    return "How each channel goes along with the label:\n\n" + table(["environment", *spec.channels], rows)


def _coupling(coupling: Any) -> str:
    if coupling is None:
        return "uniform"
    given = coupling.model_dump(mode="json", exclude_defaults=True)
    kind = given.pop("coupling", type(coupling).__name__)
    return " ".join([kind, *(f"{k}={json.dumps(v, ensure_ascii=False)}" for k, v in given.items())])


def _noise(spec: Any) -> list[str]:
    rows = noise.rows(spec)
    head = ["what is noisy", "how often", "column that tells"]
    said = f"Some rows deceive on purpose, in {noise.where(spec)}:\n\n"
    return ["### Noise\n", said + table(head, rows)] if rows else []


def _columns(features: Features, spec: Any) -> str:
    fixed = {
        "row_id": "identity of the row for ever",
        "split": "part of the data",
        "environment": "which joint distribution of the channels the row comes from",
        "label": "the class",
    }
    traits = {trait.name: f"nuisance: {trait.about}" for part in spec.parts for trait in part.traits}
    about = traits | fixed | dict.fromkeys(spec.channels, "channel") | noise.columns(spec)
    return table(["column", "type", "what"], [[n, _kind(f), about.get(n, "")] for n, f in features.items()])


def _kind(feature: Any) -> str:
    if isinstance(feature, list):
        return "list"
    kind = feature.get("_type")
    if not isinstance(kind, str):
        return "struct"
    if kind == "ClassLabel":
        return f"one of {len(feature['names'])}"
    return str(feature["dtype"]) if kind == "Value" else kind


def _process(manifest: Manifest) -> str:
    return (
        f"Generated by SpurGen {manifest.spurgen_version} from `{SPEC}` with seed {manifest.seed}: every row is a pure "
        "function of the spec, the seed and its id. The same spec and seed give the same content on any machine:\n\n"
        f"```\nspurgen generate {SPEC} --rows {manifest.rows} --seed {manifest.seed} --out copy\n```\n"
    )


def _digests(manifest: Manifest) -> str:
    rows: list[list[str]] = [["spec", manifest.spec_digest], ["content", manifest.digest]]
    rows += [[f"content: {group}", digest] for group, digest in manifest.totals.digests.items()]
    body = table(["of", "digest"], [[a, f"`{b}`"] for a, b in rows])
    hashes = f"Hashes of every file but this one stand in `{MANIFEST}`"
    return f"{body}\n{hashes}, machine-readable metadata in `{CROISSANT}`.\n"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def responsible(spec: Any, manifest: Manifest) -> Mapping[str, str]:
    """The sentences of the datasheet that Croissant's responsible-AI fields ask for."""
    strength = "; ".join(
        f"{env}: " + ", ".join(f"{c} {_coupling(k)}" for c, k in couplings.items())
        for env, couplings in spec.environments.items()
    )
    return {
        "rai:dataCollection": f"Generated by SpurGen {manifest.spurgen_version} from a spec; nothing was collected.",
        "rai:dataCollectionType": "Synthetic data generation",
        "rai:dataBiases": f"Deliberate and known: channels go along with the label ({strength or 'none'}).",
        "rai:dataLimitations": LIMITS,
        "rai:dataUseCases": f"{USES} {NOT_FOR}",
        "rai:dataSocialImpact": "Helps to find models that rely on shortcuts; shows no people and no groups of people.",
        "rai:personalSensitiveInformation": "None.",
        "rai:dataAnnotationProtocol": noise.protocol(spec),
    }
