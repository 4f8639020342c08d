"""Threads and forks: nothing is lost, and results are those of one thread."""

import os
import signal
import sys
import threading
import warnings

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl.beliefs import BetaBernoulli, SparseDirichletMDP

pytestmark = [pytest.mark.soak, pytest.mark.short]
SHORT = os.environ.get("BAYESRL_SOAK") == "short"


@pytest.fixture(autouse=True)
def hurried():
    """Threads are switched as often as possible."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def in_threads(*jobs):
    """Run jobs in threads, and return their errors."""
    errors = []

    def guarded(job):
        try:
            job()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def shop():
    return b.LiveAgent(b.BayesAgent(BetaBernoulli.uniform(3), b.make("thompson")), actions=["a", "b", "c"])


def test_eight_threads_lose_no_reward(tmp_path):
    """Some learn, some act, some ask, and one saves, copies and loads; a saved agent holds a number of whole calls."""
    live, n = shop(), 300 if SHORT else 5000

    def learn():
        for i in range(n):
            live.learn("abc"[i % 3], float(i % 2))

    def act():
        for _ in range(n):
            live.learn(live.act(), 1.0)

    def ask():
        for _ in range(n // 50):
            rows = live.explain(draws=20)
            assert abs(sum(row.probability for row in rows) - 1.0) < 1e-9
            b.save(live, tmp_path / "live.zip")
            again = b.load(tmp_path / "live.zip")
            total = again.belief.alpha.sum() + again.belief.beta.sum()
            assert total == round(total)

    in_threads(*[learn] * 4, *[act] * 3, ask)
    assert live.belief.alpha.sum() + live.belief.beta.sum() == 6 + 7 * n
    assert live.belief.alpha.sum() == 3 + 4 * (n // 2) + 3 * n


@pytest.mark.parametrize("prior", [b.DirichletMDP.flat, SparseDirichletMDP.flat])
def test_threads_that_share_a_prior_run_as_alone(prior):
    """They share the arrays in which searches keep what was seen."""
    world, steps = b.make_world("chain"), 60 if SHORT else 1500
    agent = b.BayesAgent(prior(world), b.make("bamcp", simulations=20, depth=10))
    alone = [b.run(agent, world, steps, seed=seed) for seed in range(4)]
    found = {}
    in_threads(*[lambda seed=seed: found.setdefault(seed, b.run(agent, world, steps, seed=seed)) for seed in range(4)])
    assert [found[seed] for seed in range(4)] == alone


def test_threads_that_share_a_posterior_decide_as_alone():
    world, planner = b.make_world("chain"), b.make("bamcp", simulations=50, depth=10)
    rng, line = default_rng(0), [b.DirichletMDP.flat(world)]
    for _ in range(200):
        line.append(line[-1].seen_outcome(int(rng.integers(5)), int(rng.integers(2)), int(rng.integers(5))))
    expected = [planner.plan(belief, 0, None, default_rng(1)).info["q"] for belief in line]

    def work(seed):
        for i in default_rng(seed).integers(len(line), size=60 if SHORT else 2000).tolist():
            np.testing.assert_array_equal(planner.plan(line[i], 0, None, default_rng(1)).info["q"], expected[i])

    in_threads(*[lambda seed=seed: work(seed) for seed in range(6)])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork here")
def test_children_and_parents_go_on_alone(tmp_path):
    """A child forked while threads are at work acts, learns and saves; what it does, its parent does not see."""
    live, stop, n = shop(), threading.Event(), 10 if SHORT else 100

    def busy():
        while not stop.is_set():
            live.learn("a", 1.0)
            live.act()

    threads = [threading.Thread(target=busy) for _ in range(3)]
    for thread in threads:
        thread.start()
    codes = []
    for i in range(n):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python 3.12 warns of forks in programs with threads
            child = os.fork()
        if child == 0:
            signal.alarm(60)
            try:
                for _ in range(20):
                    live.learn("b", 1.0)
                    live.act()
                b.save(live, tmp_path / f"{i}.zip")
                os._exit(0 if live.belief.alpha[1] == 21.0 else 1)
            finally:
                os._exit(2)
        codes.append(os.waitpid(child, 0)[1])
    stop.set()
    for thread in threads:
        thread.join()
    assert codes == [0] * n
    assert live.belief.alpha[1] == 1.0
    assert all(b.load(tmp_path / f"{i}.zip").belief.alpha[1] == 21.0 for i in range(n))
