"""Comparisons: many replicates of several methods on one world, over threads or processes.

Replicate i of every method is `run(agent, world, steps, seed, replicate=i)`. Methods share the world's random numbers
and, on a family, the drawn worlds. Any replicate can be reproduced alone. Results depend only on the seed, not on the
number or kind of workers.

If belief, planner and world all broadcast (the prior and the world have `batch`, the planner has the trait `batched`),
replicates run in lockstep, BLOCK at a time with one set of streams for each block. Blocks are always run in full and
then cut, so replicate i does not depend on the number of runs. Methods in lockstep share random numbers with each
other, but not with methods that run one by one; `Comparison.difference` takes this into account.

Threads help if time is spent in compiled code, which releases the GIL; processes (agents and worlds are pickled) help
if it is spent in Python. Ctrl-C ends processes at once, and threads after their present step, which another Ctrl-C does
not wait for; it says how many runs were finished. Worker processes end with the process that started them. If one is
killed, its runs begin again; if that happens again and again, `LostWorkers` has the records of the finished runs.
"""

from __future__ import annotations

import ast
import math
import multiprocessing
import os
import pickle
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesrl._files import read
from bayesrl.capabilities import Batches, offers
from bayesrl.checks import choice, integer
from bayesrl.core import Copies, Family, World, names_to_keep, run
from bayesrl.errors import InvalidArgument, LostWorkers, MissingMainGuard, OutOfMemory
from bayesrl.lab._pool import TRIES, Lost, NotImported, context, on_processes, on_threads
from bayesrl.lab._progress import Progress, Watch
from bayesrl.lab.comparison import Comparison
from bayesrl.problems import StatesLength
from bayesrl.record import Record, as_tuples
from bayesrl.traits import traits_of

BLOCK = 256
"""Replicates in one lockstep block, enough to make numpy's overhead per call negligible."""


