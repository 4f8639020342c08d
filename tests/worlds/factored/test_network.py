"""A network of any size: against `sysadmin` and plain loops, compiled steps, 54 computers, refusals."""

import pickle
from itertools import product

import numpy as np
import pytest
from numpy.random import default_rng
from numpy.testing import assert_allclose, assert_array_equal

import bayesrl as b
from bayesrl.beliefs import FactoredDBN
from bayesrl.core import Transition, World
from bayesrl.errors import Incompatible, InvalidArgument
from bayesrl.kernels.simulators.simulator import rollout_action, step
from bayesrl.models.solve import optimal_total
from bayesrl.registry import make_world
from bayesrl.testing import assert_frequencies

PAIRS = (
    "network: 'topology' must be a name of line, ring, star, tree, none, or pairs of two different computers, each "
    "pair once, got "
)
FORMS = ("line", "ring", "star", "tree", "none")


def reversed_bits(s, n):
    """Computer c is bit c in `sysadmin`."""
    return int(f"{s:0{n}b}"[::-1], 2)


@pytest.mark.parametrize("n, form", list(product((1, 3, 4), ("line", "none"))))
def test_the_table_is_that_of_sysadmin(n, form):
    """The same computers with everything seen: looking does what nothing does."""
    P, R = make_world("network", computers=n, topology=form, gamma=0.83).dense()
    theirs = make_world("sysadmin", computers=n, topology=form).pomdp.mdp.dense()[0]
    order = [reversed_bits(s, n) for s in range(2**n)]
    for a in range(n + 1):
        assert_allclose(P[:, a], theirs[order][:, n + a if a < n else 0][:, order], atol=1e-15)
        paid = [bin(s).count("1") - (a < n) for s in range(2**n)]
        assert_array_equal(R[:, a], np.broadcast_to(np.array(paid)[:, None], (2**n, 2**n)))


@pytest.mark.parametrize("form", [*FORMS, [(0, 3), (2, 3)]])
def test_rates_by_plain_loops(form):
    world = make_world("network", computers=5, topology=form)
    near = {
        "line": [(0, 1), (1, 2), (2, 3), (3, 4)],
        "ring": [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)],
        "star": [(0, 1), (0, 2), (0, 3), (0, 4)],
        "tree": [(0, 1), (0, 2), (0, 3), (1, 4)],
        "none": [],
    }[form] if isinstance(form, str) else form  # fmt: skip
    for s, a in product(range(32), range(6)):
        up = [int(x) for x in f"{s:05b}"]
        assert world.works(s).astype(int).tolist() == up
        assert world.number(np.array(up) == 1) == s
        for c in range(5):
            others = [j for pair in near for i, j in (pair, pair[::-1]) if i == c]
            p = 0.95 if a == c else up[c] * 0.975 * 0.925 ** sum(1 - up[j] for j in others)
            assert world.rates(s, a)[c] == pytest.approx(p, abs=1e-15)
            assert world.parents(c) == tuple(sorted({c, *others}))
        assert world.reward(s, a) == sum(up) - (a < 5)


def test_rings_and_trees_of_few():
    assert make_world("network", computers=2, topology="ring").pairs == ((0, 1),)
    assert make_world("network", computers=1, topology="ring").pairs == ()
    assert make_world("network", computers=1, topology="star").pairs == ()
    assert make_world("network", computers=13, topology="tree").parents(3) == (0, 3, 10, 11, 12)


def test_declared_optimum():
    """The optimum by plain backward induction; other lengths and forms are solved for."""
    world = make_world("network")
    P, R = world.dense()
    V = np.zeros(16)
    for _ in range(1000):
        V = (P * (R + V)).sum(axis=2).max(axis=1)
    assert world.optimum() == pytest.approx(V[15], rel=1e-9)
    assert world.declared_optimum == pytest.approx(3761.9882218203497, rel=1e-9)
    ring = make_world("network", topology="ring")
    assert ring.declared_optimum is None
    assert ring.optimum(50) == pytest.approx(optimal_total(ring.mdp, 50))
    assert world.optimum(1) == 4.0


def test_samples_match_probabilities():
    """4000 draws from two pairs; false alarm 1e-6 each."""
    world = make_world("network", computers=3)
    P, _ = world.dense()
    for s, a in ((7, 3), (5, 1)):
        rng = default_rng(3)
        steps = [world.step(s, a, rng) for _ in range(4000)]
        assert_frequencies(np.bincount([y.state for y in steps], minlength=8), P[s, a], false_alarm=1e-6)
        assert {y.reward for y in steps} == {world.reward(s, a)}
        assert not any(y.terminated for y in steps)
        assert all(y.state == y.observation for y in steps)


@pytest.mark.parametrize("n", [4, 54, 62])
def test_compiled_steps_are_those_of_the_world(n):
    """The same random numbers lead to the same states and rewards."""
    world = make_world("network", computers=n, topology="tree")
    model, s = world.simulator(), world.start
    for i in range(60):
        a = 7 * i % (n + 1)
        k, y, r, done, _ = step(model, s, a, default_rng(i))
        there = world.step(s, a, default_rng(i))
        assert (k, y, r, done) == (there.state, there.state, there.reward, False)
        s = there.state if i % 20 else world.start
    chosen = {rollout_action(model, np.zeros(0, int), s, -1, 0.0, default_rng(i)) for i in range(80 * n)}
    assert chosen == set(range(n + 1))


