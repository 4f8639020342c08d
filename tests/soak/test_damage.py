"""Saved files with flipped bits: an error of ours, or an equal object; and a fresh cache of compiled code for many."""

import os
import subprocess
import sys

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.beliefs import BetaBernoulli
from bayesrl.errors import BayesRLError

pytestmark = pytest.mark.soak
SHORT = os.environ.get("BAYESRL_SOAK") == "short"


def saved_things():
    world = b.make_world("chain")
    agent = b.BayesAgent(b.DirichletMDP.flat(world), b.make("psrl"))
    shop = b.LiveAgent(b.BayesAgent(BetaBernoulli.uniform(3), b.make("thompson")), seed=1, actions=["a", "b", "c"])
    shop.learn("b", 1.0)
    shop.act()
    return {
        "belief": b.DirichletMDP.flat(world, 0.2).update(b.Transition(0, 1, 2.0, 0)),
        "agent": agent,
        "live": shop,
        "record": b.run(agent, world, 50, seed=1),
    }


def content(thing):
    """What must be equal; an agent in service has no equality of its own."""
    if isinstance(thing, b.LiveAgent):
        states = [rng.bit_generator.state for rng in thing.streams[2:]]
        return thing.agent, thing.seed, thing.actions, thing.mind, states
    return thing


@pytest.mark.short
@pytest.mark.parametrize("name", ["belief", "agent", "live", "record"])
def test_flipped_bits(name, tmp_path):
    """Each file has one to three flipped bits."""
    thing, rng = saved_things()[name], default_rng(0)
    path = tmp_path / "saved.zip"
    b.save(thing, path)
    whole, refused = bytearray(path.read_bytes()), 0
    for _ in range(150 if SHORT else 4000):
        damaged = bytearray(whole)
        for place in rng.integers(len(whole) * 8, size=int(rng.integers(1, 4))).tolist():
            damaged[place // 8] ^= 1 << place % 8
        path.write_bytes(damaged)
        try:
            loaded = b.load(path)
        except BayesRLError:
            refused += 1
        else:
            assert content(loaded) == content(thing)
    assert refused > 50


@pytest.mark.short
@pytest.mark.parametrize("name", ["belief", "live", "record"])
def test_files_that_end_early(name, tmp_path):
    path = tmp_path / "saved.zip"
    b.save(saved_things()[name], path)
    whole = path.read_bytes()
    for end in range(0, len(whole), 97 if SHORT else 5):
        path.write_bytes(whole[:end])
        with pytest.raises(BayesRLError):
            b.load(path)


PROGRAM = """
import bayesrl as b
world = b.make_world("chain")
record = b.run(b.BayesAgent(b.DirichletMDP.flat(world), b.make("psrl")), world, 30, seed=2)
print(record.action.tolist(), record.reward.tolist())
"""


def test_eight_processes_on_one_fresh_cache(tmp_path):
    """All compile at once, and read what others have half written; all get the same numbers, and so does a ninth."""
    given = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-c", PROGRAM]
    running = [subprocess.Popen(command, env=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(8)]
    said = [one.communicate() for one in running]
    said.append(subprocess.Popen(command, env=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE).communicate())
    assert not any(errors for _, errors in said)
    assert len({out for out, _ in said}) == 1
    assert b"[" in said[0][0]
    assert np.any([path.suffix == ".nbi" for path in tmp_path.rglob("*")])
