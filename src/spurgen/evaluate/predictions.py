"""The contract between a model and its scores: a table with row_id, intervention, and a probability for every class.

Probabilities stand in one list column `probabilities` (in CSV as "[0.2, 0.8]"), or in a column `p_<class>` each;
`logits` and `logit_<class>` are scores before the softmax. A file without a column `intervention` speaks of the rows as
they are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spurgen.errors import DataError, SpurgenError, brief, nearest
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
    ids = _ids(table, str(path))
    edits = _edits(table, str(path))
    values = _values(table, classes, str(path))
    found: dict[str, Probabilities] = {}
    for name in [NONE, *(edit for edit in dict.fromkeys(edits.tolist()) if edit != NONE)]:
        mine = edits == name
        needed = np.ones(len(row_ids), bool) if name == NONE or changed is None else _asked(changed, name, str(path))
        given = _places(ids[mine], row_ids, needed, name, str(path))
        found[name] = np.empty((len(row_ids), len(classes))) if name == NONE else found[NONE].copy()
        found[name][given] = values[mine]
    return found


def write(path: Path, row_ids: NDArray[np.uint64], found: Mapping[str, Probabilities], classes: Sequence[str]) -> None:
    """The same as a Parquet file, each intervention after the other.

    In float64: what float32 takes for 0 would cost 708 nats where the model said e^-110.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    n, edits = len(row_ids), list(found)
    flat = np.concatenate([found[name] for name in edits])
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
        if path.is_dir():
            raise DataError(f"{path} is a directory; give a CSV or Parquet file of predictions")
        if not path.is_file():
            raise DataError(f"there is no file {path}")
    is_csv = path.suffix.lower() == ".csv"
    try:
        table = csv.read_csv(path) if is_csv else pq.read_table(path)
        names = table.column_names
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        kind = "CSV" if is_csv else "Parquet (a CSV file must be called .csv)"
        raise DataError(f"{path} cannot be read as {kind}: {str(error).splitlines()[0]}") from error
    if is_csv and len(names) == 1 and ";" in names[0]:
        raise DataError(f"{path} has a single column {brief(names[0])}; separate columns by commas, not by semicolons")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"{path} has two columns {twice!r}; keep one of them")
    return table


def _values(table: pa.Table, classes: Sequence[str], path: str) -> Probabilities:
    """(rows, classes), checked; logits are turned into probabilities."""
    kinds = [("probabilities", "p_"), ("logits", "logit_")]
    there = [n for n in table.column_names if any(n == whole or n.startswith(each) for whole, each in kinds)]
    if len({n if n in ("probabilities", "logits") else n.partition("_")[0] for n in there}) > 1:
        raise DataError(f"{path} says it in two ways ({there[0]} and {there[-1]}); keep one of them")
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
    rows = [_parsed(row) for row in column.to_pylist()]
    wrong = next((i for i, row in enumerate(rows) if not isinstance(row, list) or len(row) != len(classes)), None)
    if wrong is not None:
        held = f"{len(rows[wrong])} numbers" if isinstance(rows[wrong], list) else "no list"
        raise DataError(
            f"{path}: {name} of entry {wrong + 1} holds {held}; there must be {len(classes)}, one per class, "
            f"in the order {', '.join(classes)}"
        )
    return _numbers(rows, name, path, (len(classes),))


def _parsed(row: Any) -> Any:
    """A list that was written as text, as CSV files must."""
    try:
        return json.loads(row) if isinstance(row, str) else row
    except ValueError:
        return row


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
    return np.stack([_numbers(table[prefix + name].to_pylist(), prefix + name, path) for name in classes], 1)


def _numbers(cells: list[Any], name: str, path: str, shape: tuple[int, ...] = ()) -> NDArray[np.float64]:
    """Cells, or lists of `shape`, as numbers; what is empty as NaN."""
    try:
        found = np.array(cells, np.float64) if cells else np.empty((0, *shape))
    except (TypeError, ValueError):
        found = np.empty(())
    if found.shape != (len(cells), *shape):
        bad = next((i for i, cell in enumerate(cells) if not _is_number(cell, shape)), 0)
        wanted = "numbers" if shape else "a number"
        raise DataError(f"{path}: {name} of entry {bad + 1} is {brief(cells[bad])}; there must be {wanted}")
    return found


def _is_number(cell: Any, shape: tuple[int, ...]) -> bool:
    try:
        return np.array(cell, np.float64).shape == shape
    except (TypeError, ValueError):
        return False


def _edits(table: pa.Table, path: str) -> NDArray[np.object_]:
    """The name of each entry's intervention; an empty one is none."""
    if "intervention" not in table.column_names:
        return np.full(table.num_rows, NONE, object)
    edits = np.array([name or NONE for name in table["intervention"].to_pylist()], object)
    odd = next((name for name in edits.tolist() if not isinstance(name, str)), None)
    if odd is not None:
        raise DataError(f"{path}: an intervention is {odd!r}; interventions are names, such as 'align' or {NONE!r}")
    if NONE not in edits:
        raise DataError(
            f"{path} has no predictions for the rows as they are; add them, with intervention {NONE!r} or an empty one"
        )
    return edits


def _asked(changed: Callable[[str], NDArray[np.bool_]], name: str, path: str) -> NDArray[np.bool_]:
    """Which rows an intervention changes; names of interventions come from the file, and may be unknown."""
    try:
        return changed(name)
    except SpurgenError as error:
        raise DataError(f"{path}: {error}") from None


def _ids(table: pa.Table, path: str) -> NDArray[np.uint64]:
    given = table["row_id"].to_pylist()
    numbers = [_whole(value) for value in given]
    bad = next((i for i, n in enumerate(numbers) if n is None), None)
    if bad is not None:
        raise DataError(f"{path}: row_id of entry {bad + 1} is {given[bad]!r}; row ids are whole numbers, 0 or more")
    return np.array(numbers, np.uint64)


def _whole(value: Any) -> int | None:
    """A row id, also where a table keeps it as text or as a fraction without a remainder."""
    as_text = isinstance(value, str) and value.strip().isascii() and value.strip().isdigit()
    if as_text or (isinstance(value, float) and value.is_integer() and value < 2**53):
        value = int(value)
    return value if type(value) is int and 0 <= value < 2**64 else None


def _finite(values: Probabilities, table: pa.Table, path: str) -> None:
    bad = np.flatnonzero(~np.isfinite(values).all(1))
    if bad.size:
        row = table["row_id"][int(bad[0])].as_py()
        raise DataError(
            f"{path}: {_count(bad.size)} with a number that is missing, NaN or infinite, the first of row {row}; "
            "every class needs a finite number"
        )


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
        raise DataError(
            f"{where}: row {ranked[twice[0]]} stands there twice ({_count(twice.size)} too many); keep one of each"
        )
    strange = np.setdiff1d(ids, row_ids)
    if strange.size:
        raise DataError(
            f"{where}: row {strange[0]} is not in the split ({_count(strange.size)} like it); leave such rows out"
        )
    missing = np.setdiff1d(row_ids[needed], ids)
    if missing.size:
        raise DataError(
            f"{where}: row {missing[0]} is missing ({missing.size:,} of {_count(int(needed.sum()))}); "
            f"predict every row of the split{'' if name == NONE else ' that the intervention changes'}"
        )
    order = np.argsort(row_ids, kind="stable")
    return order[np.searchsorted(row_ids[order], ids)]


def _count(n: int) -> str:
    return "1 row" if n == 1 else f"{n:,} rows"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(list(names)[:8]) or "none"
