"""Records and comparisons in files: a zip of .npy columns and one JSON page, without pickle.

    meta.json        {"format": "bayesrl", "version": 1, "kind": "record" | "comparison", "methods": [...]}
                     each method with its label, gamma, provenance and its columns' dtypes and shapes
    0/reward.npy     the columns of the first method, readable by numpy alone
    ...

What the seed determines is saved, wall times are not, and the zip's clock stands still: equal records make equal files
(with the same zlib). A file appears whole or not at all. What cannot be read is refused with one sentence.
"""

from __future__ import annotations

import io
import json
import math
import os
import threading
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from bayesrl.core import Record
from bayesrl.errors import InvalidArgument, UnreadableFile
from bayesrl.lab.comparison import Comparison

FORMAT, VERSION = "bayesrl", 1
STILL = (1980, 1, 1, 0, 0, 0)
"""The time stamp of every member: the first that a zip can say."""
PLAIN = "?biufcSU"
"""Kinds of dtype that are plain data."""


def save(thing: Record | Comparison, path: str | os.PathLike[str]) -> None:
    """Write a record or a comparison; an existing file is replaced only by a complete one."""
    if not isinstance(thing, (Record, Comparison)):
        raise InvalidArgument("save", "thing", "a Record or a Comparison", thing)
    data = _packed(thing)
    path = _path("save", path)
    part = path.parent / f".{path.name}.{os.getpid()}.{threading.get_ident()}.part"
    try:
        part.write_bytes(data)
        part.replace(path)
    except OSError as error:
        raise InvalidArgument("save", "path", "a file that can be written", str(path), f"{error.strerror}.") from None
    finally:
        part.unlink(missing_ok=True)


def load(path: str | os.PathLike[str]) -> Record | Comparison:
    """Read what `save` wrote, or refuse with one sentence."""
    try:
        data = _path("load", path).read_bytes()
    except FileNotFoundError:
        raise UnreadableFile(path, "there is no such file") from None
    except IsADirectoryError:
        raise UnreadableFile(path, "it is a directory") from None
    except OSError as error:
        raise UnreadableFile(path, error.strerror or "the system refused") from None
    try:
        return _unpacked(data)
    except _Refused as refused:
        raise UnreadableFile(path, str(refused)) from None


def to_arrow(thing: Record | Comparison) -> Any:
    """The same as one long pyarrow Table (method, run, step, columns), for Parquet and friends (needs `lab`)."""
    import pyarrow as pa

    parts = []
    for label, record in _methods(thing).items():
        runs = record.columns["reward"].shape[1] if record.columns["reward"].ndim == 2 else 1
        columns: dict[str, Any] = {
            "method": pa.array([label] * (len(record) * runs)).dictionary_encode(),
            "run": np.tile(np.arange(runs), len(record)),
            "step": np.repeat(np.arange(len(record)), runs),
        }
        for name, column in record.columns.items():
            rows = column.reshape(len(record) * runs, -1)
            flat = pa.array(np.ascontiguousarray(rows).ravel())
            width = rows.shape[1]
            columns[name] = flat if width == 1 else pa.FixedSizeListArray.from_arrays(flat, width)
        parts.append(pa.table(columns))
    page = json.dumps({label: dict(r.provenance) for label, r in _methods(thing).items()}, sort_keys=True)
    return pa.concat_tables(parts, promote_options="permissive").replace_schema_metadata({"bayesrl": page})


def _path(owner: str, path: Any) -> Path:
    if not isinstance(path, (str, os.PathLike)) or "\0" in str(path):
        raise InvalidArgument(owner, "path", "the name of a file", path)
    return Path(path)


def _methods(thing: Record | Comparison) -> Mapping[str, Record]:
    return thing.records if isinstance(thing, Comparison) else {"": thing}


# Writing -------------------------------------------------------------------------------------------------------------


