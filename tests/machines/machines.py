"""Run tests under simulated processors: other kernels of BLAS, of Numba and of NumPy, and other numbers of threads.

    python tests/machines/machines.py [--short] [--only NAME ...] [--workers N] [PATH ...]

Each machine is a set of environment variables. A first process asks the libraries what they took of it. A machine that
this one cannot run (or that is this one) is skipped, and the table says why. PATH are tests to run instead of the
default ones. The exit status is 1 if a test fails.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
CORES = ("Prescott", "Sandybridge", "Haswell", "Zen", "SkylakeX")
SAME = {"Prescott": ("Prescott", "Katmai", "Core2")}
"""Names under which OpenBLAS reports a core type; builds with few kernels share one among old processors."""
OUT = "build/machines"
SHORT = [
    "tests/golden",
    "tests/docs/test_doctests.py",
    "tests/machines",
    "tests/beliefs/test_laws.py",
    "tests/beliefs/values/test_gp_regression.py",
    "tests/beliefs/values/test_gptd.py",
    "tests/beliefs/arms/test_contextual.py",
    "tests/bamdp/test_planners.py",
    "tests/bandits/test_planners.py",
    "tests/bapomdp/test_oracle_agents.py",
]
"""What the short form runs: golden traces, docstrings, laws of beliefs and planners, beliefs that solve systems."""


class Machine(NamedTuple):
    """A simulated processor."""

    name: str
    variables: dict[str, str]
    figures: bool = False
    """Whether the full form runs the published figures on it too."""


def machines(features: list[str]) -> list[Machine]:
    """All machines; `features` are NumPy's vector extensions that can be disabled here."""
    generic = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": str(ROOT / OUT / "generic")}
    plain = {"NPY_DISABLE_CPU_FEATURES": " ".join(features)} if features else {}
    return [
        *(Machine(core, {"OPENBLAS_CORETYPE": core}, core in ("Prescott", "Haswell")) for core in CORES),
        Machine("numba-generic", generic),
        Machine("numpy-plain", plain),
        Machine("one-thread", {"OPENBLAS_NUM_THREADS": "1"}),
        Machine("two-threads", {"OPENBLAS_NUM_THREADS": "2"}),
        Machine("oldest", {"OPENBLAS_CORETYPE": "Prescott", **generic, **plain}),
    ]


# What the libraries took ---------------------------------------------------------------------------------------------


def openblas(package: str) -> tuple[str, int]:
    """The core type and the number of threads of the OpenBLAS that a package ships; ("", 0) if it has none."""
    module = __import__(f"{package}.linalg").linalg
    folder = Path(module.__file__).parents[2] / f"{package}.libs"
    for path in folder.glob("*openblas*"):
        library = ctypes.CDLL(str(path))
        for start in ("scipy_openblas", "openblas"):
            for end in ("64_", ""):
                core = getattr(library, f"{start}_get_corename{end}", None)
                if core is not None:
                    core.restype = ctypes.c_char_p
                    return core().decode(), int(getattr(library, f"{start}_get_num_threads{end}")())
    return "", 0


def probe() -> dict[str, object]:
    """What this process runs on: BLAS cores and threads, Numba's processor, NumPy's vector extensions."""
    import numba
    import numpy as np
    from numba.core.registry import cpu_target

    core = getattr(np, "_core", None) or np.core
    umath = core._multiarray_umath
    return {
        "blas": [openblas("numpy"), openblas("scipy")],
        "numba": [numba.config.CPU_NAME or "host", cpu_target.target_context.codegen().magic_tuple()[1]],
        "numpy": [f for f in umath.__cpu_dispatch__ if umath.__cpu_features__.get(f)],
    }


def asked(variables: dict[str, str]) -> dict[str, list]:
    """The probe of a fresh process with these variables."""
    command = [sys.executable, __file__, "--probe"]
    found = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, check=False)
    return json.loads(found.stdout) if found.returncode == 0 else {"error": [found.stderr.strip()[-200:]]}


