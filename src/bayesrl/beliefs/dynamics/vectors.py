"""States and actions as vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesrl.checks import Floats, array
from bayesrl.errors import InvalidArgument


def vector(owner: str, name: str, x: Any, size: int | None) -> Floats:
    """A finite vector (size,); a number is a vector of one."""
    found = np.atleast_1d(array(owner, name, x, moderate=True))
    if found.ndim != 1 or (size is not None and len(found) != size):
        expected = "a number or a vector" if size is None else f"a vector of {size} number{'s' * (size != 1)}"
        raise InvalidArgument(owner, name, expected, x)
    return found