def _packed(thing: Record | Comparison) -> bytes:
    methods = _methods(thing)
    meta = {
        "format": FORMAT,
        "version": VERSION,
        "kind": "comparison" if isinstance(thing, Comparison) else "record",
        "methods": [
            {
                "label": label,
                "gamma": record.gamma,
                "provenance": dict(record.provenance),
                "columns": {name: _kind(name, column) for name, column in record.columns.items()},
            }
            for label, record in methods.items()
        ],
    }
    try:
        page = json.dumps(meta, indent=1)
    except (TypeError, ValueError) as error:
        raise InvalidArgument("save", "provenance", "JSON", dict(meta), f"{error}.") from None
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        _put(archive, "meta.json", page.encode())
        for k, record in enumerate(methods.values()):
            for name, column in record.columns.items():
                member = io.BytesIO()
                npy.write_array(member, column, (1, 0), allow_pickle=False)
                _put(archive, f"{k}/{name}.npy", member.getvalue())
    return buffer.getvalue()


def _kind(name: str, column: NDArray[Any]) -> list[Any]:
    if not name.isidentifier():
        raise InvalidArgument("save", "columns", "named by identifiers", name)
    if column.dtype.kind not in PLAIN:
        raise InvalidArgument("save", name, "a column of plain numbers or text", f"dtype {column.dtype}")
    return [column.dtype.str, list(column.shape)]


def _put(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    member = zipfile.ZipInfo(name, STILL)
    member.external_attr = 0o644 << 16
    member.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(member, data)


# Reading -------------------------------------------------------------------------------------------------------------


class _Refused(Exception):
    """Why a file cannot be read, as the end of a sentence."""


def _unpacked(data: bytes) -> Record | Comparison:
    members = _members(data)
    if "meta.json" not in members:
        raise _Refused("it has no meta.json, so it is not one of ours")
    try:
        meta = json.loads(members["meta.json"])
    except (ValueError, RecursionError):
        raise _Refused("its meta.json is not JSON") from None
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        raise _Refused("it is not one of ours")
    if meta.get("version") != VERSION:
        raise _Refused(f"its format version is {meta.get('version')!r}, and this library reads version {VERSION}")
    try:
        records = {method["label"]: _record(members, k, method) for k, method in enumerate(meta["methods"])}
        kind, labels = meta["kind"], [method["label"] for method in meta["methods"]]
    except (KeyError, TypeError, ValueError, AttributeError):
        raise _Refused("its meta.json does not describe a record") from None
    if kind == "record" and labels == [""]:
        return records[""]
    if kind == "comparison" and labels and labels == list(records):
        return Comparison(records)
    raise _Refused("its meta.json does not describe a record")


def _record(members: Mapping[str, bytes], k: int, method: Mapping[str, Any]) -> Record:
    columns = {name: _column(members, f"{k}/{name}.npy", *kind) for name, kind in method["columns"].items()}
    if len({len(column) for column in columns.values()}) != 1 or "reward" not in columns:
        raise _Refused("its columns have different lengths" if "reward" in columns else "it has no column of rewards")
    return Record(columns, float(method["gamma"]), dict(method["provenance"]))


def _members(data: bytes) -> dict[str, bytes]:
    """The whole archive, every checksum verified."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    except Exception:  # a damaged zip makes zipfile raise a dozen different things
        whole = data.startswith(b"PK\x03\x04")
        raise _Refused("it is damaged or cut short" if whole else "it is not a zip file") from None


def _column(members: Mapping[str, bytes], name: str, dtype: str, shape: list[int]) -> NDArray[Any]:
    if name not in members:
        raise _Refused(f"its member {name} is missing")
    member = io.BytesIO(members[name])
    try:
        npy.read_magic(member)
        found, fortran, kind = npy.read_array_header_1_0(member)
    except (ValueError, EOFError):
        raise _Refused(f"its member {name} is not a .npy array") from None
    if kind.kind not in PLAIN:
        raise _Refused(f"its member {name} holds something else than numbers or text")
    if (kind.str, list(found)) != (dtype, shape) or not shape:
        raise _Refused(f"its member {name} is {kind.str} {found}, not {dtype} {tuple(shape)} as meta.json says")
    rest = member.read()
    if len(rest) != kind.itemsize * math.prod(shape):
        raise _Refused(f"its member {name} has the wrong length")
    return np.frombuffer(rest, kind).reshape(shape, order="F" if fortran else "C")
