"""Random mutants: which share of random changes of behaviour do the tests catch?

    python tests/mutation/random_mutants.py map                  which tests run which lines (once, some minutes)
    python tests/mutation/random_mutants.py run --n 400 --seed 1 plant mutants, run the tests of their lines, report

A mutant is one small change at a random place of the source: another operator, a constant moved, a comparison turned, a
condition negated, two arguments swapped, an index moved, a statement left out. Places that cannot change what is
computed are left out: docstrings, annotations, decorators, error sentences, representations. A mutant is caught if one
of the tests that run its line fails. Lines of compiled functions are not seen while tests run, so that such a function
belongs to the tests of every function that calls it; mutants in it run with compilation off.

The tests of a mutant run in a forked process, the fastest first, until one fails. A mutant whose tests all pass, or
that exceeds its time (a loop that does not end counts as caught: the test would never pass), is listed with its line.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "bayesrl"
MAP = ROOT / ".mutants.json"
LEFT_OUT = ("lab/plots", "testing/", "cli", "_lazy", "__main__", "_version", "errors.py", "lab/catalogue.py")
"""Parts whose output is prose, pictures or tests."""
SECONDS = 60
"""Time of one mutant's tests."""
MOST = 40
"""Tests that are run for one mutant at most, the fastest first."""

SWAPS: dict[type, tuple[type, ...]] = {
    ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Div,), ast.Div: (ast.Mult,), ast.Pow: (ast.Mult,),
    ast.FloorDiv: (ast.Div,), ast.Mod: (ast.FloorDiv,), ast.MatMult: (),
    ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.Lt), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.And: (ast.Or,), ast.Or: (ast.And,),
    ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
    ast.BitAnd: (ast.BitOr,), ast.BitOr: (ast.BitAnd,),
}  # fmt: skip
NAMES = {"min": "max", "max": "min", "argmin": "argmax", "argmax": "argmin", "any": "all", "all": "any",
         "minimum": "maximum", "maximum": "minimum", "cumsum": "sort", "zeros": "ones", "ones": "zeros",
         "floor": "ceil", "ceil": "floor", "first": "last", "log": "exp", "exp": "log", "sqrt": "abs"}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change of one module's source."""

    module: str
    file: str
    line: int
    function: str
    old: str
    new: str
    start: int
    """Where the old text begins in the source, in characters."""
    compiled: bool

    @property
    def name(self) -> str:
        """A line for the table."""
        return f"{self.file}:{self.line} `{_short(self.old)}` -> `{_short(self.new)}`"


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:57] + "..."


# Places --------------------------------------------------------------------------------------------------------------


