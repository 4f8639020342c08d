"""Factors of a sparse matrix."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from . import csc_array

class SuperLU:
    def solve(self, rhs: NDArray[np.float64], trans: str = "N") -> NDArray[np.float64]: ...

def splu(
    A: csc_array,
    permc_spec: str | None = None,
    diag_pivot_thresh: float | None = None,
    options: Mapping[str, object] | None = None,
) -> SuperLU: ...
