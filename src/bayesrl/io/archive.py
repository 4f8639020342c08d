"""The zip format of saved files: one JSON page and .npy members, without pickle.

Numpy alone can read the arrays. All time stamps are equal, so equal contents give equal files (with the same zlib). A
file that cannot be read is refused with one sentence.

A file is checked before memory is allocated: what its members declare against its size, the page against `PAGE`, and
the dtype and shape of each array against the page and against the member's size. An array is read when it is asked for,
straight into its own memory. What the page does not name is never read.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from typing import IO, Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from bayesrl.checks import frozen

FORMAT, VERSION = "bayesrl", 1
TIME_STAMP = (1980, 1, 1, 0, 0, 0)
"""The time stamp of every member, the earliest possible in a zip."""
PLAIN = "?biufcSU"
"""Kinds of dtype that are plain data: numbers and text."""


DENSEST = 1032
"""Bytes that a byte of a compressed member can stand for, by the format."""
DENSE = 100
"""Bytes that a byte of the file may stand for beyond `FREE`; what is denser is then stored as it is."""
FREE = 2**26
"""Bytes that any file may declare."""
PAGE = 2**20
"""Bytes of the largest page that may be dense: a short file cannot hold a page that fills the memory."""
CHUNK = 2**20
"""Bytes that are read at once."""


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
    text = json.dumps({"format": FORMAT, "version": VERSION, **page}, indent=1).encode()
    dense = {"meta.json"} if len(text) > max(PAGE, DENSE * len(zlib.compress(text))) else set()
    packed, sizes = _zipped(text, arrays, dense)
    if sum(whole for whole, _ in sizes.values()) > _room(len(packed)):
        dense |= {name for name, (whole, short) in sizes.items() if whole > DENSE * short}
        packed, _ = _zipped(text, arrays, dense)
    return packed


def _zipped(
    text: bytes, arrays: Mapping[str, NDArray[Any]], dense: AbstractSet[str]
) -> tuple[bytes, dict[str, tuple[int, int]]]:
    """The zip, where the members in `dense` are not compressed, and the two sizes of each member."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        _put(archive, "meta.json", text, "meta.json" in dense)
        for name, array in arrays.items():
            member = io.BytesIO()
            npy.write_array(member, array, (1, 0), allow_pickle=False)
            _put(archive, name, member.getvalue(), name in dense)
        sizes = {member.filename: (member.file_size, member.compress_size) for member in archive.infolist()}
    return buffer.getvalue(), sizes


def _room(length: int) -> int:
    """The bytes that all arrays of a file of this length may have together."""
    return max(FREE, DENSE * length)


def unpack(file: BinaryIO) -> tuple[dict[str, Any], Members]:
    """The page of an open file, and its arrays, which are not read yet."""
    members = Members(file)
    text = members.page()
    try:
        page = json.loads(text)
    except (ValueError, RecursionError):
        raise Refused("its meta.json is not JSON") from None
    if not isinstance(page, dict) or page.get("format") != FORMAT:
        raise Refused("it is not one of ours")
    if page.get("version") != VERSION:
        raise Refused(f"its format version is {page.get('version')!r}, and this library reads version {VERSION}")
    return page, members


