"""Whole files, read and written at once; errors say in one sentence what is the matter."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

from bayesrl.errors import InvalidArgument, UnreadableFile


def file_name(owner: str, path: Any) -> Path:
    """The path, or an error if it cannot be the name of a file."""
    if not isinstance(path, (str, os.PathLike)) or "\0" in str(path):
        raise InvalidArgument(owner, "path", "the name of a file", path)
    return Path(path)


def write(path: Path, data: bytes, owner: str = "save") -> None:
    """Write a file atomically: an existing file is replaced only by a complete one."""
    part = path.parent / f".{path.name}.{os.getpid()}.{threading.get_ident()}.part"
    try:
        part.write_bytes(data)
        part.replace(path)
    except OSError as error:
        raise InvalidArgument(owner, "path", "a file that can be written", str(path), f"{error.strerror}.") from None
    finally:
        part.unlink(missing_ok=True)


def read(path: str | os.PathLike[str]) -> bytes:
    """The contents of a file; an error says why it cannot be read."""
    try:
        return file_name("load", path).read_bytes()
    except FileNotFoundError:
        raise UnreadableFile(path, "there is no such file") from None
    except IsADirectoryError:
        raise UnreadableFile(path, "it is a directory") from None
    except OSError as error:
        raise UnreadableFile(path, error.strerror or "the system refused") from None
