"""Croissant metadata (core and responsible-AI fields) as JSON-LD, so that search engines and loaders understand it."""

from __future__ import annotations

import json
from typing import Any

from spurgen.store.card import LICENSE, responsible
from spurgen.store.features import Features
from spurgen.store.layout import DATA
from spurgen.store.manifest import Manifest

_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_NUMBERS = {"float": "sc:Float", "int": "sc:Integer", "uint": "sc:Integer", "bool": "sc:Boolean"}
_FILES = "shards"
_ROW_ID = {"@id": "rows/row_id"}


def write(spec: Any, features: Features, manifest: Manifest) -> str:
    """The whole croissant.json."""
    document = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"],
        "name": spec.id.replace("/", "-"),
        "description": spec.description or f"The world {spec.id}: rows whose shortcuts are known.",
        "license": f"https://spdx.org/licenses/{LICENSE.upper()}.html",
        "version": f"{spec.id.rpartition('/v')[2]}.0.0",
        "citeAs": f"{spec.id}, SpurGen {manifest.spurgen_version}, digest {manifest.digest}",
        "isLiveDataset": False,
        **responsible(spec, manifest),
        "distribution": _distribution(manifest),
        "recordSet": [{"@type": "cr:RecordSet", "@id": "rows", "key": _ROW_ID, "field": _fields(features)}],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _distribution(manifest: Manifest) -> list[dict[str, Any]]:
    files = [
        {
            "@type": "cr:FileObject",
            "@id": record.file,
            "name": record.file,
            "contentUrl": record.file,
            "contentSize": f"{record.bytes} B",
            "encodingFormat": "application/x-parquet",
            "sha256": record.sha256,
        }
        for record in manifest.shards
    ]
    shards = {
        "@type": "cr:FileSet",
        "@id": _FILES,
        "encodingFormat": "application/x-parquet",
        "includes": f"{DATA}/*.parquet",
    }
    return [*files, shards]


def _fields(features: Features) -> list[dict[str, Any]]:
    return [field for name, feature in features.items() for field in _field(name, feature)]


def _field(name: str, feature: Any) -> list[dict[str, Any]]:
    kind, repeated, path = _type(feature)
    if kind is None:
        return []
    source: dict[str, Any] = {"fileSet": {"@id": _FILES}, "extract": {"column": name}}
    if path:
        source["transform"] = {"jsonPath": path}
    entry = {"@type": "cr:Field", "@id": f"rows/{name}", "name": name, "dataType": kind, "source": source}
    return [entry | {"repeated": True} if repeated else entry]


def _type(feature: Any) -> tuple[str | None, bool, str]:
    """Croissant's data type, whether it is a list, and where in the cell the value is; None for nested records."""
    if isinstance(feature, list):
        return _type(feature[0])[0], True, ""
    kind = feature.get("_type")
    if kind in ("List", "LargeList", "Sequence"):
        return _type(feature["feature"])[0], True, ""
    if kind in ("Image", "Audio"):
        return f"sc:{kind}Object", False, "bytes"
    if kind == "ClassLabel":
        return "sc:Text", False, ""
    if kind == "Value":
        word = str(feature["dtype"]).rstrip("0123456789")
        return _NUMBERS.get(word, "sc:Text"), False, ""
    return None, False, ""