class Members:
    """The members of a zip. Their declared sizes are those that the file can hold."""

    def __init__(self, file: BinaryIO) -> None:
        with _damage(file):
            self.archive = zipfile.ZipFile(file)
        self.file, self.known = file, {member.filename: member for member in self.archive.infolist()}
        self.arrays: dict[str, NDArray[Any]] = {}
        """Those that have been read: what a page names twice takes memory once."""
        length = file.seek(0, io.SEEK_END)
        self.room = _room(length)
        """The bytes that may still be read."""
        if sum(member.compress_size for member in self.known.values()) > length:
            raise Refused("its members overlap, or it is cut short")
        for name, member in self.known.items():
            packed = member.compress_type == zipfile.ZIP_DEFLATED
            if not packed and member.compress_type != zipfile.ZIP_STORED:
                raise Refused(f"its member {name} is compressed in another way than ours")
            if member.file_size > member.compress_size * (DENSEST if packed else 1):
                raise Refused(f"its member {name} declares more bytes than it can hold")

    def page(self) -> bytes:
        """The contents of meta.json."""
        if "meta.json" not in self.known:
            raise Refused("it has no meta.json, so it is not one of ours")
        member = self.known["meta.json"]
        if member.file_size > max(PAGE, DENSE * member.compress_size):
            raise Refused(f"its meta.json declares {member.file_size} bytes, too many for its {member.compress_size}")
        with _damage(self.file):
            return self.archive.read("meta.json")

    def array(self, name: str, dtype: Any, shape: list[int]) -> NDArray[Any]:
        """The array of that member, read-only; its dtype and shape must be those on the page."""
        if name not in self.known:
            raise Refused(f"its member {name} is missing")
        if name not in self.arrays:
            with _damage(self.file), self.archive.open(name) as member:
                self.arrays[name] = frozen(self._read(name, member, dtype, shape))
        found = self.arrays[name]
        _check_form(name, found.dtype, found.shape, dtype, shape)
        return found

    def _read(self, name: str, member: IO[bytes], dtype: Any, shape: list[int]) -> NDArray[Any]:
        """Read an array after its form and its length have been compared with the page and with the member."""
        found, fortran, kind = _header(name, member)
        if not is_plain(kind):
            raise Refused(f"its member {name} holds something else than numbers or text")
        _check_form(name, kind, found, dtype, shape)
        length = kind.itemsize * math.prod(shape)
        if length != self.known[name].file_size - member.tell():
            raise Refused(f"its member {name} has the wrong length")
        self.room -= length
        if self.room < 0:
            raise Refused(f"its arrays have more bytes than {FREE}, and than {DENSE} times its own")
        return _filled(name, member, length).view(kind).reshape(shape, order="F" if fortran else "C")


def _check_form(name: str, kind: np.dtype[Any], found: tuple[int, ...], dtype: Any, shape: list[int]) -> None:
    """Refuse an array that is another than the page says."""
    if (dtype_to_json(kind), list(found)) != (dtype, shape) or not shape or min(shape) < 0:
        said = f"{dtype_to_json(kind)} {found}, not {dtype} {tuple(shape)} as meta.json says"
        raise Refused(f"its member {name} is {said}")


def _header(name: str, member: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    try:
        npy.read_magic(member)
        return npy.read_array_header_1_0(member)
    except (zipfile.BadZipFile, zlib.error):
        raise
    except Exception:  # a damaged header makes numpy raise many kinds of errors
        raise Refused(f"its member {name} is not a .npy array") from None


def _filled(name: str, member: IO[bytes], length: int) -> NDArray[np.uint8]:
    """The rest of a member, whose length is known."""
    try:
        data = np.empty(length, np.uint8)
    except MemoryError:
        raise Refused(f"its member {name} needs {length} bytes of memory, more than there are") from None
    for begin in range(0, max(length, 1), CHUNK):  # a last read of nothing compares the checksum
        part = member.read(min(CHUNK, length - begin))
        data[begin : begin + CHUNK] = np.frombuffer(part, np.uint8)
    return data


@contextmanager
def _damage(file: BinaryIO) -> Iterator[None]:
    """A file that is no whole zip is refused."""
    try:
        yield
    except (Refused, MemoryError):
        raise
    except Exception:  # a damaged zip makes zipfile raise many kinds of errors
        file.seek(0)
        whole = file.read(4) == b"PK\x03\x04"
        raise Refused("it is damaged or cut short" if whole else "it is not a zip file") from None


def _put(archive: zipfile.ZipFile, name: str, data: bytes, dense: bool) -> None:
    member = zipfile.ZipInfo(name, TIME_STAMP)
    member.external_attr = 0o644 << 16
    member.compress_type = zipfile.ZIP_STORED if dense else zipfile.ZIP_DEFLATED
    archive.writestr(member, data)
