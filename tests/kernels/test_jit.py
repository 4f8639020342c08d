"""Compiled forms on disk: those that name a type of another script do not stand in the way."""

import os
import subprocess
import sys

import pytest

LIBRARY = """
from bayesrl.kernels.jit import any_order, inlined, njit

@{decorator}
def first(x):
    return x[0]
"""
OWN = """
from typing import NamedTuple

class Own(NamedTuple):
    x: float
"""
WITH_IT = "import own, library; assert library.first(own.Own(2.0)) == 2.0"
WITHOUT = "import library; assert library.first((3,)) == 3; print(len(library.first.stats.cache_misses))"


@pytest.mark.parametrize("decorator", ["njit", "inlined", "any_order"])
def test_a_type_that_cannot_be_imported_is_no_obstacle(tmp_path, decorator):
    (tmp_path / "library.py").write_text(LIBRARY.format(decorator=decorator))
    (tmp_path / "own.py").write_text(OWN)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}

    def script(text):
        done = subprocess.run(
            [sys.executable, "-c", text], env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    script(WITH_IT)
    (tmp_path / "own.py").unlink()
    assert script(WITHOUT) == "1"
    assert script(WITHOUT) == "0", "what was compiled anew is kept"
