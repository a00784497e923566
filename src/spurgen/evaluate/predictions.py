"""The contract between a model and its scores: a table with row_id, intervention, and a probability for every class.

Probabilities stand in one list column `probabilities`, or in a column `p_<class>` each; `logits` and `logit_<class>`
are scores before the softmax. A file without a column `intervention` speaks of the rows as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spurgen.errors import DataError, nearest
from spurgen.evaluate.interventions import NONE
from spurgen.store import atomic

if TYPE_CHECKING:
    import pyarrow as pa

Probabilities = NDArray[np.float64]
SLACK = 1e-3  # how far probabilities may be from a sum of 1: half precision and six printed digits are well within


def read(
    path: str | Path,
    classes: Sequence[str],
    row_ids: NDArray[np.uint64],
    changed: Callable[[str], NDArray[np.bool_]] | None = None,
) -> dict[str, Probabilities]:
    """intervention -> (rows, classes), rows in the order of `row_ids`.

    Every intervention must cover every row once. Where `changed(intervention)` says that a row stays as it is, its
    prediction may be left out: it is that of the row as it is.
    """
    table = _table(Path(path))
    if "row_id" not in table.column_names:
        raise DataError(f"{path} has no column 'row_id'; it has {_listed(table.column_names)}")
    values = _values(table, classes, str(path))
    ids = _ids(table, str(path))
    edits = (
        np.asarray(table["intervention"].to_pylist(), object)
        if "intervention" in table.column_names
        else np.full(len(ids), NONE, object)
    )
    empty = np.array([edit in (None, "") for edit in edits], bool)
    edits[empty] = NONE
    if NONE not in edits:
        raise DataError(f"{path} has no predictions for the rows as they are (intervention {NONE!r})")
    found: dict[str, Probabilities] = {}
    for name in [NONE, *(edit for edit in dict.fromkeys(edits.tolist()) if edit != NONE)]:
        mine = edits == name
        needed = np.ones(len(row_ids), bool) if name == NONE or changed is None else changed(name)
        given = _places(ids[mine], row_ids, needed, name, str(path))
        found[name] = np.empty((len(row_ids), len(classes))) if name == NONE else found[NONE].copy()
        found[name][given] = values[mine]
    return found


def write(path: Path, row_ids: NDArray[np.uint64], found: Mapping[str, Probabilities], classes: Sequence[str]) -> None:
    """The same as a Parquet file, each intervention after the other; probabilities in float32."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    n, edits = len(row_ids), list(found)
    flat = np.concatenate([found[name] for name in edits]).astype(np.float32)
    table = pa.table(
        {
            "row_id": pa.array(np.tile(row_ids, len(edits))),
            "intervention": pa.DictionaryArray.from_arrays(
                pa.array(np.repeat(np.arange(len(edits), dtype=np.int32), n)), pa.array(edits)
            ),
            "probabilities": pa.FixedSizeListArray.from_arrays(pa.array(flat.ravel()), len(classes)),
        }
    ).replace_schema_metadata({"classes": ",".join(classes)})
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic.write(path, sink.getvalue().to_pybytes())


