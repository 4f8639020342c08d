"""One way to read files and one way to write them, for everything that this library reads and writes.

Reading takes regular files only: a pipe may never answer, and a device never ends. `reading` opens a file, and who
needs only parts of it reads only those; `read` gives the contents of a file of at most `LARGEST` bytes.

`write` replaces a file as a whole. The data go into a new file in the same folder, which is flushed to the disk and
then renamed. Whatever happens, a killed process, a full disk or a power failure, an existing file holds its old
contents or the new ones. A file keeps its permissions; a new file has those that the umask allows. A symbolic link
stays, and the file that it names is written. Another hard link to the file keeps the old contents. A process that is
killed while it writes leaves its new file behind, `.bayesrl-<16 digits>.part`.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from bayesrl.errors import InvalidArgument, UnreadableFile

LARGEST = 2**30
"""The most bytes that `read` takes."""
PRIVATE = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
"""How a new file is opened: nobody else has made it, and it is not a link."""
AT_ONCE = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
"""How a file is opened before its kind is known: opening a pipe does not wait for its other end."""
REMEDIES = {
    errno.ENOENT: "make the folder first",
    errno.ENOTDIR: "a part of the path is a file, not a folder",
    errno.EISDIR: "name a file in it",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.ELOOP: "its links name each other",
    errno.EACCES: "choose a file that you may write, in a folder that you may write to",
    errno.EPERM: "choose a file that you may write, in a folder that you may write to",
    errno.EROFS: "choose another disk",
    errno.ENOSPC: "free some space; an existing file has not changed",
    errno.EDQUOT: "free some space; an existing file has not changed",
    errno.EFBIG: "it is larger than files may be here; an existing file has not changed",
}
"""The remedy for each reason for which the system refuses to write."""


def file_name(owner: str, path: Any) -> Path:
    """The path, or an error if it cannot be the name of a file."""
    with suppress(TypeError, UnicodeError):  # no path, and letters that no file name can have
        name = os.fspath(path)
        if isinstance(name, str) and b"\0" not in os.fsencode(name):
            return Path(name)
    raise InvalidArgument(owner, "path", "the name of a file", path)


# Reading -------------------------------------------------------------------------------------------------------------


@contextmanager
def reading(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """An open regular file; an error says why it cannot be read."""
    try:
        with _opened(path) as file:
            yield file
    except UnreadableFile:
        raise
    except FileNotFoundError:
        raise UnreadableFile(path, "there is no such file") from None
    except OSError as error:
        special = error.errno == errno.ENXIO  # a socket, or a device that is not there
        raise UnreadableFile(path, "it is not a regular file" if special else _said(error)) from None


def _opened(path: str | os.PathLike[str]) -> BinaryIO:
    found = os.open(file_name("load", path), AT_ONCE)
    mode = os.fstat(found).st_mode
    if not stat.S_ISREG(mode):
        os.close(found)
        raise UnreadableFile(path, "it is a directory" if stat.S_ISDIR(mode) else "it is not a regular file")
    return open(found, "rb")


def read(path: str | os.PathLike[str]) -> bytes:
    """The contents of a file of at most `LARGEST` bytes."""
    with reading(path) as file:
        size = size_of(file)
        if size > LARGEST:
            raise UnreadableFile(path, f"it has {size} bytes, more than {LARGEST}")
        return file.read()


def read_text(path: str | os.PathLike[str]) -> str:
    """The contents of a file of text in UTF-8."""
    try:
        return read(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UnreadableFile(path, "it is not text") from None


def size_of(file: BinaryIO) -> int:
    """The bytes of an open file."""
    return os.fstat(file.fileno()).st_size


# Writing -------------------------------------------------------------------------------------------------------------


def write_text(path: str | os.PathLike[str], text: str, owner: str = "save") -> None:
    """Write a file of text in UTF-8."""
    write(path, text.encode(), owner)


def write(path: str | os.PathLike[str], data: bytes, owner: str = "save") -> None:
    """Replace a file as a whole, or make a new one; if that fails, nothing has changed."""
    named = file_name(owner, path)
    try:
        target = Path(os.path.realpath(named))
        _replace(target, data, _status(target))
    except OSError as error:
        expected = "a file that can be written"
        raise InvalidArgument(owner, "path", expected, str(path), f"{_said(error, REMEDIES)}.") from None


def _status(target: Path) -> os.stat_result | None:
    """The status of the file that is there now; an error if it must not be replaced."""
    try:
        old = os.stat(target, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(old.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if stat.S_ISLNK(old.st_mode):  # links that name each other
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if not stat.S_ISREG(old.st_mode):
        raise OSError(errno.EINVAL, "It is a pipe, a device or a socket")
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return old


def _replace(target: Path, data: bytes, old: os.stat_result | None) -> None:
    part = target.parent / f".bayesrl-{secrets.token_hex(8)}.part"
    try:  # Ctrl-C may come as soon as there is a file
        file = os.open(part, PRIVATE, 0o666 if old is None else 0o600)
        with open(file, "wb") as made:
            if old is not None:
                _keep_owner_and_mode(file, old)
            made.write(data)
            made.flush()
            os.fsync(file)
        os.replace(part, target)
    except BaseException as error:
        if not isinstance(error, FileExistsError):  # which nobody here has made
            part.unlink(missing_ok=True)
        raise
    _flush_folder(target.parent)


def _keep_owner_and_mode(file: int, old: os.stat_result) -> None:
    if not hasattr(os, "fchmod"):  # Windows
        return
    new = os.fstat(file)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        with suppress(PermissionError):
            os.fchown(file, old.st_uid, old.st_gid)
    os.fchmod(file, stat.S_IMODE(old.st_mode))


def _flush_folder(folder: Path) -> None:
    """Make the new name last. A folder that may not be read, and some file systems, cannot do it."""
    with suppress(OSError):
        found = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(found)
        finally:
            os.close(found)


def _said(error: OSError, remedies: dict[int, str] | None = None) -> str:
    """The system's message, and a remedy."""
    said = error.strerror or "The system refused"
    remedy = (remedies or {}).get(error.errno or 0)
    return f"{said}: {remedy}" if remedy else said
