"""Long runs: the time of a decision and the memory of the process stay as they are after a warm-up.

Every planner and agent acts in its home world of the golden traces: for 20,000 steps if a step takes less than a
millisecond, else for 500. Processor time and memory are compared within one run, so other programs hardly matter.
"""

import gc
import importlib.util
import os
import time
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from bayesrl.core import Streams, meet, play
from bayesrl.lab.build import agent_for
from bayesrl.registry import entries, make_world

pytestmark = pytest.mark.soak
SHORT = os.environ.get("BAYESRL_SOAK") == "short"
MANY, FEW, WARM_UP, PARTS = (3000, 30, 10, 10) if SHORT else (20_000, 500, 50, 10)
QUICK = ("bamcp", "psrl", "thompson", "rmax", "bayes-ucb", "beb", "bayesian-q-learning")
"""What the short form runs."""
SLOWER = 1.6
"""The later parts of a run may take this much longer than the earlier ones."""
PER_STEP, AT_ONCE = 400, 24 * 2**20
"""Bytes that a step may keep, such as its outcome, and bytes that the allocator may take whenever it likes."""
SMALL = {"bamcp": {"simulations": 20, "depth": 15}}
"""Settings with which a method decides within a millisecond."""
REPLAY = "it replays the past, also what it was told, for models that it draws anew"
GROWING = {"action-oracle": REPLAY, "bayes-risk": REPLAY}
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
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@cache
def long_run(name):
    """(steps of a part, seconds of processor time of each part, memory after each part)."""
    package = entries()[name].package
    world = make_world(GOLDEN.OWN_HOMES.get(name, GOLDEN.HOMES[package]))
    agent = agent_for(name, world, GOLDEN.OWN_PRIORS.get(name), SMALL.get(name) or GOLDEN.OWN_SETTINGS.get(name))
    streams = Streams.of(0)
    steps = play(agent, meet(world, streams), streams, horizon=GOLDEN.LENGTHS.get(package, (0, None))[1])
    for _ in islice(steps, WARM_UP):  # compiles
        pass
    begun = time.process_time()
    for _ in islice(steps, WARM_UP):
        pass
    quick = (time.process_time() - begun) / WARM_UP < 1e-3
    part = (MANY if quick else FEW) // PARTS
    seconds, used = [], []
    for _ in range(PARTS):
        begun = time.process_time()
        for _ in islice(steps, part):
            pass
        seconds.append(time.process_time() - begun)
        used.append(memory())
    return part, seconds, used


@pytest.mark.short
@pytest.mark.parametrize("name", NAMES)
def test_time_and_memory_stay_flat(name):
    part, seconds, used = long_run(name)
    early, late = np.median(seconds[1:4]), np.median(seconds[-3:])
    kept = used[-1] - used[2]
    print(
        f"{name}: {10 * part} steps, {early / part * 1e3:.3f} ms, late {late / early:.2f}, kept {kept / 2**20:.1f} MiB"
    )
    assert late <= SLOWER * early + 0.02 or name in GROWING
    assert kept <= AT_ONCE + PER_STEP * part * (PARTS - 3) or name in GROWING