def softmax(scores: Any) -> Probabilities:
    """Scores as probabilities."""
    scores = np.asarray(scores, np.float64)
    powers = np.exp(scores - scores.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def _table(path: Path) -> pa.Table:
    import pyarrow as pa
    import pyarrow.csv as csv
    import pyarrow.parquet as pq

    with atomic.looked_at(path):
        if not path.is_file():
            raise DataError(f"there is no file {path}")
    try:
        return csv.read_csv(path) if path.suffix.lower() == ".csv" else pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        kind = "CSV" if path.suffix.lower() == ".csv" else "Parquet (a CSV file must be called .csv)"
        raise DataError(f"{path} cannot be read as {kind}: {str(error).splitlines()[0]}") from error


def _values(table: pa.Table, classes: Sequence[str], path: str) -> Probabilities:
    """(rows, classes), checked; logits are turned into probabilities."""
    for whole, each, are_scores in (("probabilities", "p_", False), ("logits", "logit_", True)):
        if whole in table.column_names:
            values = _from_lists(table[whole], classes, whole, path)
        elif any(name.startswith(each) for name in table.column_names):
            values = _from_columns(table, classes, each, path)
        else:
            continue
        _finite(values, table, path)
        return softmax(values) if are_scores else _summing_to_one(values, table, path)
    raise DataError(
        f"{path} has neither probabilities nor logits; write a list column 'probabilities' or 'logits', or a column "
        f"for every class (p_{classes[0]}, …, or logit_{classes[0]}, …)"
    )


def _from_lists(column: Any, classes: Sequence[str], name: str, path: str) -> Probabilities:
    rows = column.to_pylist()
    wrong = next((i for i, row in enumerate(rows) if not isinstance(row, list) or len(row) != len(classes)), None)
    if wrong is not None:
        held = f"{len(rows[wrong])} numbers" if isinstance(rows[wrong], list) else "no list"
        raise DataError(
            f"{path}: {name} of line {wrong + 1} holds {held}; there must be {len(classes)}, one per class, "
            f"in the order {', '.join(classes)}"
        )
    return np.array([[np.nan if v is None else v for v in row] for row in rows], np.float64).reshape(-1, len(classes))


def _from_columns(table: pa.Table, classes: Sequence[str], prefix: str, path: str) -> Probabilities:
    there = [name for name in table.column_names if name.startswith(prefix)]
    for name in classes:
        if prefix + name not in there:
            raise DataError(f"{path} has no column {prefix + name!r}; there must be one for every class")
    for name in there:
        if name.removeprefix(prefix) not in classes:
            close = nearest(name.removeprefix(prefix), classes)
            raise DataError(
                f"{path}: the column {name!r} is of no class" + (f"; meant {prefix + close!r}?" if close else "")
            )
    columns = []
    for name in classes:
        try:
            columns.append(np.array(table[prefix + name].to_pylist(), np.float64))
        except (TypeError, ValueError):
            raise DataError(f"{path}: the column {prefix + name!r} holds something that is no number") from None
    return np.stack(columns, 1)


def _ids(table: pa.Table, path: str) -> NDArray[np.uint64]:
    column = table["row_id"]
    numbers = column.to_pylist()
    bad = next((i for i, n in enumerate(numbers) if not isinstance(n, int) or n < 0), None)
    if bad is not None:
        raise DataError(f"{path}: row_id of line {bad + 1} is {numbers[bad]!r}; row ids are whole numbers, 0 or more")
    return np.array(numbers, np.uint64)


def _finite(values: Probabilities, table: pa.Table, path: str) -> None:
    bad = np.flatnonzero(~np.isfinite(values).all(1))
    if bad.size:
        row = table["row_id"][int(bad[0])].as_py()
        raise DataError(f"{path}: {_count(bad.size)} with a number that is NaN or infinite, the first of row {row}")


def _summing_to_one(values: Probabilities, table: pa.Table, path: str) -> Probabilities:
    sums = values.sum(1)
    bad = np.flatnonzero((np.abs(sums - 1) > SLACK) | (values < -SLACK).any(1))
    if bad.size:
        i = int(bad[0])
        what = f"sum to {sums[i]:.6g}" if abs(sums[i] - 1) > SLACK else f"hold {values[i].min():.6g}"
        raise DataError(
            f"{path}: the probabilities of row {table['row_id'][i].as_py()} {what}; they must be 0 or more and sum "
            f"to 1 ({_count(bad.size)} like it); scores before the softmax belong into 'logits'"
        )
    values = np.clip(values, 0, None)
    return values / values.sum(1, keepdims=True)


def _places(
    ids: NDArray[np.uint64], row_ids: NDArray[np.uint64], needed: NDArray[np.bool_], name: str, path: str
) -> NDArray[np.int64]:
    """Where each of the ids stands among the rows; those that are needed must be there, none twice, and no others."""
    where = f"{path}, intervention {name!r}"
    ranked = np.sort(ids)
    twice = np.flatnonzero(ranked[1:] == ranked[:-1])
    if twice.size:
        raise DataError(f"{where}: row {ranked[twice[0]]} stands there twice ({_count(twice.size)} too many)")
    strange = np.setdiff1d(ids, row_ids)
    if strange.size:
        raise DataError(f"{where}: row {strange[0]} is not in the split ({_count(strange.size)} that are not)")
    missing = np.setdiff1d(row_ids[needed], ids)
    if missing.size:
        raise DataError(f"{where}: row {missing[0]} is missing ({_count(missing.size)} of {int(needed.sum())})")
    order = np.argsort(row_ids, kind="stable")
    return order[np.searchsorted(row_ids[order], ids)]


def _count(n: int) -> str:
    return "1 row" if n == 1 else f"{n:,} rows"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(list(names)[:8]) or "none"
