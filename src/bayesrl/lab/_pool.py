"""Jobs on several threads or processes, which end when they are not needed any more.

A separate thread manages the pool and communicates with the main one through queues only. Ctrl-C is raised in the main
thread, between any two instructions, and the main thread must not hold one of the pool's locks then.

After a failure or Ctrl-C threads stop between two steps, and processes are ended at once. A worker process also ends
with the process that started it, however that ends: it holds one end of a pipe, and the other end is closed then. If a
worker is killed, each job that was running begins again in a pool of its own, until `TRIES` workers were lost with it.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, MutableSequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from multiprocessing.context import BaseContext
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, TypeVar

from bayesrl.core import Step
from bayesrl.lab._progress import EVERY, Progress, Watch

Job = TypeVar("Job")
Result = TypeVar("Result")
Work = Callable[[Job, Watch | None], Result]
TRIES = 3
"""How often a job may be running while a worker is killed."""
SET_DEATH_SIGNAL = 1
"""The number of prctl's option PR_SET_PDEATHSIG."""


class Lost(Exception):
    """A worker was killed whenever one of these jobs was running."""

    def __init__(self, jobs: list[int]) -> None:
        self.jobs = jobs


def context() -> BaseContext:
    """How processes are started. Not by fork: it copies locks that other threads hold."""
    method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    return multiprocessing.get_context(method)


def on_threads(
    jobs: list[Job], work: Work[Job, Result], workers: int, progress: Progress, results: dict[int, Result]
) -> None:
    """Put the results of all jobs into `results`, by their numbers, as they come."""

    def begun(k: int) -> tuple[Any, ...]:
        return work, jobs[k], progress.watched(k, ticking=False)

    def stop() -> None:
        progress.stopped = True

    pool = ThreadPoolExecutor(workers, thread_name_prefix="bayesrl")
    with _managed(pool, begun, range(len(jobs)), stop) as news:
        for k, future in _arriving(news, len(jobs), progress):
            results[k] = future.result()


def on_processes(
    jobs: list[Job], work: Work[Job, Result], workers: int, progress: Progress, results: dict[int, Result]
) -> None:
    """Do the same with processes. Jobs that are lost with a killed worker begin again, each alone: one is to blame."""
    lost: Counter[int] = Counter()
    while todo := [k for k in range(len(jobs)) if k not in results]:
        suspect = [k for k in todo if lost[k]][:1]
        broken = _one_pool(jobs, suspect or todo, work, workers, progress, results)
        lost.update([k for k in broken if progress.done[k]] or broken)
        for k in broken:
            progress.done[k] = 0
        if hopeless := [k for k in broken if lost[k] >= TRIES]:
            raise Lost(hopeless)


def _one_pool(
    jobs: list[Job],
    todo: list[int],
    work: Work[Job, Result],
    workers: int,
    progress: Progress,
    results: dict[int, Result],
) -> list[int]:
    """Run jobs on a new pool. The numbers of those that a killed worker took along."""
    how = context()
    held, holding = how.Pipe(duplex=False)
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    at_ctrl_c = signal.SIG_IGN if ignored else signal.SIG_DFL  # which ends a worker without a traceback

    pool = ProcessPoolExecutor(workers, how, _enter, (held, at_ctrl_c, progress.done))

    def begun(k: int) -> tuple[Any, ...]:
        return _in_process, work, jobs[k], k

    broken = []
    with held, holding, _managed(pool, begun, todo, holding.close) as news:
        for k, future in _arriving(news, len(todo), progress, lambda: _check_workers(pool, holding)):
            try:
                results[k] = future.result()
            except BrokenProcessPool:
                broken.append(k)
    return broken


News = SimpleQueue[tuple[int, Future[Any]]]


@contextmanager
def _managed(
    pool: Executor, begun: Callable[[int], tuple[Any, ...]], todo: Iterable[int], stop: Callable[[], None]
) -> Iterator[News]:
    """A queue of jobs that are done. If the body fails, `stop` ends what is running, and the rest is cancelled."""
    news: News = SimpleQueue()
    enough: SimpleQueue[None] = SimpleQueue()

    def told(k: int) -> Callable[[Future[Any]], None]:
        return lambda future: news.put((k, future))

    def manage() -> None:
        left = list(todo)
        try:
            while left:
                pool.submit(*begun(left[0])).add_done_callback(told(left.pop(0)))
        except BaseException as error:  # a pool that cannot start or has broken
            for k in left:
                failed: Future[Any] = Future()
                failed.set_exception(error)
                news.put((k, failed))
        enough.get()
        pool.shutdown(cancel_futures=True)

    manager = Thread(target=manage, name="bayesrl-manager")
    manager.start()
    try:
        yield news
    except BaseException:
        stop()
        raise
    finally:
        enough.put(None)
        manager.join()


def _check_workers(pool: Any, holding: Connection) -> None:
    """End a pool in which a worker was killed while it sent a result: else the pool waits for the rest for ever."""
    if any(process.exitcode is not None for process in list((pool._processes or {}).values())):
        holding.close()
        with suppress(AttributeError, OSError):
            pool._result_queue._writer.close()  # the last writer, when the workers have ended


def _arriving(
    news: News, n: int, progress: Progress, check: Callable[[], None] = lambda: None
) -> Iterator[tuple[int, Future[Any]]]:
    """The next n jobs that are done. Between them, progress is shown, and `check` is called while nothing comes."""
    while n:
        progress.tick()
        try:
            done = news.get(timeout=EVERY)
        except Empty:
            check()
            continue
        yield done
        n -= 1


# In a worker process -------------------------------------------------------------------------------------------------


_done: MutableSequence[int] = []
"""Steps done by each job, shared by all processes."""


def _enter(held: Connection, at_ctrl_c: Any, done: MutableSequence[int]) -> None:
    """Prepare a worker: it ends as soon as the other end of the pipe `held` is closed."""
    global _done
    _done = done
    signal.signal(signal.SIGINT, at_ctrl_c)
    if sys.platform == "linux":  # also in compiled code that does not let other threads run
        ctypes.CDLL(None).prctl(SET_DEATH_SIGNAL, signal.SIGKILL)
    Thread(target=_end_with, args=(held,), daemon=True).start()


def _end_with(held: Connection) -> None:
    with suppress(EOFError, OSError):
        held.recv_bytes()
    os._exit(1)


def _in_process(work: Work[Job, Result], job: Job, k: int) -> Result:
    def watch(steps: Iterator[Step]) -> Iterator[Step]:
        for step in steps:
            yield step
            _done[k] += 1

    _done[k] = 1  # the job has begun
    return work(job, watch)
