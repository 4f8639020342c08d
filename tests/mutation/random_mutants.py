"""Random mutants: which share of random changes of behaviour do the tests catch?

    python tests/mutation/random_mutants.py map                   which tests run which blocks (once, some minutes)
    python tests/mutation/random_mutants.py run --n 100 --seed 1  plant mutants, run their tests, report
    python tests/mutation/random_mutants.py again --seed 1        those that were not caught once more, from the start

A part of the library is sampled by `map --tests WORD ...` (tests whose names have one of these words) and `run --only
WORD ...` (files whose names have one of these words).

A mutant is one small change at a random place of the source: another operator, a constant moved, a comparison turned, a
condition negated, two arguments swapped, a statement left out. Every place has the same chance. Docstrings, annotations,
decorators, error sentences, representations, pictures and the laws themselves are left out. A mutant is caught if a
test that runs its block fails, or does not end. Golden traces are not among the tests: they say that something has
changed, not that it is wrong.

Runs are without compilation, so that a change of a compiled function is seen at once. One process has collected all
tests and forks a child for each mutant; the child gives the function its changed code and runs the tests of its block,
the fastest of each test function first, until one fails; examples of the documentation come last. What is read at
import (defaults, constants) is planted in a process that has not yet imported the library. Those that no test has
caught within six seconds are judged in a second round, one minute each (`--budget`), by the tests that were not run yet,
the slow ones among them. Clocks count processor time, so that a busy machine changes no verdict.

The share is that of the mutants that change behaviour. random_mutants_equivalent.json lists the mutants that were
looked at and cannot change it, each with its reason.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from queue import Queue
from tempfile import TemporaryDirectory

from random_mutants_places import ROOT, Mutant, modules

HERE = Path(__file__).parent
MAP = ROOT / ".mutants.json"
EQUIVALENT = HERE / "random_mutants_equivalent.json"
LIMIT = 2.5
"""Seconds of processor time, without compilation, above which a test is used last."""
TEXT = ("test_structure", "test_notation", "test_references", "test_figures_agree", "test_errata", "test_planted_bugs",
        "test_evidence_of_a_name", "test_import_time", "test_version", "test_methods")  # fmt: skip
"""Tests that read text or start processes of their own."""
EXAMPLES = ("tests/docs/test_doctests.py", "tests/docs/test_snippets.py")
"""Tests of values printed in the documentation: they run after the others, and are counted apart."""
FEW = 5
"""Tests of a changed function below which those of its callers are taken too."""
STATED = ("tests/docs/test_catalogue.py::test_catalogue_is_up_to_date", "tests/test_defaults.py",
          "tests/test_limits.py::test_limits")  # fmt: skip
"""Run for every mutant that is read at import: they state the defaults and the limits."""
SLOW = 1e6
"""What the map says of a test above the limit: its blocks are those of its first seconds."""
CAUGHT = ("caught", "endless")
"""Verdicts that count as caught; all others count as missed."""
BUDGET, MORE = 6, 60
"""Seconds of processor time for the tests of one mutant, in the first round and in the second."""
SLOW_TESTS = 3
"""Tests above the limit that are run for a mutant in the second round, with compilation."""
COMPILED = 240
"""Seconds of processor time for them, compilation included."""
AT_IMPORT = 25
"""Tests of a mutant that is planted before the import; their files have to be collected again."""


class Server:
    """A process with all tests collected; see random_mutants_server.py."""

    def __init__(self, blocks: bool = False) -> None:
        orders_out, orders_in = os.pipe()
        answers_out, answers_in = os.pipe()
        there = os.environ | {
            "PYTHONPATH": f"{HERE}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "NUMBA_DISABLE_JIT": "1",
            "BAYESRL_ORDERS": str(orders_out),
            "BAYESRL_ANSWERS": str(answers_in),
        }
        if blocks:
            there["BAYESRL_BLOCKS"] = "1"
        command = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "random_mutants_server", "-p", "no:cacheprovider",
                   "--ignore", "tests/mutation", "--ignore", "tests/golden"]  # fmt: skip
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=there, stdout=subprocess.DEVNULL, pass_fds=(orders_out, answers_in)
        )
        os.close(orders_out)
        os.close(answers_in)
        self.orders, self.answers = os.fdopen(orders_in, "w"), os.fdopen(answers_out)
        first = json.loads(self.answers.readline())
        self.tests: list[str] = first["tests"]
        self.keys: list[str] = first["keys"]

    def ask(self, **order: object) -> dict:
        """One order, one answer."""
        print(json.dumps(order), file=self.orders, flush=True)
        return json.loads(self.answers.readline())

    def close(self) -> None:
        """End the process."""
        self.orders.close()
        self.process.wait()


class Zygote:
    """A process that has not imported the library; see zygote.py."""

    def __init__(self) -> None:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen([sys.executable, str(HERE / "zygote.py")], cwd=ROOT, **pipes)

    def ask(self, mutant: dict, tests: list[str]) -> dict:
        """The verdict of these tests."""
        began = time.monotonic()
        order = {"first": [], "mutant": mutant, "tests": tests, "seconds": 120}
        print(json.dumps(order), file=self.process.stdin, flush=True)
        done = json.loads(self.process.stdout.readline())
        verdict = {0: "survived", 99: "not planted"}.get(done["code"], "endless" if done["code"] < 0 else "caught")
        said = [line for line in done["said"].splitlines() if line.startswith(("FAILED", "ERROR"))]
        test = said[0].split(" - ")[0].split(" ", 1)[1] if said else done["said"][-200:]
        return {"verdict": verdict, "test": test, "ran": len(tests), "wall": time.monotonic() - began}

    def close(self) -> None:
        """End the process."""
        self.process.stdin.close()
        self.process.wait()


@contextmanager
def pool(made: list) -> Iterator[Queue]:
    """Helpers that threads take and put back; all are closed at the end."""
    free: Queue = Queue()
    for one in made:
        free.put(one)
    try:
        yield free
    finally:
        for one in made:
            for part in one if isinstance(one, tuple) else (one,):
                part.close()


# Which tests run which blocks ----------------------------------------------------------------------------------------


def write_map(workers: int, only: list[str]) -> None:
    """Run every test once, in a child of its own, and keep which blocks it runs, and how long it takes.

    `only` restricts the tests to those whose names have one of these words. Tests that are in the map already are not
    run again. Blocks of a function that has changed since are not told apart.
    """
    hashes = {f"{page.file}:{name}": value for page in modules() for name, value in page.hashes.items()}
    old = json.loads(MAP.read_text()) if MAP.exists() else {"tests": {}, "hashes": {}}
    if old["tests"]:
        hashes = {key: value if old["hashes"].get(key) == value else "changed" for key, value in hashes.items()}
    with ThreadPoolExecutor(workers) as at_work:
        servers = list(at_work.map(lambda _: Server(blocks=True), range(workers)))
    known = {name: row for name, row in old["tests"].items() if name in set(servers[0].tests)}
    wanted = [name for name in servers[0].tests if not only or any(word in name for word in only)]
    todo = [name for name in wanted if name not in known and not any(part in name for part in TEXT)]
    random.Random(0).shuffle(todo)
    began = time.perf_counter()
    with pool(servers) as free, ThreadPoolExecutor(workers) as at_work:

        def look(name: str) -> tuple[str, dict]:
            server = free.get()
            answer = server.ask(tests=[[name, 0.0]], mutant=None, budget=1e9, limit=LIMIT)
            free.put(server)
            hits = sorted({server.keys[n] for n in answer.get("hits", [])})
            good = answer["verdict"] == "survived"
            return name, {"hits": hits, "seconds": answer["seconds"] if good else None, "verdict": answer["verdict"]}

        for done, future in enumerate(as_completed([at_work.submit(look, name) for name in todo]), 1):
            name, row = future.result()
            known[name] = row
            if done % 100 == 0:
                print(f"# {done} of {len(todo)}, {time.perf_counter() - began:.0f} s", flush=True)
                save(known, hashes)
    with pool([Server()]) as free:  # some tests fail only because there are reports in the source
        server = free.get()
        for name, row in known.items():
            if row["verdict"] == "caught":
                answer = server.ask(tests=[[name, 0.0]], mutant=None, budget=1e9, limit=LIMIT)
                if answer["verdict"] == "survived":
                    row.update(verdict="survived", seconds=answer["seconds"])
    save(known, hashes)
    print(Counter(row["verdict"] for row in known.values()))


def save(tests: dict, hashes: dict) -> None:
    """Write the map."""
    MAP.write_text(json.dumps({"tests": tests, "hashes": hashes}))


class Coverage:
    """The map: which tests run a block, and how long each takes."""

    def __init__(self) -> None:
        page = json.loads(MAP.read_text())
        rows = {name: row for name, row in page["tests"].items() if row["verdict"] in ("survived", "endless")}
        self.seconds = {name: row["seconds"] or SLOW for name, row in rows.items()}
        self.blocks: dict[str, set[str]] = defaultdict(set)
        for name, row in rows.items():
            for key in row["hits"]:
                outer = key.split("#")[0]
                for part in {key, outer, *outer.split(":")}:
                    self.blocks[part].add(name)
                owner = outer.rpartition(".")[0]
                if ":" in owner:
                    self.blocks[owner].add(name)
        self.hashes = page["hashes"]
        pages = modules()
        self.now = {f"{p.file}:{name}": value for p in pages for name, value in p.hashes.items()}
        self.names = {f"{p.file}:{name}": names for p in pages for name, names in p.names.items()}

    def of(self, mutant: Mutant) -> list[str]:
        """The tests that run a mutant's block (its function, if that has changed since), the fastest of each first."""
        outer = f"{mutant.file}:{mutant.outer}"
        if mutant.block >= 0 and self.hashes.get(outer) == self.now.get(outer):
            found = self.blocks.get(f"{outer}#{mutant.block}", set())
        else:
            found = self.blocks.get(outer, set()) | self.blocks.get(mutant.outer, set())  # also where it was before
            if len(found) < FEW:  # the map may know it by another name
                found = found | self.of_callers(mutant.outer)
            found = found or self.blocks.get(outer.rpartition(".")[0]) or self.blocks.get(mutant.file, set())
        rank: Counter[str] = Counter()
        order = []
        for name in sorted(found, key=lambda name: self.seconds[name]):
            function = name.split("[")[0]
            slow, example = self.seconds[name] == SLOW, name.startswith(EXAMPLES)
            apart = name.split("/")[1] != mutant.file.split("/")[0]
            order.append((slow, example, apart, rank[function], self.seconds[name], name))
            rank[function] += 1
        return [name for *_, name in sorted(order)]

    def of_callers(self, outer: str) -> set[str]:
        """The tests of the nearest functions that name this one."""
        near = {outer.split(".")[-1]}
        for _ in range(4):
            near = {caller for caller, names in self.names.items() if near & names}
            found = set().union(*(self.blocks.get(caller, set()) for caller in near))
            if found:
                return found
            near = {caller.split(":")[1].split(".")[-1] for caller in near}
        return set()


