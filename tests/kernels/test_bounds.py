"""What `make bounds` sees: indices beyond the end and, by its plugin, those below zero that are not constants."""

import os
import subprocess
import sys
from pathlib import Path

CODE = """
import negative_indices
import numpy as np
from numba import njit

@njit
def at(x, i):
    return x[i, -1] + x[-1, i]

print(at(np.ones((2, 2)), 1))
for i in (2, -1, -3):
    try:
        at(np.ones((2, 2)), i)
    except IndexError:
        print("refused", i)
"""


HELPERS = str(Path(__file__).parents[1] / "helpers")


def test_every_index_outside_is_refused():
    here = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_DISABLE_JIT": "0", "PYTHONPATH": HELPERS}
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, env=here)
    assert done.stdout.splitlines() == ["2.0", "refused 2", "refused -1", "refused -3"], done.stderr