def compare(
    agents: Any,
    world: World | Family,
    steps: int | None = None,
    runs: int = 100,
    seed: int = 0,
    *,
    workers: int = 1,
    backend: str = "threads",
    horizon: int | None = None,
    keep: Sequence[str] = (),
    progress: bool | None = None,
) -> Comparison:
    """Run every agent `runs` times for `steps` steps (the world's own number, if it has one).

    `agents` is a mapping from labels to agents, a sequence of agents, or one agent. `backend` is "threads" or
    "processes". `keep` names further columns of the records, as in `run`. `progress` shows on standard error how far
    each method is: a bar on a terminal, else a line for each tenth, at most every five seconds. The default is a bar on
    a terminal, and lines if it takes more than half a minute.
    """
    agents = _labelled(agents)
    if steps is None and offers(world, StatesLength):
        steps = world.steps
    steps = integer("compare", "steps", steps, 1)
    runs = integer("compare", "runs", runs, 1)
    seed = integer("compare", "seed", seed, 0, any_length=True)
    workers = integer("compare", "workers", workers, 1)
    backend = choice("compare", "backend", backend, ("threads", "processes"))
    horizon = None if horizon is None else integer("compare", "horizon", horizon, 1)
    keep = names_to_keep("compare", keep)
    if not offers(world, World) and not offers(world, Family):
        raise InvalidArgument("compare", "world", "a world (reset, step) or a family of worlds (draw)", world)
    pooled = workers > 1
    if pooled and backend == "processes":
        if multiprocessing.current_process().daemon:
            expected = '"threads" in a daemonic process, which cannot start others'
            raise InvalidArgument("compare", "backend", expected, backend)
        _check_pickles(agents, world)
        _check_main_guard()

    _check_memory(len(agents) * runs, steps)
    chunk = max(1, runs // (8 * workers)) if pooled and backend == "processes" else 1
    jobs = [
        Job(label, agent, world, steps, seed, horizon, keep, lockstep, part)
        for label, agent in agents.items()
        for lockstep in [BLOCK if broadcasts(agent, world) else None]
        for part in _parts(-(-runs // BLOCK) if lockstep else runs, chunk)
    ]
    results: dict[int, list[Record]] = {}
    forked = pooled and backend == "processes"
    done = context().RawArray("q", len(jobs)) if forked else [0] * len(jobs)
    steps_of = [steps * len(job.replicates) for job in jobs]
    shown = Progress([job.label for job in jobs], steps_of, done)
    with _telling(jobs, results, runs), shown.shown(progress):
        if forked:
            on_processes(jobs, work, workers, shown, results)
        elif pooled:
            on_threads(jobs, work, workers, shown, results)
        else:
            for k, job in enumerate(jobs):
                results[k] = work(job, shown.watched(k, ticking=True))
    found: dict[str, list[Record]] = {label: [] for label in agents}
    for k, job in enumerate(jobs):
        found[job.label] += results[k]
    pace = {label: [r.seconds / r.columns["reward"].size for r in records] for label, records in found.items()}
    return Comparison(
        {label: gather(records, runs) for label, records in found.items()},
        {label: float(np.median(each)) for label, each in pace.items()},
    )


def broadcasts(agent: Any, world: World | Family) -> bool:
    """Whether replicates of this pair can run in lockstep."""
    planner, prior = getattr(agent, "planner", None), getattr(agent, "prior", None)
    return offers(prior, Batches) and offers(world, Batches) and traits_of(planner).batched


# The work ------------------------------------------------------------------------------------------------------------


class Job(NamedTuple):
    """Some replicates (or lockstep blocks) of one method, the input of a worker."""

    label: str
    agent: Any
    world: World | Family
    steps: int
    seed: int
    horizon: int | None
    keep: Sequence[str]
    lockstep: int | None
    replicates: range

    def numbers(self, runs: int) -> range:
        """The numbers of its runs, of `runs` in all: a lockstep block is run in full and then cut."""
        size = self.lockstep or 1
        return range(self.replicates.start * size, min(self.replicates.stop * size, runs))


def work(job: Job, watch: Watch | None = None) -> list[Record]:
    """The records of a job, in order."""
    _, agent, world, steps, seed, horizon, keep, lockstep, replicates = job
    places = (world.fresh() if offers(world, Copies) else world for _ in replicates)  # each run has its own
    try:
        return [
            run(agent, place, steps, seed, replicate=i, horizon=horizon, lockstep=lockstep, keep=keep, watch=watch)
            for i, place in zip(replicates, places, strict=True)
        ]
    except OutOfMemory:
        raise
    except MemoryError as error:
        raise OutOfMemory(f"compare: a run of {job.label!r}", str(error), "Use fewer workers.") from error


@contextmanager
def _telling(jobs: Sequence[Job], results: Mapping[int, list[Record]], runs: int) -> Iterator[None]:
    """Say what was finished, if Ctrl-C is pressed or workers are killed again and again."""
    try:
        yield
    except KeyboardInterrupt as stop:
        finished = dict.fromkeys((job.label for job in jobs), 0)
        for k in results:
            finished[jobs[k].label] += len(jobs[k].numbers(runs))
        each = ", ".join(f"{label} {n}" for label, n in finished.items())
        stop.add_note(f"compare: {sum(finished.values())} of {runs * len(finished)} runs were finished ({each}).")
        raise
    except NotImported:
        expected = '"threads" for a program that a worker process cannot import'
        raise InvalidArgument("compare", "backend", expected, "processes", "The import's error is above.") from None
    except Lost as lost:
        kept: dict[str, tuple[Record, ...]] = {job.label: () for job in jobs}
        for k in sorted(results):
            kept[jobs[k].label] += tuple(results[k])
        job = jobs[lost.job]
        numbers = job.numbers(runs)
        raise LostWorkers("compare", f"runs {numbers[0]} to {numbers[-1]} of {job.label}", TRIES, kept) from None


def _parts(n: int, size: int) -> Iterator[range]:
    return (range(i, min(i + size, n)) for i in range(0, n, size))


# Collecting records ---------------------------------------------------------------------------------------------------


def gather(records: Sequence[Record], runs: int) -> Record:
    """Combine records: columns (steps, runs, ...) from replicates or lockstep blocks, in order."""
    first = records[0]
    columns = {}
    for name in first.columns:
        if first.provenance["lockstep"] is None:
            # Each run stays contiguous, so its sum is bit for bit the same as when it runs alone.
            whole = np.moveaxis(_stacked([r.columns[name] for r in records]), 0, 1)
        else:
            whole = np.concatenate([_replicated(r, name) for r in records], axis=1)[:, :runs]
        columns[name] = compact(whole)
    provenance = {k: v for k, v in first.provenance.items() if k != "replicate"} | {"runs": runs}
    return Record(columns, first.gamma, provenance, sum(r.seconds for r in records))


def _stacked(columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """The columns of several runs, (runs, steps, ...); an object array if the lengths of vectors differ."""
    tuples = {x.dtype for x in columns if x.dtype.names is not None or x.dtype == object}  # parts of their own lengths
    if len({column.shape for column in columns}) == 1 and len(tuples) <= 1:
        return np.stack(columns)
    return np.stack([as_tuples(column) for column in columns])


def _replicated(block: Record, name: str) -> NDArray[Any]:
    """A column of a lockstep block with its replicate axis; a column shared by all replicates is repeated."""
    column = block.columns[name]
    steps, n = block.columns["reward"].shape
    if column.shape[1:2] == (n,):
        return column
    return np.broadcast_to(column[:, None], (steps, n, *column.shape[1:]))


def compact(column: NDArray[Any]) -> NDArray[Any]:
    """Integers in the smallest signed type that holds them; other columns unchanged."""
    if column.dtype.kind not in "iu":
        return column.copy(order="K")
    low, high = int(column.min()), int(column.max())
    for kind in (np.int8, np.int16, np.int32):
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            return column.astype(kind, order="K")
    return column.copy(order="K")


# Arguments -----------------------------------------------------------------------------------------------------------


def _labelled(agents: Any) -> dict[str, Any]:
    """Labels for agents: the given ones, or the names of the planners, numbered if they repeat."""
    if isinstance(agents, Mapping):
        labelled = {str(label): agent for label, agent in agents.items()}
    else:
        labelled = {}
        for agent in [agents] if hasattr(agents, "act") else _listed(agents):
            name = type(getattr(agent, "planner", agent)).__name__
            again = sum(label.split(" ")[0] == name for label in labelled)
            labelled[f"{name} {again + 1}" if again else name] = agent
    if not labelled:
        raise InvalidArgument("compare", "agents", "at least one agent", agents)
    for label, agent in labelled.items():
        if not all(hasattr(agent, need) for need in ("start", "act", "learn")):
            raise InvalidArgument("compare", "agents", "agents (start, act, learn)", agent, f"Look at {label!r}.")
    return labelled


def _listed(agents: Any) -> list[Any]:
    if isinstance(agents, (str, bytes)) or not isinstance(agents, Sequence):
        expected = "an agent, a sequence of agents or a mapping from labels to agents"
        raise InvalidArgument("compare", "agents", expected, agents)
    return list(agents)


def _check_memory(runs: int, steps: int) -> None:
    """Refuse runs whose rewards alone, at eight bytes a step, exceed the memory of the machine."""
    needed = runs * (8.0 * steps + OF_RUN)
    if needed > memory():
        remedy = "Use fewer runs or steps, or several calls with a seed of their own."
        raise OutOfMemory("compare", f"{needed / 1e9:.3g} GB for {runs} runs of {steps} steps", remedy)


OF_RUN = 500
"""Bytes that a run takes besides its columns, at least."""


def memory() -> float:
    """The bytes of memory of this machine; infinity where the system does not tell."""
    told = getattr(os, "sysconf_names", {})
    if not {"SC_PAGE_SIZE", "SC_PHYS_PAGES"} <= told.keys():
        return math.inf
    return float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")


def _check_pickles(agents: Mapping[str, Any], world: World | Family) -> None:
    for name, thing in [("world", world), *(("agents", agent) for agent in agents.values())]:
        try:
            pickle.dumps(thing)
        except Exception as error:  # an object's own pickling may raise anything
            hint = f"Pickling failed: {error}" if str(error).endswith(".") else f"Pickling failed: {error}."
            raise InvalidArgument("compare", name, "picklable when workers are processes", thing, hint) from None


def _check_main_guard() -> None:
    """Refuse a call at the top level of a script: each worker process would run the script again.

    A call inside any `if` statement counts as guarded, and so does one from an interactive session.
    """
    main = sys.modules["__main__"]
    path = getattr(main, "__file__", None)
    frame: FrameType | None = sys._getframe()
    while frame is not None and (frame.f_globals is not vars(main) or frame.f_code.co_name != "<module>"):
        frame = frame.f_back
    if frame is None or path is None:
        return
    try:
        script = ast.parse(read(path))
    except (OSError, SyntaxError, ValueError):
        return
    for statement in script.body:
        here = statement.lineno <= frame.f_lineno <= (statement.end_lineno or statement.lineno)
        if here and not isinstance(statement, ast.If):
            raise MissingMainGuard("compare", Path(path).name, frame.f_lineno)
