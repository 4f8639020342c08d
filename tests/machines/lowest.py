"""Run a part of the tests with the lowest versions that `pyproject.toml` allows, and with the newest on later Pythons.

    python tests/machines/lowest.py [--only NAME ...] [--workers N] [PATH ...]

Each set-up has an environment of its own in build/lowest, with its own compiled code. A Python that is not here, or
that does not start, is named and skipped. PATH are tests to run instead of the default ones. The exit status is 1 if
a test fails.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tomllib

from machines import ROOT, tested

OUT = ROOT / "build" / "lowest"
SETUPS = {"3.11-lowest": "3.11", "3.12-newest": "3.12", "3.13-newest": "3.13"}
RUNNERS = ("pytest", "pytest-xdist", "hypothesis")
"""What the tests need of the extra `dev`."""
SMOKE = [
    "tests/golden",
    "tests/test_core.py",
    "tests/test_registry.py",
    "tests/test_version.py",
    "tests/test_randomness.py",
    "tests/docs/test_doctests.py",
    "tests/bandits/test_simulate.py",
    "tests/bamdp/offline/test_exact.py",
    "tests/beliefs/pomdp/test_pomdp_filter.py",
    "tests/value/test_contract.py",
    "tests/cli",
]
CONE = "tests/docs/test_doctests.py::test_docstring[bayesrl.risk.percentile_rewards.PercentileRewards]"
"""The docstring that needs the extra `cone`, which is not installed here."""


def requirements(lowest: bool) -> list[str]:
    """The requirements of the core, of the extra `lab` and of the tests; `lowest` fixes each at its lower bound."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    found = project["dependencies"] + extras["lab"]
    found += [line for line in extras["dev"] if re.match(r"[\w-]+", line)[0] in RUNNERS]
    bounds = [re.match(r"([\w-]+)>=([\w.]+)", line).groups() for line in found]
    return [f"{name}=={bound}" for name, bound in bounds] if lowest else found


def interpreter(version: str) -> str:
    """A Python of this version that starts; empty if there is none."""
    command = shutil.which(f"python{version}") or ""
    starts = command and subprocess.run([command, "-c", ""], capture_output=True, check=False).returncode == 0
    return command if starts else ""


def install(name: str, python: str) -> str:
    """An environment with the library and its requirements; made again when the requirements change."""
    home = OUT / name
    wanted = "\n".join(requirements(lowest=name.endswith("lowest"))) + "\n"
    listed = OUT / f"{name}.txt"
    if not (home / "installed").exists() or not listed.exists() or listed.read_text() != wanted:
        subprocess.run([python, "-m", "venv", "--clear", home], check=True)
        listed.write_text(wanted)
        pip = [home / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "-r", listed, "-e", ROOT], check=True)
        (home / "installed").touch()
    return str(home / "bin" / "python")


def main() -> int:
    """Run the set-ups in turns, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", metavar="NAME", choices=SETUPS, help="these set-ups")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("paths", nargs="*", metavar="PATH", help="tests to run")
    options = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    print(f"{'set-up':<14}{'passed':>7}{'failed':>7}{'seconds':>9}")
    failures = 0
    for name in options.only or SETUPS:
        command = interpreter(SETUPS[name])
        if not command:
            print(f"{name:<14}skipped: there is no Python {SETUPS[name]} here", flush=True)
            continue
        python = install(name, command)
        flags = ["-n", str(options.workers), "-m", "not long", "--deselect", CONE]
        if name.endswith("lowest"):  # old packages call what is deprecated in the newest of their own requirements
            flags += ["-W", "ignore::DeprecationWarning", "-W", "ignore::PendingDeprecationWarning"]
        variables = {"NUMBA_CACHE_DIR": str(OUT / f"{name}-compiled")}
        passed, failed, seconds = tested(python, [*flags, *(options.paths or SMOKE)], OUT / f"{name}.log", variables)
        failures += failed
        print(f"{name:<14}{passed:>7}{failed:>7}{seconds:>9.0f}", flush=True)
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
