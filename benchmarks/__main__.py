"""Run the benchmarks named on the command line, or all. Every module of this folder with a `main()` is a benchmark.

BLAS and OpenMP are limited to one thread before any import that reads the setting.
"""

import os
import pkgutil
import sys
from importlib import import_module

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"

known = [module.name for module in pkgutil.iter_modules([os.path.dirname(__file__)]) if module.name[0] != "_"]
chosen = sys.argv[1:] or known
if unknown := [name for name in chosen if name not in known]:
    sys.exit(f"There is no benchmark called {unknown[0]}; there are {', '.join(known)}.")
for name in chosen:
    benchmark = import_module(f"benchmarks.{name}")
    if hasattr(benchmark, "main"):
        benchmark.main()