def test_compiled_code_steps_alike():
    from bayesrl.kernels.jit import njit

    @njit
    def go(model, s, a, rng, n):
        total = 0.0
        for _ in range(n):
            _, s, r, _, _ = step(model, s, a, rng)
            total += r
        return s, total

    world = make_world("network", computers=54)
    s, total, rng = world.start, 0.0, default_rng(5)
    for _ in range(20):
        s, _, r, _ = world.step(s, 3, rng)
        total += r
    assert go(world.simulator(), world.start, 3, default_rng(5), 20) == (s, total)


@pytest.mark.parametrize("n", [9, 54, 200, 5000])
def test_large_networks(n):
    """Stepped, copied and asked, and nothing of size 2^n is made."""
    world = make_world("network", computers=n, topology="ring")
    assert isinstance(world, World)
    assert world.n_states == 2**n
    rng, same = default_rng(0), default_rng(0)
    s, seen = world.reset(rng)
    assert s == seen == world.start == 2**n - 1
    total = 0.0
    for t in range(30):
        s, _, r, over = world.step(s, t % (n + 1), rng)
        total += r
        assert not over
    same.random(30 * n)
    assert rng.bit_generator.state == same.bit_generator.state
    assert world.works(s).sum() > 0
    assert world.number(world.works(s)) == s
    assert pickle.loads(pickle.dumps(world)) == world
    assert world.sizes == (2,) * n
    assert len(world.actions) == n + 1
    with pytest.raises(InvalidArgument, match="'computers' must be at most 8 for a table"):
        _ = world.mdp
    with pytest.raises(Incompatible, match=r"A network of more than 8 computers has no table"):
        b.agent("psrl", world, "flat")
    if n > 62:
        with pytest.raises(InvalidArgument, match="'computers' must be at most 62 for compiled searches"):
            world.simulator()


def test_a_belief_learns_in_54_computers():
    """Structure is learnt from steps in a state space of 2^54: the belief reads the world's numbers."""
    world, rng = make_world("network", computers=54), default_rng(1)
    belief = FactoredDBN(world.sizes, world.n_actions, max_parents=1)
    assert belief.n_states == world.n_states
    for _ in range(30):
        s, y, r, _ = world.step(world.start, 54, rng)
        belief = belief.update(Transition(world.start, 54, r, y))
    assert belief.predictive(world.start, 54)[0][1] > 0.7
    assert_array_equal(world.works(s).astype(int), belief.log[2][-1])


def test_a_small_network_fits_the_prior_of_factors():
    world = make_world("network", computers=3)
    agent = b.agent("psrl", world, "factored-dbn")
    assert agent.prior.sizes == world.sizes
    assert_allclose(agent.prior.rewards, world.mdp.mean_reward, atol=1e-12)
    assert len(b.run(agent, world, steps=3)) == 3


@pytest.mark.parametrize(
    "given, sentence",
    [
        ({"computers": 0}, "network: 'computers' must be a whole number of at least 1 and at most 100000, got 0."),
        ({"computers": 1.5}, "network: 'computers' must be a whole number of at least 1 and at most 100000, got 1.5."),
        ({"topology": "lin"}, "network: 'topology' must be one of line, ring, star, tree, none, got 'lin'."),
        ({"topology": 3}, PAIRS + "3."),
        ({"topology": [(0, 0)]}, PAIRS + "[(0, 0)]."),
        ({"topology": [(0, 1), (1, 0)]}, PAIRS + "[(0, 1), (1, 0)]."),
        ({"topology": [(0, 1, 2)]}, PAIRS + "[(0, 1, 2)]."),
        ({"topology": [(0, 4)]}, "network: 'topology' must be a whole number of at least 0 and at most 3, got 4."),
        ({"gamma": 1.1}, "network: 'gamma' must be in [0, 1], got 1.1."),
    ],
)  # fmt: skip
def test_refusals(given, sentence):
    with pytest.raises(InvalidArgument) as caught:
        make_world("network", **given)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    "s, a, name", [(-1, 0, "state"), (16, 0, "state"), (0, -1, "action"), (0, 5, "action"), (0.5, 0, "state")]
)
def test_an_illegal_step_is_refused_and_draws_nothing(s, a, name):
    world, rng = make_world("network"), default_rng(0)
    before = rng.bit_generator.state
    with pytest.raises(InvalidArgument, match=f"^network: '{name}' must be a whole number"):
        world.step(s, a, rng)
    assert rng.bit_generator.state == before


@pytest.mark.parametrize("wrong", [np.zeros((2, 0)), np.array(np.nan), [1, 0], np.ones(3, bool)])
def test_a_state_is_numbered_by_truth_values(wrong):
    with pytest.raises(InvalidArgument, match="'works' must be truth values of shape"):
        b.make_world("network", computers=4).number(wrong)
