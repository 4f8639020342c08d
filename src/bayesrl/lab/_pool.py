"""Jobs on several threads or processes, which end when they are not needed any more.

After a failure or Ctrl-C threads stop between two steps, and processes are ended at once. A worker process also ends
with the process that started it, however that ends: they share a pipe, and the other end is closed then. No worker
shares a pipe or a lock with another one. So if one is killed, only its job is lost. The job begins again alone, since
memory may have run out, until it has lost `TRIES` workers.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import pickle
import signal
import sys
import traceback
from collections import Counter, deque
from collections.abc import Callable, Iterator, MutableSequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
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
"""How often a job may be running while its worker is killed."""
IMPORTED_IN = os.getpid()
"""The process that imported this module; a fork of it has another number."""
SET_DEATH_SIGNAL = 1
"""The number of prctl's option PR_SET_PDEATHSIG."""


class Lost(Exception):
    """The worker was killed whenever this job was running."""

    def __init__(self, job: int) -> None:
        self.job = job


class NotImported(Exception):
    """A worker process could not import the program."""


class InWorker(Exception):
    """Where a worker process failed: its traceback, the cause of the error that comes back."""


def context() -> BaseContext:
    """How processes are started. Not by fork: it copies locks that other threads hold.

    Python's starter of processes serves the process that began it, and not a fork of that process.
    """
    served = "forkserver" in multiprocessing.get_all_start_methods() and os.getpid() == IMPORTED_IN
    method = "forkserver" if served else "spawn"
    return multiprocessing.get_context(method)


# Threads -------------------------------------------------------------------------------------------------------------


def on_threads(
    jobs: list[Job], work: Work[Job, Result], workers: int, progress: Progress, results: dict[int, Result]
) -> None:
    """Put the results of all jobs into `results`, by their numbers, as they come."""

    def begun(k: int) -> tuple[Any, ...]:
        return work, jobs[k], progress.watched(k, ticking=False)

    left = len(jobs)
    with _managed(ThreadPoolExecutor(workers, thread_name_prefix="bayesrl"), begun, left, progress) as news:
        while left:
            progress.tick()
            try:
                k, future = news.get(timeout=EVERY)
            except Empty:
                continue
            results[k] = future.result()
            left -= 1


WAITING = "compare: it stops as soon as the decisions of its threads are made; Ctrl-C again does not wait for them."
News = SimpleQueue[tuple[int, Future[Any]]]


@contextmanager
def _managed(
    pool: ThreadPoolExecutor, begun: Callable[[int], tuple[Any, ...]], jobs: int, progress: Progress
) -> Iterator[News]:
    """A queue of jobs that are done. If the body fails, what is running is stopped, and the rest is cancelled.

    A separate thread manages the pool and communicates with the main one through queues only. Ctrl-C is raised in the
    main thread, between any two instructions, and the main thread must not hold one of the pool's locks then.
    """
    news: News = SimpleQueue()
    enough: SimpleQueue[None] = SimpleQueue()

    def told(k: int) -> Callable[[Future[Any]], None]:
        return lambda future: news.put((k, future))

    def manage() -> None:
        k = 0
        try:
            for k in range(jobs):
                pool.submit(*begun(k)).add_done_callback(told(k))
        except BaseException as error:  # a thread that cannot start
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
        progress.stopped = True
        raise
    finally:
        enough.put(None)
        manager.join(EVERY)
        if manager.is_alive() and sys.stderr is not None:
            print(WAITING, file=sys.stderr, flush=True)
        manager.join()


# Processes -----------------------------------------------------------------------------------------------------------