# Running -------------------------------------------------------------------------------------------------------------


def results(seed: int) -> Path:
    """Where the verdicts of a sample are kept."""
    return ROOT / "out" / f"mutants-{seed}.json"


def judge_all(
    chosen: list[Mutant], workers: int, budget: float, after: dict[str, int]
) -> Iterator[tuple[Mutant, dict]]:
    """Verdicts on mutants. In the second round `after` says how many tests each mutant has passed already.

    In the second round some tests above the limit are run too, with compilation.
    """
    coverage, slow = Coverage(), SLOW_TESTS if after else 0
    with ThreadPoolExecutor(workers) as at_work:
        made = list(at_work.map(lambda _: (Server(), Zygote()), range(workers)))
    known = set(made[0][0].tests)
    with pool(made) as free, ThreadPoolExecutor(workers) as at_work:

        def judge(mutant: Mutant) -> dict:
            tests = [name for name in coverage.of(mutant) if name in known]
            reached = bool(tests)
            # what is computed once and kept has no tests of its own: those of its module may see it
            tests = tests or [name for name in coverage.of(replace(mutant, block=-1)) if name in known]
            if not tests:
                return {"verdict": "no test runs it", "ran": 0, "of": 0}
            server, zygote = free.get()
            order, done = {**mutant.__dict__}, after.get(mutant.name, 0)
            try:
                timed = [[name, coverage.seconds[name]] for name in tests if coverage.seconds[name] < SLOW]
                if reached and mutant.block >= 0:
                    answer = server.ask(tests=timed[done:], mutant=order, budget=budget, patience=1 + 4 * bool(slow))
                if not reached or mutant.block < 0 or answer["verdict"] == "not planted":
                    done, names = 0, [name for name, _ in timed[: AT_IMPORT * (1 + slow)]]
                    answer = zygote.ask(order, [*STATED, *names])
                elif answer["verdict"] in ("survived", "not all"):
                    late = tests[len(timed) :][:slow]
                    failed = compiled(order, late) if late else None
                    answer = answer if failed is None else {**answer, "verdict": "caught", "test": failed}
            finally:
                free.put((server, zygote))
            return {**answer, "ran": done + answer["ran"], "of": len(tests)}

        yield from zip(chosen, at_work.map(judge, chosen), strict=True)


