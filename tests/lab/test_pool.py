"""The crew of worker processes as a play without processes: who works beside whom."""

import pickle

import pytest

from bayesrl.lab import _pool
from bayesrl.lab._progress import Progress

JOBS = 8


class Story:
    """The jobs that run now; each job that was begun, and what ran beside it then; whether job 0 was lost yet."""

    def __init__(self):
        self.running, self.begun, self.lost = [], [], False


class Pipe:
    """To a worker that is ready, or done with its job. The worker of job 0 is killed once."""

    def __init__(self, story):
        self.story, self.job = story, None

    def recv_bytes(self):
        if self.job is None:
            return _pool.READY
        self.story.running.remove(self.job)
        if self.job == 0 and not self.story.lost:
            self.story.lost = True
            raise EOFError
        return pickle.dumps((10 * self.job, None, ""))

    def send(self, message):
        self.job, _ = message
        self.story.begun.append((self.job, sorted(self.story.running)))
        self.story.running.append(self.job)

    def close(self):
        """Nothing is open."""


class Worker:
    def __init__(self, story, job):
        self.job, self.pipe = job, Pipe(story)

    def start(self, work, done):
        """It is ready at once."""

    def end(self):
        """Nothing is left."""


def next_ones(pipes, seconds):
    """All workers that are ready; else the one with the first job."""
    return [pipe for pipe in pipes if pipe.job is None] or [min(pipes, key=lambda pipe: pipe.job)]


@pytest.mark.parametrize("workers", [2, 3, 4])
def test_a_job_that_lost_its_worker_begins_again_alone(workers, monkeypatch):
    """The others end their jobs and begin no new ones. When it is done, all work beside each other again."""
    story, results = Story(), {}
    monkeypatch.setattr(_pool, "_Worker", lambda job: Worker(story, job))
    monkeypatch.setattr(_pool, "wait", next_ones)
    _pool.on_processes(list(range(JOBS)), None, workers, Progress(["a"] * JOBS, [1] * JOBS, [0] * JOBS), results)
    assert results == {k: 10 * k for k in range(JOBS)}
    assert [job for job, _ in story.begun] == [*range(workers), 0, *range(workers, JOBS)]
    assert story.begun[workers] == (0, [])
    assert story.begun[workers - 1][1] == list(range(workers - 1))
    assert len(story.begun[-1][1]) == workers - 1
