"""Progress where there is no terminal: when lines are written, with a clock of its own."""

from itertools import pairwise

import pytest

from bayesrl.lab import _progress
from bayesrl.lab._progress import EVERY, LINES, LONG, Progress


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.mark.parametrize("asked", [True, None])
@pytest.mark.parametrize("steps", [10, 1000, 200_000])
def test_lines_are_of_new_tenths_and_not_too_often(asked, steps, capsys, monkeypatch):
    """A step takes .01 s. No line comes before its time, within five seconds of the last one, or twice for a tenth."""
    clock, written = Clock(), []
    monkeypatch.setattr(_progress, "monotonic", clock)
    progress = Progress(["one"], [steps], [0])
    with progress.shown(asked):
        for n in range(0, steps + 1, max(1, steps // 2000)):
            clock.now = 0.01 * n
            progress.done[0] = n
            progress.tick()
            if said := capsys.readouterr().err:
                assert said.count("\n") == 1
                assert f"{n / steps:.0%}" in said
                written.append((clock.now, 10 * n // steps))
    assert bool(capsys.readouterr().err) == bool(asked)  # the last one
    times, tenths = zip(*written, strict=True) if written else ((), ())
    assert list(tenths) == sorted(set(tenths))
    assert all(later - earlier >= LINES for earlier, later in pairwise(times))
    first = LINES if asked else LONG
    assert all(first <= time for time in times)
    due = [n for n in range(1, 10) if 0.001 * n * steps > first]
    assert bool(written) == bool(due)


def test_shares_are_looked_at_now_and_then(monkeypatch):
    clock, painted = Clock(), []
    monkeypatch.setattr(_progress, "monotonic", clock)
    progress = Progress(["a", "b", "a"], [10, 5, 30], [0, 0, 0])
    progress._paint = lambda shares, last: painted.append((clock.now, shares))
    for tick in range(100):
        clock.now = 0.05 * tick
        progress.done[:] = [tick, tick, 0]
        progress.tick()
    assert all(later - earlier >= EVERY - 1e-9 for (earlier, _), (later, _) in pairwise(painted))
    assert 20 <= len(painted) <= 25
    assert painted[-1][1] == {"a": 0.25, "b": 1.0}  # no more than all steps
