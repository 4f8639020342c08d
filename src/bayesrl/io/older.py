"""Named tuples that had other items when older files were written, and what became of these items.

A dataclass needs no row here: a file names its fields, and a field that is newer than the file has its default.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bayesrl.kernels.ties import size

Items = tuple[Any, ...]


def _with_size(q: Any, steps: Any) -> Items:
    """Plans keep the size of their action values, by which ties are told."""
    return q, float(size(np.ravel(q))), steps


def _nothing_known(table: Any, key: Any, q: Any) -> Items:
    """A memory of Gittins indices did not say to which arms and discount they belong. They are computed again."""
    return None, {}, None, None


ITEMS: Mapping[str, tuple[int, Callable[..., Items]]] = {
    "bayesrl.bamdp.sampling.bayesian_dp:Plan": (2, _with_size),
    "bayesrl.bamdp.sampling.psrl:Plan": (2, _with_size),
    "bayesrl.bandits.gittins:Known": (3, _nothing_known),
}
"""The number of items in older files, and the present items made of them, by the name in the file."""