class Places(ast.NodeVisitor):
    """All mutants of one module."""

    def __init__(self, file: Path) -> None:
        self.text = file.read_text()
        self.file = str(file.relative_to(SOURCE))
        self.module = "bayesrl." + self.file[:-3].replace("/", ".").removesuffix(".__init__")
        self.starts = [0]
        for line in self.text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.inside: list[str] = []
        self.compiled = False
        self.found: list[Mutant] = []
        self.visit(ast.parse(self.text))

    def offset(self, line: int, column: int) -> int:
        """Characters before a place, whose column counts bytes."""
        start = self.starts[line - 1]
        row = self.text[start : self.starts[line]]
        return start + len(row.encode()[:column].decode())

    def put(self, node: ast.AST, new: str) -> None:
        """The mutant in which this node reads otherwise."""
        start = self.offset(node.lineno, node.col_offset)
        old = self.text[start : self.offset(node.end_lineno, node.end_col_offset)]
        if self.inside and old != new:
            here = ".".join(self.inside)
            self.found.append(Mutant(self.module, self.file, node.lineno, here, old, new, start, self.compiled))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.name in ("__repr__", "__reduce__", "__getstate__", "__setstate__", "__str__", "_example"):
            return
        names = [ast.unparse(d) for d in node.decorator_list]
        before = self.compiled
        self.compiled = before or any(n.startswith(("njit", "inlined", "numba.njit", "implements")) for n in names)
        self.inside.append(node.name)
        for default in [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]:
            self.visit(default)
        for statement in node.body:
            self.statement(statement)
        self.inside.pop()
        self.compiled = before

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.inside.append(node.name)
        for statement in node.body:
            self.statement(statement)
        self.inside.pop()

    def statement(self, node: ast.stmt) -> None:
        """A statement and what is in it."""
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return  # a docstring
        if isinstance(node, (ast.Raise, ast.Assert, ast.Import, ast.ImportFrom)):
            return
        if isinstance(node, ast.AugAssign) and len(self.inside) > 1:
            self.put(node, "pass")
        if isinstance(node, ast.If) and any(isinstance(s, ast.Raise) for s in node.body) and len(node.body) == 1:
            self.visit(node.test)
            return
        self.visit(node)

    def generic_visit(self, node: ast.AST) -> None:
        for _, value in ast.iter_fields(node):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.stmt):
                    self.statement(child)
                elif isinstance(child, ast.AST):
                    self.visit(child)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if not any(isinstance(side, (ast.JoinedStr, ast.Constant)) and isinstance(getattr(side, "value", ""), str)
                   for side in (node.left, node.right)):  # fmt: skip
            for other in SWAPS.get(type(node.op), ()):
                self.put(node, f"({ast.unparse(ast.BinOp(node.left, other(), node.right))})")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        for other in SWAPS[type(node.op)]:
            self.put(node, f"({ast.unparse(ast.BoolOp(other(), node.values))})")
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for other in SWAPS.get(type(node.ops[0]), ()):
            self.put(node, f"({ast.unparse(ast.Compare(node.left, [other(), *node.ops[1:]], node.comparators))})")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, (ast.USub, ast.Not, ast.Invert)):
            self.put(node, f"({ast.unparse(node.operand)})")
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.put(node, f"({ast.unparse(ast.IfExp(node.test, node.orelse, node.body))})")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        x = node.value
        if isinstance(x, bool):
            self.put(node, str(not x))
        elif isinstance(x, int):
            self.put(node, str(x + 1))
        elif isinstance(x, float):
            self.put(node, repr(2.0 * x if x else 1.0))

    def visit_Call(self, node: ast.Call) -> None:
        called = node.func
        name = called.id if isinstance(called, ast.Name) else called.attr if isinstance(called, ast.Attribute) else ""
        if name in ("InvalidArgument", "Annotated", "field", "register", "isinstance", "cast"):
            return
        if name in NAMES and NAMES[name] != "last":
            other = ast.Name(NAMES[name]) if isinstance(called, ast.Name) else ast.Attribute(called.value, NAMES[name])
            self.put(called, ast.unparse(other))
        if len(node.args) == 2 and not node.keywords and not any(isinstance(a, ast.Starred) for a in node.args):
            self.put(node, ast.unparse(ast.Call(node.func, node.args[::-1], [])))
        self.generic_visit(node)


def places() -> list[Mutant]:
    """All mutants of the library."""
    files = sorted(p for p in SOURCE.rglob("*.py") if not any(part in str(p.relative_to(SOURCE)) for part in LEFT_OUT))
    return [mutant for file in files for mutant in Places(file).found]


# Which tests run which lines -----------------------------------------------------------------------------------------


