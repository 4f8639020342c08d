"""Long runs about files: many kills while a file is written, and every whole number of every saved thing made large."""

import json
import os
import resource
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

import bayesrl as b
from bayesrl.core import BayesAgent
from bayesrl.errors import BayesRLError
from bayesrl.registry import entries

pytestmark = pytest.mark.soak
KILLS = """
import os, random, signal, sys, time
import bayesrl as b
from bayesrl.lab.literature import scores, setups
from bayesrl.statistics import Interval

path, kind, kills = sys.argv[1], sys.argv[2], int(sys.argv[3])
world = b.make_world("chain")
runs = [b.run(b.BayesAgent(b.DirichletMDP.flat(world), b.make("random")), world, 5000, seed) for seed in (0, 1)]
row = setups.Row(world="chain", method="beb", prior="flat", runs=3)
made = [[scores.Score(row, Interval(1.0, 0.0, 2.0, 40), {}, 9, 0.9, i, 1e-3, "0")] * 2000 for i in (0, 1)]

def write(i):
    b.save(runs[i], path) if kind == "record" else scores.write(made[i], path)

def found():
    if kind == "record":
        return b.load(path).provenance["seed"]
    (seed,) = {score.seed for score in scores.read(path)}
    return seed

write(0)
seen = []
for trial in range(kills):
    child = os.fork()
    while child == 0:
        write(1)
        write(0)
    time.sleep(random.Random(trial).uniform(0.0, 0.2))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    seen.append(found())
print(len(seen), sorted(set(seen)))
"""
"""Kills a process that writes again and again; says how often the file could be read, and which versions it was."""


@pytest.mark.parametrize("kind", ["scores", "record"])
def test_a_file_survives_a_hundred_kills(kind, tmp_path):
    path = tmp_path / "file"
    done = subprocess.run([sys.executable, "-c", KILLS, path, kind, "100"], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("100 [0, 1]\n", "")


def places(node, where=()):
    """Where the whole numbers of a page are, but for the forms of arrays and the states of generators."""
    for key in node if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ():
        if type(node[key]) is int and key != "seed":
            yield (*where, key)
        elif key not in ("array", "scalar", "planner", "learning"):
            yield from places(node[key], (*where, key))


def things():
    """An example of everything registered, and agents in service."""
    beliefs = {}
    for e in entries().values():
        try:
            thing = e.example() if e.example else e.factory()
        except (TypeError, BayesRLError):
            continue
        yield e.name, thing
        if e.kind == "belief":
            beliefs[e.name] = thing
        if e.kind == "agent":
            yield f"live {e.name}", b.LiveAgent(thing)
        for name, belief in beliefs.items() if e.kind == "planner" else ():
            try:
                yield f"live {e.name} {name}", b.LiveAgent(BayesAgent(belief, thing))
            except BayesRLError:
                continue
            break


def peak(path):
    """Megabytes that a child needs to load a file, and its seconds; it may take a gigabyte."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + 2**30
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CPU, (10, 10))
        before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
        try:
            b.load(path)
            said = "loaded"
        except BaseException as error:
            said = str(error)
        used = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
        os.write(writing, json.dumps([used, time.process_time() - began, said]).encode())
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as answer:
        said = answer.read()
    os.waitpid(child, 0)
    return json.loads(said) if said else [10**6, 10.0, "killed"]


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_no_whole_number_of_a_file_takes_memory(tmp_path):
    """Each of them alone, and all together, from 1000 to 10^9: less than 100 MB, or it is refused."""
    path, seen, wrong = tmp_path / "file", set(), []
    for name, thing in things():
        try:
            b.save(thing, path)
        except BayesRLError:
            continue
        with zipfile.ZipFile(path) as archive:
            members = {member: archive.read(member) for member in archive.namelist()}
        found = list(places(json.loads(members["meta.json"])["value"]))
        cases = [([where], size) for where in found for size in (30_000, 10**6, 10**9)]
        cases += [([where for where in found if isinstance(where[-1], str)], size) for size in (1000, 30_000, 10**9)]
        for chosen, size in cases:
            page = json.loads(members["meta.json"])
            tag = (type(thing).__name__, tuple(where[-1] for where in chosen), size)
            if tag in seen or not chosen:
                continue
            seen.add(tag)
            for where in chosen:
                node = page["value"]
                for key in where[:-1]:
                    node = node[key]
                node[where[-1]] = size
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                for member, data in (members | {"meta.json": json.dumps(page)}).items():
                    archive.writestr(member, data)
            used, seconds, said = peak(path)
            if used > 100 or seconds > 5.0 or "more memory than there is" in said:
                wrong.append((name, chosen, size, used, seconds, said))
    assert wrong == []