def on_processes(
    jobs: list[Job], work: Work[Job, Result], workers: int, progress: Progress, results: dict[int, Result]
) -> None:
    """Do the same with processes."""
    todo, lost = deque(range(len(jobs))), Counter[int]()
    crew: dict[Any, _Worker] = {}
    try:
        while len(results) < len(jobs):
            room = workers if lost.keys() <= results.keys() else 1
            while todo and len(crew) < room:
                worker = _Worker(todo.popleft())
                crew[worker.pipe] = worker
                worker.start(work, progress.done)
            progress.tick()
            for pipe in wait(list(crew), EVERY):
                worker = crew[pipe]
                try:
                    message = worker.pipe.recv_bytes()
                except (EOFError, OSError):  # it was killed, perhaps in the middle of a message
                    if not worker.ready and worker.has_failed():
                        raise NotImported from None
                    crew.pop(pipe).end()
                    lost[worker.job] += 1
                    if lost[worker.job] == TRIES:
                        raise Lost(worker.job) from None
                    progress.done[worker.job] = 0
                    todo.appendleft(worker.job)
                    room = 1
                    continue
                worker.ready = True
                if message != READY:
                    results[worker.job] = _result(message)
                    if not todo or len(crew) > room:
                        crew.pop(pipe).end()
                        continue
                    worker.job = todo.popleft()
                with suppress(OSError):  # killed: the next look at its pipe finds out
                    worker.pipe.send((worker.job, jobs[worker.job]))
    finally:
        for pipe in crew:
            pipe.close()
        for worker in crew.values():
            worker.end()


READY = b"ready"
"""The message that a worker sends before its first job."""


def _result(message: bytes) -> Any:
    result, error, trace = pickle.loads(message)
    if error is not None:
        raise error from InWorker(trace)
    return result


class _Worker:
    """A process and the number of its job."""

    def __init__(self, job: int) -> None:
        self.job = job
        self.how: Any = context()
        self.pipe, self.theirs = self.how.Pipe()
        self.process: Any = None
        self.ready = False

    def start(self, work: Work[Job, Result], done: MutableSequence[int]) -> None:
        ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        at_ctrl_c = signal.SIG_IGN if ignored else signal.SIG_DFL  # which ends a worker without a traceback
        with self.theirs, suppress(EOFError, ConnectionError):  # Python's starter of processes was killed
            process = self.how.Process(target=_serve, args=(self.theirs, at_ctrl_c, work, done))
            process.start()
            self.process = process

    def has_failed(self) -> bool:
        """Whether the process ended by an error, not by a signal."""
        if self.process is not None:
            self.process.join(1.0)
        return self.process is not None and (self.process.exitcode or 0) > 0

    def end(self) -> None:
        """End the process at once. One that Ctrl-C left half started ends with its pipe."""
        self.pipe.close()
        if self.process is not None:
            self.process.kill()
            self.process.join()


# In a worker process -------------------------------------------------------------------------------------------------


def _serve(pipe: Connection, at_ctrl_c: Any, work: Work[Job, Result], done: MutableSequence[int]) -> None:
    """Do jobs and send their results, until the other end of the pipe is closed."""
    signal.signal(signal.SIGINT, at_ctrl_c)
    if sys.platform == "linux":  # also in compiled code that does not let other threads run
        ctypes.CDLL(None).prctl(SET_DEATH_SIGNAL, signal.SIGKILL)
    messages: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_receive, args=(pipe, messages), daemon=True).start()
    with suppress(OSError):
        pipe.send_bytes(READY)
        while True:
            pipe.send_bytes(_answer(messages.get(), work, done))


def _receive(pipe: Connection, messages: SimpleQueue[bytes]) -> None:
    """Pass messages on. The process ends with the pipe, whatever it is doing."""
    with suppress(EOFError, OSError):
        while True:
            messages.put(pipe.recv_bytes())
    os._exit(1)


def _answer(message: bytes, work: Work[Job, Result], done: MutableSequence[int]) -> bytes:
    """(result, error, traceback) of a job. An error that cannot be sent is the cause of one that can."""
    try:
        k, job = pickle.loads(message)
        done[k] = 1  # the job has begun

        def watch(steps: Iterator[Step]) -> Iterator[Step]:
            for step in steps:
                yield step
                done[k] += 1

        return pickle.dumps((work(job, watch), None, ""))
    except BaseException as error:
        try:
            message = pickle.dumps((None, error, traceback.format_exc()))
            pickle.loads(message)  # as the parent does
            return message
        except Exception as unsaid:
            return pickle.dumps((None, unsaid, traceback.format_exc()))
