"""How far a comparison is: steps done by each job, a bar on a terminal, or lines where there is none."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableSequence, Sequence
from contextlib import contextmanager
from time import monotonic

from bayesrl.core import Step

Watch = Callable[[Iterator[Step]], Iterable[Step]]
EVERY = 0.2
"""Seconds between two looks at the steps that are done."""
LINES = 5.0
"""Seconds between two lines, where there is no terminal."""
LONG = 30.0
"""Seconds after which there are lines that nobody asked for."""


class Stopped(BaseException):
    """Ends a run in a worker thread, between two steps, after another run has failed or Ctrl-C."""


class Progress:
    """Steps done by each job. A cell of `done` has one writer, so that threads need no lock.

    `done` may be an array that several processes share.
    """

    def __init__(self, labels: Sequence[str], steps: Sequence[int], done: MutableSequence[int]) -> None:
        self.labels, self.steps, self.done = labels, steps, done
        self.stopped = False
        self.began = self._next = monotonic()
        self._paint: Callable[[Mapping[str, float], bool], None] = lambda shares, last: None

    def shares(self) -> dict[str, float]:
        """The share of its steps that each method has done."""
        done, all_steps = dict.fromkeys(self.labels, 0), dict.fromkeys(self.labels, 0)
        for label, steps, cell in zip(self.labels, self.steps, self.done, strict=True):
            done[label] += min(cell, steps)
            all_steps[label] += steps
        return {label: done[label] / all_steps[label] for label in done}

    def tick(self) -> None:
        """Show how far it is, if it was not shown just now."""
        now = monotonic()
        if now >= self._next:
            self._next = now + EVERY
            self._paint(self.shares(), False)

    def watched(self, job: int, ticking: bool) -> Watch:
        """Count the steps of a job; `ticking` also shows them, and is for one thread only."""

        def stoppable(steps: Iterator[Step]) -> Iterator[Step]:
            for n, step in enumerate(steps, self.done[job] + 1):
                yield step
                self.done[job] = n
                if self.stopped:
                    raise Stopped

        def showing(steps: Iterator[Step]) -> Iterator[Step]:
            n, due, stride, looked = self.done[job], 0, 1, monotonic()
            for step in steps:
                yield step
                n += 1
                if n >= due:  # the clock is read a few times in EVERY seconds, not in every step
                    self.done[job], now = n, monotonic()
                    stride = 2 * stride if now - looked < 0.1 * EVERY else max(stride // 2, 1)
                    due, looked = n + stride, now
                    self.tick()
            self.done[job] = n

        return showing if ticking else stoppable

    @contextmanager
    def shown(self, progress: bool | None) -> Iterator[None]:
        """Show the steps while the body runs: as a bar, as lines, or (if `progress` is False) not at all."""
        if progress is False or sys.stderr is None:
            yield
        elif sys.stderr.isatty():
            with self._bar():
                yield
        else:
            self._paint = self._lines(asked=progress is True)
            yield
            if progress:
                self._paint(self.shares(), True)

    @contextmanager
    def _bar(self) -> Iterator[None]:
        from rich.console import Console
        from rich.progress import Progress as Bar

        with Bar(console=Console(stderr=True), redirect_stdout=False) as bar:
            tasks = {label: bar.add_task(label, total=1.0) for label in dict.fromkeys(self.labels)}

            def paint(shares: Mapping[str, float], last: bool) -> None:
                for label, share in shares.items():
                    bar.update(tasks[label], completed=share)

            self._paint = paint
            yield
            paint(self.shares(), True)

    def _lines(self, asked: bool) -> Callable[[Mapping[str, float], bool], None]:
        """Write a line for each tenth, at most every `LINES` seconds; if nobody asked, only after `LONG` seconds."""
        told, due = 0, self.began + (LINES if asked else LONG)

        def paint(shares: Mapping[str, float], last: bool) -> None:
            nonlocal told, due
            now, tenth = monotonic(), int(10.0 * sum(shares.values()) / len(shares))
            if last or (now >= due and tenth > told):
                told, due = tenth, now + LINES
                each = ", ".join(f"{label} {share:.0%}" for label, share in shares.items())
                print(f"compare: {each} after {now - self.began:.0f} s", file=sys.stderr, flush=True)

        return paint
