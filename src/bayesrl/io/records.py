"""Records and comparisons in files: a zip of .npy columns and one JSON page, without pickle (archive.py).

    meta.json        {"format": "bayesrl", "version": 1, "kind": "record" | "comparison", "methods": [...]}
                     each method with its label, gamma, provenance and its columns' dtypes and shapes
    0/reward.npy     the columns of the first method, readable by numpy alone
    ...

A column of numbers, text or vectors has its dtype in the page as "<f8"; a column of tuples with parts of different
kinds is a structured array, and the page lists its fields. Tuples with parts of different lengths, such as coalitions,
are a structured array too: such a part is padded with zeros, its lengths are a field `f0_length`, and the page says
"padded". Wall times are not saved, so equal records give equal files.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesrl._files import reading, write
from bayesrl.errors import InvalidArgument, UnreadableFile, from_extra
from bayesrl.io.archive import Members, Refused, dtype_to_json, is_plain, pack, unpack
from bayesrl.lab.comparison import Comparison
from bayesrl.record import Record, as_tuples

if TYPE_CHECKING:
    import pyarrow as pa


def save(thing: Record | Comparison, path: str | os.PathLike[str]) -> None:
    """Write a record or a comparison; an existing file is replaced only by a complete one."""
    if not isinstance(thing, (Record, Comparison)):
        raise InvalidArgument("save", "thing", "a Record or a Comparison", thing)
    data = _pack(thing)
    write(path, data)


def load(path: str | os.PathLike[str]) -> Record | Comparison:
    """Read what `save` wrote, or refuse with one sentence."""
    with reading(path) as file:
        try:
            return records(*unpack(file))
        except Refused as refused:
            raise UnreadableFile(path, str(refused)) from None


def to_arrow(thing: Record | Comparison) -> pa.Table:
    """Convert to one long pyarrow Table (method, run, step, columns), for Parquet and others (needs `lab`)."""
    with from_extra("to_arrow"):
        import pyarrow as pa

    parts = []
    ragged = {name for r in _methods(thing).values() for name, column in r.columns.items() if column.dtype == object}
    for label, record in _methods(thing).items():
        runs = record.columns["reward"].shape[1] if record.columns["reward"].ndim == 2 else 1
        columns: dict[str, Any] = {
            "method": pa.array([label] * (len(record) * runs)).dictionary_encode(),
            "run": np.tile(np.arange(runs), len(record)),
            "step": np.repeat(np.arange(len(record)), runs),
        }
        for name, column in record.columns.items():
            shared = column.shape[:2] != (len(record), runs) and record.columns["reward"].ndim == 2
            whole = np.broadcast_to(column[:, None], (len(record), runs)) if shared else column
            if name in ragged and whole.dtype.names is not None:  # as in the other methods
                whole = as_tuples(whole.ravel())
            columns[name] = _arrow(whole, len(record) * runs)
        parts.append(pa.table(columns))
    page = json.dumps({label: dict(r.provenance) for label, r in _methods(thing).items()}, sort_keys=True)
    return pa.concat_tables(parts, promote_options="permissive").replace_schema_metadata({"bayesrl": page})


def _arrow(column: NDArray[Any], rows: int) -> pa.Array:
    """A column as an arrow array. Vectors become lists, tuples become structs with the same field names."""
    import pyarrow as pa

    table = column.reshape(rows, -1)
    width = table.shape[1]
    flat = np.ascontiguousarray(table).ravel()
    if flat.dtype == object and all(type(x) is tuple for x in flat):
        made = pa.array([{f"f{i}": part for i, part in enumerate(x)} for x in flat])
    elif flat.dtype.names is None:
        made = pa.array(flat)
    else:
        names = list(flat.dtype.names)
        made = pa.StructArray.from_arrays([_arrow(flat[name], len(flat)) for name in names], names)
    return made if width == 1 else pa.FixedSizeListArray.from_arrays(made, width)


def _methods(thing: Record | Comparison) -> Mapping[str, Record]:
    return thing.records if isinstance(thing, Comparison) else {"": thing}


# Writing -------------------------------------------------------------------------------------------------------------


def _pack(thing: Record | Comparison) -> bytes:
    methods = _methods(thing)
    stored = {label: {k: _stored(x) for k, x in r.columns.items()} for label, r in methods.items()}
    page = {
        "kind": "comparison" if isinstance(thing, Comparison) else "record",
        "methods": [
            {
                "label": label,
                "gamma": record.gamma,
                "provenance": dict(record.provenance),
                "columns": {name: _kind(name, column, stored[label][name]) for name, column in record.columns.items()},
            }
            for label, record in methods.items()
        ],
    }
    arrays = {f"{k}/{name}.npy": column for k, r in enumerate(stored.values()) for name, column in r.items()}
    try:
        return pack(page, arrays)
    except (TypeError, ValueError) as error:
        raise InvalidArgument("save", "provenance", "JSON", page, f"{error}.") from None


def _kind(name: str, column: NDArray[Any], stored: NDArray[Any]) -> list[Any]:
    if not name.isidentifier():
        raise InvalidArgument("save", "columns", "named by identifiers", name)
    if not is_plain(stored.dtype):
        raise InvalidArgument("save", name, "a column of plain numbers or text", f"dtype {column.dtype}")
    return [dtype_to_json(stored.dtype), list(stored.shape), *(["padded"] if stored is not column else [])]


def _stored(column: NDArray[Any]) -> NDArray[Any]:
    """The column itself, or a structured array for one of tuples with parts of different lengths: padded, and lengths.

    A column of other objects stays as it is, and `_kind` refuses it.
    """
    entries = column.ravel().tolist() if column.dtype == object else []
    if {type(x) for x in entries} != {tuple} or len({len(x) for x in entries}) > 1:
        return column
    fields: dict[str, NDArray[Any]] = {}
    for i, part in enumerate(zip(*entries, strict=True)):
        vectors = {type(x) for x in part} == {tuple}
        rows = part if vectors else [(x,) for x in part]
        flat = [x for row in rows for x in row]
        if len({np.dtype(type(x)).kind for x in flat}) != 1:
            return column
        lengths, values = np.array([len(row) for row in rows]), np.array(flat)
        padded = np.zeros((len(rows), lengths.max()), values.dtype)
        padded[np.arange(padded.shape[1]) < lengths[:, None]] = values
        fields |= {f"f{i}": padded, f"f{i}_length": lengths} if vectors else {f"f{i}": padded[:, 0]}
    table = np.empty(len(entries), [(name, x.dtype, x.shape[1:]) for name, x in fields.items()])
    for name, x in fields.items():
        table[name] = x
    return table.reshape(column.shape)


# Reading -------------------------------------------------------------------------------------------------------------


def records(page: Mapping[str, Any], members: Members) -> Record | Comparison:
    """The record or comparison that a page and its members describe."""
    try:
        found = {method["label"]: _record(members, k, method) for k, method in enumerate(page["methods"])}
        kind, labels = page["kind"], [method["label"] for method in page["methods"]]
    except (KeyError, TypeError, ValueError, AttributeError):
        raise Refused("its meta.json does not describe a record") from None
    if kind == "record" and labels == [""]:
        return found[""]
    if kind == "comparison" and labels and labels == list(found):
        return Comparison(found)
    raise Refused("its meta.json does not describe a record")


def _record(members: Members, k: int, method: Mapping[str, Any]) -> Record:
    columns = {name: _column(members, f"{k}/{name}.npy", *kind) for name, kind in method["columns"].items()}
    if len({len(column) for column in columns.values()}) != 1 or "reward" not in columns:
        raise Refused("its columns have different lengths" if "reward" in columns else "it has no column of rewards")
    return Record(columns, float(method["gamma"]), dict(method["provenance"]))


def _column(members: Members, name: str, dtype: Any, shape: list[int], padded: str = "") -> NDArray[Any]:
    """The column of that member; tuples that `_stored` wrote as a structured array are tuples again."""
    table = members.array(name, dtype, shape)
    if not padded:
        return table
    flat, parts = table.ravel(), []
    for field in [f for f in table.dtype.names or () if not f.endswith("_length")]:
        values = flat[field].tolist()
        if flat[field].ndim == 2:
            lengths = flat[f"{field}_length"]
            if lengths.dtype.kind != "i" or ((lengths < 0) | (lengths > flat[field].shape[1])).any():
                raise Refused(f"its member {name} has lengths that cannot be")
            values = [tuple(row[:n]) for row, n in zip(values, lengths.tolist(), strict=True)]
        parts.append(values)
    return np.fromiter(zip(*parts, strict=True), object, len(flat)).reshape(table.shape)
