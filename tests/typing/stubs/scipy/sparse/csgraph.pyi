"""Parts of a graph."""

import numpy as np

from . import coo_array

def connected_components(
    csgraph: coo_array, connection: str = "weak"
) -> tuple[int, np.ndarray[tuple[int], np.dtype[np.int32]]]: ...
