"""The zip format of saved files: one JSON page and .npy members, without pickle.

Numpy alone can read the arrays. All time stamps are equal, so equal contents give equal files (with the same zlib). A
file that cannot be read is refused with one sentence.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

FORMAT, VERSION = "bayesrl", 1
TIME_STAMP = (1980, 1, 1, 0, 0, 0)
"""The time stamp of every member, the earliest possible in a zip."""
PLAIN = "?biufcSU"
"""Kinds of dtype that are plain data: numbers and text."""


class Refused(Exception):
    """Why a file cannot be read, as the end of a sentence."""


# Kinds of arrays -----------------------------------------------------------------------------------------------------


def is_plain(dtype: np.dtype[Any]) -> bool:
    """Whether arrays of this dtype, and of every field of a structured dtype, hold only numbers and text."""
    if dtype.subdtype is not None:
        return is_plain(dtype.subdtype[0])
    if dtype.fields is not None:
        return all(is_plain(field[0]) for field in dtype.fields.values())
    return dtype.kind in PLAIN


def dtype_to_json(dtype: np.dtype[Any]) -> Any:
    """A dtype as JSON: "<f8", or for a structured one a list of [name, dtype, shape]."""
    return json.loads(json.dumps(npy.dtype_to_descr(dtype)))


# The zip -------------------------------------------------------------------------------------------------------------


def pack(page: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """A zip of a JSON page and arrays by member name; TypeError or ValueError if the page is not JSON."""
    text = json.dumps({"format": FORMAT, "version": VERSION, **page}, indent=1)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        _put(archive, "meta.json", text.encode())
        for name, array in arrays.items():
            member = io.BytesIO()
            npy.write_array(member, array, (1, 0), allow_pickle=False)
            _put(archive, name, member.getvalue())
    return buffer.getvalue()


def unpack(data: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The page and all members; the format and every checksum are verified."""
    members = _members(data)
    if "meta.json" not in members:
        raise Refused("it has no meta.json, so it is not one of ours")
    try:
        page = json.loads(members["meta.json"])
    except (ValueError, RecursionError):
        raise Refused("its meta.json is not JSON") from None
    if not isinstance(page, dict) or page.get("format") != FORMAT:
        raise Refused("it is not one of ours")
    if page.get("version") != VERSION:
        raise Refused(f"its format version is {page.get('version')!r}, and this library reads version {VERSION}")
    return page, members


def array_in(members: Mapping[str, bytes], name: str, dtype: Any, shape: list[int]) -> NDArray[Any]:
    """The array of that member; its dtype and shape must be those on the page."""
    if name not in members:
        raise Refused(f"its member {name} is missing")
    member = io.BytesIO(members[name])
    try:
        npy.read_magic(member)
        found, fortran, kind = npy.read_array_header_1_0(member)
    except (ValueError, EOFError):
        raise Refused(f"its member {name} is not a .npy array") from None
    if not is_plain(kind):
        raise Refused(f"its member {name} holds something else than numbers or text")
    if (dtype_to_json(kind), list(found)) != (dtype, shape) or not shape:
        raise Refused(
            f"its member {name} is {dtype_to_json(kind)} {found}, not {dtype} {tuple(shape)} as meta.json says"
        )
    rest = member.read()
    if len(rest) != kind.itemsize * math.prod(shape):
        raise Refused(f"its member {name} has the wrong length")
    return np.frombuffer(rest, kind).reshape(shape, order="F" if fortran else "C")


def _put(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    member = zipfile.ZipInfo(name, TIME_STAMP)
    member.external_attr = 0o644 << 16
    member.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(member, data)


def _members(data: bytes) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    except Exception:  # a damaged zip makes zipfile raise many kinds of errors
        whole = data.startswith(b"PK\x03\x04")
        raise Refused("it is damaged or cut short" if whole else "it is not a zip file") from None