def compiled(mutant: dict, tests: list[str]) -> str | None:
    """The first of these tests that fails if the mutant is planted and everything compiled anew."""
    with TemporaryDirectory() as kept:
        new = {"BAYESRL_MUTANT": json.dumps(mutant), "NUMBA_CACHE_DIR": kept, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
               "PYTHONPATH": f"{HERE}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}  # fmt: skip
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "plugin", "-p", "no:cacheprovider", *tests]
        clock = partial(resource.setrlimit, resource.RLIMIT_CPU, (COMPILED, COMPILED))
        done = subprocess.run(command, cwd=ROOT, env=os.environ | new, capture_output=True, text=True, preexec_fn=clock)
    said = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return said[0].split(" - ")[0].split(" ", 1)[1] if done.returncode == 1 and said else None


def run(n: int, seed: int, workers: int, budget: float, only: list[str]) -> None:
    """Plant n random mutants and say which share was caught; `only` restricts the files to those with these words."""
    places = [m for page in modules() for m in page.found if not only or any(word in m.file for word in only)]
    chosen = random.Random(seed).sample(places, min(n, len(places)))
    rows, began = [], time.perf_counter()
    for mutant, answer in judge_all(chosen, workers, BUDGET, {}):
        rows.append({**mutant.__dict__, "name": mutant.name, **answer, "hits": None})
        show(rows[-1])
        keep(seed, rows)
        if len(rows) % 50 == 0:
            print(f"# {len(rows)} done, {time.perf_counter() - began:.0f} s", flush=True)
    print(f"{len(places)} places, seed {seed}, first round")
    summary(rows)
    if budget:
        again(seed, workers, budget, resume=True)


