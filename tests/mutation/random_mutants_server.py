"""A pytest plugin: a process that has collected all tests and forks a child for each order.

An order is a line of JSON: {"tests": [[name, usual seconds], ...], "mutant": {...} or null, "budget": seconds}. The
child plants the mutant in the functions as they stand in memory and runs the tests in turn until one fails. The answer
is a line of JSON: {"verdict": ..., "test": the last one, "ran": how many, "seconds": ..., "hits": [...]}.

The verdict is "caught" (a test failed, or died), "endless" (a test took ten times its usual processor time, and ten
seconds), "survived" (all passed), "not all" (all that ran passed, then the budget was spent), "silent" (nothing was heard
for long, or the child was killed, which may be the fault of a busy machine) or "not planted".
With BAYESRL_BLOCKS the sources are read with a report in each block, and an answer says which blocks were run.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import gc
import importlib
import importlib.abc
import importlib.machinery
import json
import os
import pkgutil
import resource
import select
import signal
import sys
import time
from collections import defaultdict
from pathlib import Path
from types import CodeType, FunctionType

import hypothesis
from random_mutants_places import SOURCE, Blocks

hypothesis.settings.register_profile("mutants", database=None)
hypothesis.settings.load_profile("mutants")

HITS: set[int] = set()
KEYS: list[str] = []
FUNCTIONS: dict[str, list[FunctionType]] = defaultdict(list)
MEMORY = 8 << 30


class Loader(importlib.machinery.SourceFileLoader):
    """Reads a module with a report in each block."""

    def get_code(self, fullname):
        tree = ast.parse(Path(self.path).read_text())
        blocks = Blocks(tree, instrument=len(KEYS))
        KEYS.extend(f"{Path(self.path).relative_to(SOURCE)}:{key}" for key in blocks.keys)
        return compile(ast.fix_missing_locations(tree), self.path, "exec")


class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, fullname, path, target=None):
        if not fullname.startswith("bayesrl"):
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        if spec is not None and spec.origin:
            spec.loader = Loader(fullname, spec.origin)
        return spec


if "BAYESRL_BLOCKS" in os.environ:
    builtins.__hit__ = HITS.add
    sys.meta_path.insert(0, Finder())


def codes_of(code: CodeType, name: str) -> list[CodeType]:
    """The code objects of all functions of this qualified name, in the order of the source."""
    inside = [c for c in code.co_consts if isinstance(c, CodeType)]
    here = [c for c in inside if c.co_qualname == name and c.co_flags & 2]
    return here + [found for c in inside if c not in here for found in codes_of(c, name)]


def inside(codes: list[CodeType]) -> list[CodeType]:
    """These code objects and all that they hold."""
    return [c for code in codes for c in (code, *inside([x for x in code.co_consts if isinstance(x, CodeType)]))]


def plant(mutant) -> bool:
    """Give the functions in memory the code of the changed source."""
    path = SOURCE / mutant["file"]
    source, start, old = path.read_text(), mutant["start"], mutant["old"]
    if source[start : start + len(old)] != old:
        return False
    changed = source[:start] + mutant["new"] + source[start + len(old) :]
    before = codes_of(compile(source, str(path), "exec"), mutant["outer"])
    after = codes_of(compile(changed, str(path), "exec"), mutant["outer"])
    planted = False
    if len(inside(before)) != len(inside(after)):
        return False
    for was, now in zip(inside(before), inside(after), strict=True):  # also functions that a decorator made at import
        for f in FUNCTIONS.get(was.co_qualname, ()) if was != now else ():
            if f.__code__.co_firstlineno == was.co_firstlineno and f.__code__.co_filename == str(path):
                f.__code__ = now
                planted = True
    return planted


def perform(session, items, order, answer) -> None:
    """In the child: plant, run, say."""
    from _pytest.runner import runtestprotocol

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    say = lambda **what: os.write(answer, (json.dumps(what) + "\n").encode())  # noqa: E731
    if order["mutant"] and not plant(order["mutant"]):
        say(verdict="not planted")
        return
    HITS.clear()
    began = time.process_time()

    def over(signum, frame):
        say(verdict="endless", hits=sorted(HITS))
        os._exit(0)

    for i, (name, usual) in enumerate(order["tests"]):
        if time.process_time() - began > order["budget"]:
            say(verdict="not all", ran=i)
            return
        say(start=i)
        signal.signal(signal.SIGPROF, over if not order["mutant"] else signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, order.get("limit") or 10 + 10 * usual)
        failed = [r for r in runtestprotocol(items[name], log=False, nextitem=None) if r.failed]
        signal.setitimer(signal.ITIMER_PROF, 0)
        if failed:
            said = str(failed[0].longrepr)[-2000:] if order.get("say") else ""
            say(verdict="caught", seconds=time.process_time() - began, hits=sorted(HITS), said=said)
            return
    say(verdict="survived", ran=len(order["tests"]), seconds=time.process_time() - began, hits=sorted(HITS))


def serve(session, items, order):
    """Fork a child for one order and read what it says."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        os.close(read)
        try:
            perform(session, items, order, write)
        except BaseException as e:  # the mutant broke what runs the tests
            os.write(write, (json.dumps({"verdict": "caught", "said": repr(e)}) + "\n").encode())
        finally:
            os._exit(0)
    os.close(write)
    text, at, done = "", 0, None
    began = wait_from = time.monotonic()
    while done is None:
        usual = order["tests"][at][1] if order["tests"] else 0
        left = (
            wait_from + order.get("patience", 1) * (120 + 100 * usual + 10 * order.get("limit", 0)) - time.monotonic()
        )
        ready, _, _ = select.select([read], [], [], max(left, 0))
        piece = os.read(read, 1 << 20).decode() if ready else ""
        if not piece:
            done = {"verdict": "silent" if not ready else ""}
            break
        text += piece
        *lines, text = text.split("\n")
        for line in lines:
            said = json.loads(line)
            if "verdict" in said:
                done = said
            else:
                at, wait_from = said["start"], time.monotonic()
    with contextlib.suppress(ProcessLookupError):
        if done["verdict"]:
            os.killpg(child, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if not done["verdict"]:  # it ended without a word
        ends = {-signal.SIGPROF: "endless", -signal.SIGKILL: "silent"}  # its clock of processor time; perhaps memory
        done["verdict"] = ends.get(code, "caught")
        with contextlib.suppress(ProcessLookupError):  # what it may have started
            os.killpg(child, signal.SIGKILL)
    os.close(read)
    name = order["tests"][at][0] if order["tests"] else ""
    return {"test": name, "ran": at + 1, "wall": time.monotonic() - began, **done}


def pytest_runtestloop(session):
    items = {item.nodeid: item for item in session.items}
    orders, answers = os.fdopen(int(os.environ["BAYESRL_ORDERS"])), int(os.environ["BAYESRL_ANSWERS"])
    os.set_inheritable(answers, False)

    def say(what):
        data = (json.dumps(what) + "\n").encode()
        while data:
            data = data[os.write(answers, data) :]

    for module in pkgutil.walk_packages([str(SOURCE)], "bayesrl."):  # those that are read late must be here too
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    gc.unfreeze()  # what the tests' conftest has frozen is not listed
    gc.collect()
    for f in gc.get_objects():
        if type(f) is FunctionType and str(f.__module__).startswith("bayesrl"):
            FUNCTIONS[f.__code__.co_qualname].append(f)
    gc.freeze()  # children share what is here
    say({"tests": list(items), "keys": KEYS})
    for line in orders:
        say(serve(session, items, json.loads(line)))
    os._exit(0)