def write_map() -> None:
    """Run the suite once with coverage, a context for each test, and keep which tests run which lines, and how long."""
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch, "times.json")
        settings = Path(scratch, "coverage.ini")
        settings.write_text(f"[run]\ndynamic_context = test_function\nsource = {SOURCE}\ndata_file = {scratch}/data\n")
        command = [sys.executable, "-m", "coverage", "run", f"--rcfile={settings}", "-m", "pytest", "-q",
                   "-p", "random_mutants_times", "--ignore", "tests/mutation", "-p", "no:cacheprovider"]  # fmt: skip
        there = os.environ | {"PYTHONPATH": f"{HERE_PATH}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
        subprocess.run(command, cwd=ROOT, env=there | {"BAYESRL_TIMES": str(report)}, check=False)
        from coverage import CoverageData

        data = CoverageData(f"{scratch}/data")
        data.read()
        lines: dict[str, dict[int, list[str]]] = {}
        for file in data.measured_files():
            found = data.contexts_by_lineno(file)
            lines[str(Path(file).relative_to(SOURCE))] = {n: sorted(set(c) - {""}) for n, c in found.items()}
        times = json.loads(report.read_text())
    MAP.write_text(json.dumps({"lines": lines, "times": times}))
    print(f"{len(times)} tests, {len(lines)} files")


HERE_PATH = str(Path(__file__).parent)


class Coverage:
    """The map: which tests run a line, and how long each takes."""

    def __init__(self) -> None:
        page = json.loads(MAP.read_text())
        self.times: dict[str, float] = page["times"]
        by_function: dict[str, list[str]] = defaultdict(list)
        for test in self.times:
            by_function[_function_of(test)].append(test)
        self.tests = by_function
        self.lines = {file: {int(n): c for n, c in rows.items()} for file, rows in page["lines"].items()}
        self.callers = _callers()

    def of(self, mutant: Mutant) -> list[str]:
        """The tests that run a mutant's line, the fastest first."""
        contexts = set(self.lines.get(mutant.file, {}).get(mutant.line, []))
        if mutant.compiled or not contexts:
            for file, first, last in self.callers.get(mutant.function.split(".")[-1], ()):
                for n in range(first, last + 1):
                    contexts |= set(self.lines.get(file, {}).get(n, []))
        tests = {test for context in contexts for test in self.tests.get(context, [])}
        return sorted(tests, key=lambda test: self.times[test])


def _function_of(test: str) -> str:
    """tests/a/test_b.py::test_c[x] -> test_b.test_c, which is how coverage names it."""
    path, *names = test.split("[")[0].split("::")
    return ".".join([Path(path).stem, *names])


def _callers() -> dict[str, list[tuple[str, int, int]]]:
    """For each name of a function the plain functions (file, first line, last line) that reach it through compiled ones."""
    compiled: dict[str, set[str]] = defaultdict(set)
    plain: dict[str, list[tuple[str, int, int]]] = defaultdict(list)
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef):
                named = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
                named |= {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}
                decorators = " ".join(ast.unparse(d) for d in node.decorator_list)
                if "njit" in decorators or "inlined" in decorators or "implements" in decorators:
                    for name in named:
                        compiled[name].add(node.name)
                    for d in node.decorator_list:  # an implementation is reached through its operation
                        if isinstance(d, ast.Call) and d.args and isinstance(d.args[0], ast.Name):
                            compiled[node.name].add(d.args[0].id)
                else:
                    for name in named:
                        plain[name].append((str(file.relative_to(SOURCE)), node.lineno, node.end_lineno or node.lineno))
    reached: dict[str, list[tuple[str, int, int]]] = {}
    for name in {*compiled, *plain}:
        todo, seen = [name], {name}
        while todo:
            for other in compiled.get(todo.pop(), ()):
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        reached[name] = [place for one in seen for place in plain.get(one, ())]
    return reached


# Running -------------------------------------------------------------------------------------------------------------


def attempt(mutant: Mutant, tests: list[str]) -> str:
    """caught, survived, endless, or broken: what the tests say of a mutant."""
    order = {"module": mutant.module, "start": mutant.start, "old": mutant.old, "new": mutant.new}
    there = os.environ | {
        "BAYESRL_MUTANT": json.dumps(order),
        "PYTHONPATH": f"{HERE_PATH}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    if mutant.compiled:
        there["NUMBA_DISABLE_JIT"] = "1"
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "plugin", "-p", "no:cacheprovider", *tests]
    child = subprocess.Popen(
        command, cwd=ROOT, env=there, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        code = child.wait(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        return "endless"
    return {0: "survived", 1: "caught", 99: "broken"}.get(code, "caught")


def run(n: int, seed: int, workers: int) -> None:
    """Plant n random mutants and say which share was caught, with its 95% interval (Wilson)."""
    coverage, pool = Coverage(), places()
    chosen = random.Random(seed).sample(pool, min(n, len(pool)))
    began = time.perf_counter()

    def judge(mutant: Mutant) -> tuple[Mutant, str, int]:
        tests = coverage.of(mutant)
        return mutant, attempt(mutant, tests[:MOST]) if tests else "no test runs it", len(tests)

    count: dict[str, int] = defaultdict(int)
    with ThreadPoolExecutor(workers) as at_work:
        for done, (mutant, verdict, tests) in enumerate(at_work.map(judge, chosen), 1):
            count[verdict] += 1
            if verdict != "caught":
                print(f"{verdict:16} {tests:4} tests  {mutant.function:30} {mutant.name}", flush=True)
            if done % 50 == 0:
                print(f"# {done} done, {dict(count)}, {time.perf_counter() - began:.0f} s", flush=True)
    caught, total = count["caught"] + count["endless"], sum(count.values())
    low, high = wilson(caught, total)
    print(
        f"{caught} of {total} caught: {caught / total:.1%} [{low:.1%}, {high:.1%}], of {len(pool)} mutants, seed {seed}"
    )


def wilson(k: int, n: int, z: float = 1.96) -> tuple[float, float]:
    """The 95% interval of a share."""
    p, d = k / n, 1.0 + z * z / n
    half = z * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5
    return (p + z * z / (2 * n) - half) / d, (p + z * z / (2 * n) + half) / d


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("map", "run", "count"))
    parser.add_argument("--n", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    if given.what == "map":
        write_map()
    elif given.what == "count":
        print(len(places()))
    else:
        run(given.n, given.seed, given.workers)