def again(seed: int, workers: int, budget: float, resume: bool = False) -> None:
    """The second round: judge those that were not caught, on the code as it is now, with the tests that are left."""
    rows = json.loads(results(seed).read_text())
    now = {mutant.name: mutant for page in modules() for mutant in page.found}
    known = reasons()
    left = {row["name"]: row for row in rows if row["verdict"] not in CAUGHT and row["name"] not in known}
    chosen = [now[name] for name in left if name in now]
    after = {
        name: row["ran"] if resume and row["verdict"] in ("survived", "not all") else 0 for name, row in left.items()
    }
    for mutant, answer in judge_all(chosen, workers, budget, after):
        left[mutant.name].update({**answer, "hits": None})
        show(left[mutant.name])
        keep(seed, rows)
    summary(rows)


def keep(seed: int, rows: list[dict]) -> None:
    """Write the verdicts."""
    results(seed).parent.mkdir(exist_ok=True)
    results(seed).write_text(json.dumps(rows, indent=1))


def show(row: dict) -> None:
    """A line for a mutant that was not caught."""
    if row["verdict"] not in CAUGHT:
        print(f"{row['verdict']:16}{row['ran']:4} of {row['of']:4} {row['line']:4} {row['name']}", flush=True)


def reasons() -> dict[str, str]:
    """The mutants that cannot change behaviour, and why."""
    return json.loads(EQUIVALENT.read_text()) if EQUIVALENT.exists() else {}


def summary(rows: list[dict]) -> None:
    """Which share of the mutants that change behaviour was caught, with its 95% interval (Wilson)."""
    known = reasons()
    missed = [row for row in rows if row["verdict"] not in CAUGHT]
    survived = [row for row in missed if row["name"] not in known]
    caught = len(rows) - len(missed)
    total = caught + len(survived)
    low, high = wilson(caught, total)
    print(f"{len(rows)} mutants, {len(missed) - len(survived)} of them cannot change behaviour")
    shown = sum(row["verdict"] == "caught" and str(row["test"]).startswith(EXAMPLES) for row in rows)
    print(f"{shown} were caught by examples of the documentation alone")
    print(f"{caught} of {total} caught: {caught / total:.1%}, 95% interval {low:.1%} to {high:.1%}")


def wilson(k: int, n: int, z: float = 1.96) -> tuple[float, float]:
    """The 95% interval of a share."""
    p, d = k / n, 1.0 + z * z / n
    half = z * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5
    return (p + z * z / (2 * n) - half) / d, (p + z * z / (2 * n) + half) / d


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("map", "run", "again", "count"))
    parser.add_argument("--n", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--budget", type=float, default=MORE, help="seconds for a mutant in the second round; 0: none")
    parser.add_argument("--only", nargs="*", default=[], help="words of the names of files; others are left out")
    parser.add_argument(
        "--tests", nargs="*", default=[], help="words of the names of tests in the map; others are left out"
    )
    given = parser.parse_args()
    if given.what == "map":
        write_map(given.workers, given.tests)
    elif given.what == "count":
        print(sum(len(page.found) for page in modules()))
    elif given.what == "again":
        again(given.seed, given.workers, given.budget)
    else:
        run(given.n, given.seed, given.workers, given.budget, given.only)
