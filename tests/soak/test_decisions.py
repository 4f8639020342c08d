"""Long runs: the time of a decision and the memory of the process stay as they are after a warm-up.

Every planner and agent acts in its home world of the golden traces. It decides 20,000 times, or as often as it can in
four seconds of processor time, and 500 times in any case. The typical block of 25 decisions in the last three tenths of
a run may take 1.6 times as long as in the second to fourth tenth. Processor time and memory are compared within one
run, so other programs hardly matter. A method that grows with what was seen, and has a reason, is in `GROWING`.
"""

import gc
import importlib.util
import os
import time
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from bayesrl.core import Streams, draw_world, play
from bayesrl.lab.build import agent_for
from bayesrl.registry import entries, make_world

pytestmark = pytest.mark.soak
SHORT = os.environ.get("BAYESRL_SOAK") == "short"
MANY, FEW, SECONDS = (3000, 100, 1.0) if SHORT else (20_000, 500, 4.0)
"""The most and the fewest decisions of a run, and its seconds of processor time."""
WARM_UP, BLOCK = 50, 25
QUICK = ("bamcp", "psrl", "thompson", "rmax", "bayes-ucb", "beb", "bayesian-q-learning")
"""What the short form runs."""
SLOWER, LEAST = 1.6, 3e-4
"""How much longer the later blocks of a run may take than the earlier ones: a factor, and seconds."""
PER_STEP, AT_ONCE = 400, 24 * 2**20
"""Bytes that a step may keep, such as its outcome, and bytes that the allocator may take whenever it likes."""
SMALL = {"bamcp": {"simulations": 20, "depth": 15}}
"""Settings with which a method decides within a millisecond."""
REPLAY = "it replays the past, also what it was told, for models that it draws anew"
PROCESS = "a Gaussian process holds all data"
GROWING = {
    "action-oracle": REPLAY,
    "bayes-risk": REPLAY,
    "continuous-forward-search": PROCESS,
    "gp-sparse-sampling": PROCESS,
}
"""Methods whose cost follows what was seen, with the reason."""


def golden():
    spec = importlib.util.spec_from_file_location("golden", Path(__file__).parents[1] / "golden" / "test_golden.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GOLDEN = golden()
NAMES = [name for name in GOLDEN.ACTING if not SHORT or name in QUICK]


def memory():
    """Bytes of the process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def long_run(name):
    """(seconds of processor time, bytes after it) of each block."""
    package, stored = entries()[name].package, GOLDEN.TRACES[name]
    world = make_world(stored["world"])
    agent = agent_for(name, world, stored.get("prior"), SMALL.get(name) or GOLDEN.OWN_SETTINGS.get(name))
    streams = Streams.of(0)
    steps = play(agent, draw_world(world, streams), streams, horizon=GOLDEN.LENGTHS.get(package, (0, None))[1])
    for _ in islice(steps, WARM_UP):  # compiles
        pass
    gc.collect()
    seconds, used = [], []
    while len(seconds) * BLOCK < MANY and (len(seconds) * BLOCK < FEW or sum(seconds) < SECONDS):
        begun = time.process_time()
        for _ in islice(steps, BLOCK):
            pass
        seconds.append(time.process_time() - begun)
        used.append(memory())
    return seconds, used


@pytest.mark.short
@pytest.mark.parametrize("name", NAMES)
def test_time_and_memory_stay_flat(name):
    seconds, used = long_run(name)
    n = len(seconds)
    early, late = np.median(seconds[n // 10 : 4 * n // 10]), np.median(seconds[-3 * n // 10 :])
    kept = used[-1] - used[n // 4]
    print(
        f"{name}: {n * BLOCK} decisions of {early / BLOCK * 1e3:.3f} ms, late {late / early:.2f}, "
        f"kept {kept / 2**20:.1f} MiB, {sum(seconds):.1f} s"
    )
    assert late <= SLOWER * early + LEAST or name in GROWING
    assert kept <= AT_ONCE + PER_STEP * BLOCK * n or name in GROWING
