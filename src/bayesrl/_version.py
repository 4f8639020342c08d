"""The version of the library: the number of the release, and which code exactly it is."""

from __future__ import annotations

from functools import cache

__version__ = "0.2.0"
"""The release; the build reads this line."""


@cache
def code_version() -> str:
    """The release and a hash of the sources, for example 0.2.0+3f9c0a1b52de.

    The hash covers the name and the text of every Python file of the package. A wheel, an editable install and a
    checkout with the same sources therefore agree, and git is not needed. Records and saved scores carry it.
    """
    from hashlib import sha256
    from pathlib import Path

    root = Path(__file__).parent
    digest = sha256()
    for path in sorted(root.rglob("*.py"), key=lambda path: path.relative_to(root).as_posix()):
        text = path.read_bytes().replace(b"\r\n", b"\n")
        digest.update(f"{path.relative_to(root).as_posix()}\0{len(text)}\0".encode() + text)
    return f"{__version__}+{digest.hexdigest()[:12]}"