def why_not(machine: Machine, here: dict[str, list]) -> str:
    """Why a machine cannot be simulated here; empty if it can."""
    if not machine.variables:
        return "NumPy has no vector extensions to disable here"
    found = asked(machine.variables)
    if "error" in found:
        return f"does not start: {found['error'][0]}"
    want = machine.variables.get("OPENBLAS_CORETYPE")
    if want and not all(core in SAME.get(want, (want,)) for core, _ in found["blas"]):
        return f"BLAS takes {' and '.join(sorted({core or 'another library' for core, _ in found['blas']}))} instead"
    if want and len(machine.variables) == 1 and found["blas"] == here["blas"]:
        return "this is the host's own core type"
    threads = machine.variables.get("OPENBLAS_NUM_THREADS")
    if threads and any(n != int(threads) for _, n in found["blas"]):
        return f"BLAS has {sorted({n for _, n in found['blas']})} threads instead"
    if "NPY_DISABLE_CPU_FEATURES" in machine.variables and found["numpy"]:
        return f"NumPy keeps {' '.join(found['numpy'])}"
    if "NUMBA_CPU_NAME" in machine.variables and found["numba"] == here["numba"]:
        return "Numba keeps the host's processor"
    return ""


# The tests -----------------------------------------------------------------------------------------------------------


def tested(python: str, options: list[str], log: Path, variables: dict[str, str]) -> tuple[int, int, float]:
    """Run pytest: (passed, failed, seconds). Failures are printed, and the log is kept."""
    log.parent.mkdir(parents=True, exist_ok=True)
    command = [python, "-m", "pytest", "-p", "no:cacheprovider", "-rfE", *options]
    began = time.monotonic()
    with log.open("w") as file:
        environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"} | variables
        end = subprocess.run(command, cwd=ROOT, env=environment, stdout=file, stderr=subprocess.STDOUT, check=False)
    text = log.read_text()
    passed, failed = (
        sum(int(n) for n in re.findall(rf"(\d+) (?:{words})", text[-300:])) for words in ("passed", "failed|errors?")
    )
    for line in re.findall(r"^(?:FAILED|ERROR) .*", text, re.MULTILINE):
        print("   ", line, flush=True)
    return passed, failed or int(end.returncode not in (0, 5)), time.monotonic() - began


def main() -> int:
    """Run the machines in turns, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--probe", action="store_true", help="print what this process runs on")
    parser.add_argument("--short", action="store_true", help="two kernels of BLAS that differ from the host's")
    parser.add_argument("--only", nargs="*", metavar="NAME", help="these machines")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("paths", nargs="*", metavar="PATH", help="tests to run")
    options = parser.parse_args()
    if options.probe:
        print(json.dumps(probe()))
        return 0
    here = asked({})
    cores, threads = zip(*here["blas"], strict=True)
    print(f"host: BLAS {cores}, {threads} threads; Numba {here['numba'][1]}; NumPy with {' '.join(here['numpy'])}")
    print(f"{'machine':<14}{'tests':<12}{'passed':>7}{'failed':>7}{'seconds':>9}")
    failures, ran = 0, 0
    for machine in machines(here["numpy"]):
        if (options.only and machine.name not in options.only) or (options.short and ran == 2):
            continue
        reason = why_not(machine, here)
        if reason:
            print(f"{machine.name:<14}skipped: {reason}", flush=True)
            continue
        ran += 1
        parts = {"chosen": options.paths} if options.paths else {"short": SHORT} if options.short else {"all": []}
        if machine.figures and not options.short and not options.paths:
            parts["figures"] = []
        for part, paths in parts.items():
            marks = ["-m", "long" if part == "figures" else "not long and not soak", "--ignore=tests/mutation"]
            marks += ["-n", str(options.workers)]
            log = ROOT / OUT / f"{machine.name}.log"
            passed, failed, seconds = tested(sys.executable, [*marks, *paths], log, machine.variables)
            failures += failed
            print(f"{machine.name:<14}{part:<12}{passed:>7}{failed:>7}{seconds:>9.0f}", flush=True)
    if options.short and ran < 2:
        print(f"only {ran} kernels differ from the host's")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
