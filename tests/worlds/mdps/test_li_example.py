"""The problem that a bonus of 1/n may never solve: its table, the probability of a lock-out, runs of BEB and PSRL."""

from functools import cache

import numpy as np
import pytest

import bayesrl as b
from bayesrl.models.solve import solve
from bayesrl.registry import make_world
from bayesrl.statistics import mean_interval
from bayesrl.worlds.mdps.li_example import BOUND, locked_out

SAFE, TRY = 0, 1


@pytest.mark.parametrize("beta, c", [(0.3, 0.4375), (1.0, 0.4375), (2.0, 0.46875), (10.0, 0.49375)])
def test_li_example_by_hand(beta, c):
    world = make_world("li-example", beta=beta, gamma=0.83)
    P, R = world.dense()
    assert P.tolist() == [[[1, 0], [0.5, 0.5]], [[0, 1], [0.5, 0.5]]]
    assert R[:, TRY].tolist() == [[1, 0], [1, 0]]
    assert (R[[0, 1], SAFE, [0, 1]] == c).all()
    assert world.mdp.group.tolist() == [[0, 1], [0, 1]]
    assert (world.start, world.gamma, world.ends, world.prior) == (1, 0.83, False, "structured:1")
    assert solve(world).policy.tolist() == [TRY, TRY]
    assert world.gaps[:, SAFE] == pytest.approx(0.5 - c)


def test_locked_out_by_enumeration():
    """All sequences of ten tries, one by one."""
    for beta in (0.5, 1.0, 1.7):
        c, out = 0.5 - 1 / (16 * max(beta, 1.0)), 0
        for code in range(2**10):
            lucky = 0
            for t in range(11):
                if (1 + lucky) / (2 + t) + beta / (3 + t) < c:
                    out += 1
                    break
                lucky += code >> t & 1
        assert locked_out(beta, 10) == pytest.approx(out / 2**10, abs=1e-12)
    assert locked_out(1.0, 2) == 0.0
    assert locked_out(1.0, 3) == 0.125  # three failures: 1/5 + 1/6 < .4375, and after two 1/4 + 1/5 is not


@pytest.mark.parametrize("beta", [1.0, 2.0, 5.0, 10.0])
def test_the_probability_exceeds_the_bound(beta):
    """After 16 beta^2 tries, the number in the docstring, and far more so after many."""
    assert locked_out(beta, round(16 * beta**2)) > BOUND
    assert locked_out(beta, round(1000 * beta)) > 3 * BOUND


@cache
def runs(method, n, steps):
    world = make_world("li-example")
    made = (b.run(b.agent(method, world), world, steps=steps, seed=0, replicate=i) for i in range(n))
    return np.stack([np.asarray(record.action) for record in made])


def locked(actions):
    """In the last fifth of a run the worse action only."""
    return (actions[:, -actions.shape[1] // 5 :] == SAFE).all(axis=1)


def test_beb_stops_where_its_index_falls_below_the_safe_reward():
    """What `locked_out` counts: after its last try the index of `try` is below that of `safe`, and was not before."""
    world, actions = make_world("li-example"), runs("beb:beta=1", 10, 300)
    assert locked(actions).any()
    for i in np.flatnonzero(locked(actions)):
        record = b.run(b.agent("beb:beta=1", world), world, steps=300, seed=0, replicate=int(i))
        tries = np.asarray(record.action) == TRY
        t, lucky = int(tries.sum()), int(np.asarray(record.reward)[tries].sum())
        assert (1 + lucky) / (2 + t) + 1 / (3 + t) < 0.4375 + 1 / (2 + int((~tries).sum()))


@pytest.mark.long
def test_beb_is_locked_out_and_psrl_is_not():
    """100 runs of 3000 steps. With the exact .5326 fewer than 30 of BEB's have probability 2e-6."""
    beb, psrl = locked(runs("beb:beta=1", 100, 3000)), locked(runs("psrl", 100, 3000))
    print("beb", mean_interval(beb.astype(float)), "psrl", psrl.sum(), "bound", BOUND, "exact", locked_out(1.0, 3000))
    assert beb.mean() >= 0.3 > BOUND
    assert beb.mean() >= 0.05
    assert not psrl.any()
