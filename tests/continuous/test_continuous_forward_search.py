"""Forward search against closed forms, quadrature and brute force, on beliefs where learning in the tree shows."""

from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np
import pytest
from numpy.polynomial.hermite_e import hermegauss
from numpy.random import default_rng
from scipy.stats import t as student

import bayesrl as b
from bayesrl.beliefs.covariances import Gaussian, Matern
from bayesrl.capabilities import DrawsObservations, GrowsTrees, RewardsStates, Thins, offers
from bayesrl.continuous import ContinuousForwardSearch, GPDynamics, LinearGaussianDynamics, NormalWishartDynamics
from bayesrl.core import BayesAgent, Transition
from bayesrl.errors import BrokenContract, Incompatible, InvalidArgument
from bayesrl.lab.priors import prior_for
from bayesrl.testing import assert_mean_equal
from bayesrl.testing.stripped import stripped

ACTIONS = np.array([[-1.0], [0.0], [1.0]])


def quadratic(states, action):
    return -(states[:, 0] ** 2) - 0.1 * action[0] ** 2


def values(belief, s, actions=ACTIONS, seed=0, **settings):
    planner = ContinuousForwardSearch(actions, **settings)
    return planner.plan(belief, None if s is None else np.array([s]), planner.start(), default_rng(seed)).info["q"]


# Unknown drift: s' = s + a + v ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Drift:
    """v ~ N(mu, sigma^2), both unknown: m, kappa, nu, psi; or nothing is learnt."""

    kappa: float = 2.0
    m: float = 0.3
    nu: float = 6.0
    psi: float = 2.0
    gamma: float = 0.9
    learns: bool = True
    reward: object = quadratic

    def update(self, datum, rng=None):
        if not self.learns:
            return self
        e = datum.next_observation[0] - datum.observation[0] - datum.action[0] - self.m
        k = self.kappa
        return replace(self, kappa=k + 1, m=self.m + e / (k + 1), nu=self.nu + 1, psi=self.psi + k / (k + 1) * e * e)

    @property
    def scale(self):
        return np.sqrt(self.psi * (self.kappa + 1) / (self.kappa * self.nu))

    def draw(self, observation, action, rng, n=1):
        return (observation[0] + action[0] + self.m + self.scale * rng.standard_t(self.nu, n))[:, None]

    def expected_reward(self, observation, action):
        return float(self.reward(np.array([observation]), action)[0])


class SeesRewards(Drift):
    """The same belief, whose rewards are known in every state."""

    def expected_rewards(self, observations, action):
        return self.reward(observations, action)


def moments(belief, s, a):
    """Mean and variance of the next state."""
    return s + a + belief.m, belief.scale**2 * belief.nu / (belief.nu - 2.0)


def two_decisions(belief, s):
    """The last decision pays at most -s'^2, with action 0: a closed form."""
    q = []
    for a in ACTIONS[:, 0]:
        mean, variance = moments(belief, s, a)
        q.append(-(s**2) - 0.1 * a**2 - belief.gamma * (mean**2 + variance))
    return np.array(q)


def three_decisions(belief, s, n=4001):
    """Quantiles of the first draw; then the closed form at the belief that has learnt it."""
    v, q = belief.scale * student(belief.nu).ppf((np.arange(n) + 0.5) / n), []
    for a in ACTIONS[:, 0]:
        after = s + a + belief.m + v
        e, k = after - s - a - belief.m, belief.kappa
        if belief.learns:
            m, psi, nu, k = belief.m + e / (k + 1), belief.psi + k / (k + 1) * e * e, belief.nu + 1, k + 1
        else:
            m, psi, nu = belief.m, belief.psi, belief.nu
        variance = psi * (k + 1) / (k * nu) * nu / (nu - 2.0)
        best = np.max([-(after**2) - 0.1 * c**2 - belief.gamma * ((after + c + m) ** 2 + variance)
                       for c in ACTIONS[:, 0]], axis=0)  # fmt: skip
        q.append(-(s**2) - 0.1 * a**2 + belief.gamma * best.mean())
    return np.array(q)


def test_the_oracles_are_those_of_the_reference():
    """To what the quantiles leave out of the tails; learning lowers the value of the last action by .34."""
    np.testing.assert_allclose(two_decisions(Drift(), 0.5), [-1.061, -1.501, -3.941], atol=1e-9)
    exact = three_decisions(Drift(), 0.5, 100_001)
    np.testing.assert_allclose(exact, [-1.984280, -2.789223, -6.523716], atol=4e-3)
    assert (three_decisions(Drift(learns=False), 0.5) - exact).max() > 0.33


def test_two_decisions_are_the_closed_form():
    """The mean of 200 searches of width 10: nothing is biased at depth 2; false alarm 1e-6."""
    q = np.array([values(SeesRewards(), 0.5, seed=i, width=10) for i in range(200)])
    assert_mean_equal(q, two_decisions(Drift(), 0.5))
    assert q.std(axis=0).max() < 0.6  # plain draws: .9 and more


def test_three_decisions_are_quadrature():
    """One search of width 100; and the mean of eight of width 20."""
    q = values(SeesRewards(), 0.5, depth=3, width=100)
    np.testing.assert_allclose(q, [-1.984280, -2.789223, -6.523716], atol=0.45)
    q = np.mean([values(SeesRewards(), 0.5, depth=3, width=20, seed=i) for i in range(8)], axis=0)
    np.testing.assert_allclose(q, [-1.984280, -2.789223, -6.523716], atol=0.25)


def test_what_is_not_learnt_in_the_tree_is_not_valued():
    """The same search on a belief that never learns has the values of that belief."""
    q = np.mean([values(SeesRewards(learns=False), 0.5, depth=3, width=20, seed=i) for i in range(8)], axis=0)
    np.testing.assert_allclose(q, three_decisions(Drift(learns=False), 0.5), atol=0.25)


@pytest.mark.parametrize("depth", [2, 3])
@pytest.mark.parametrize("leaf", [None, lambda rows: np.abs(rows).sum(axis=1)])
def test_rewards_of_seen_states_change_no_value(depth, leaf):
    one, two = (values(kind(), 0.5, depth=depth, width=6, leaf=leaf) for kind in (Drift, SeesRewards))
    assert not offers(Drift(), RewardsStates)
    assert offers(SeesRewards(), RewardsStates)
    np.testing.assert_allclose(one, two, rtol=1e-12)


def test_the_maximum_is_inside_the_mean():
    """The best second action depends on what was drawn: reward -(s + a)^2, quadrature of the drawn state."""
    belief = SeesRewards(reward=lambda states, action: -((states[:, 0] + action[0]) ** 2))
    v = student(6.0).ppf((np.arange(20_001) + 0.5) / 20_001) * belief.scale + belief.m
    exact = [-((0.5 + a) ** 2) + 0.9 * np.max([-((0.5 + a + v + c) ** 2) for c in (-1, 0, 1)], axis=0).mean()
             for a in (-1, 0, 1)]  # fmt: skip
    q = np.mean([values(belief, 0.5, width=50, seed=i) for i in range(40)], axis=0)
    np.testing.assert_allclose(q, exact, atol=0.12)
    other = [-((0.5 + a) ** 2) + 0.9 * max(-((0.5 + a + v + c) ** 2).mean() for c in (-1, 0, 1)) for a in (-1, 0, 1)]
    assert np.subtract(exact, other).max() > 0.5


def test_the_same_random_numbers_serve_all_actions():
    """Actions that do the same have the same value, to the last digit, at every depth."""
    for depth in (2, 3):
        q = values(Drift(), 0.5, actions=[1.0, 1.0, 0.0, 1.0], depth=depth, width=3)
        assert q[0] == q[1] == q[3]
    belief = Drift(reward=lambda states, action: states[:, 0])  # what an action adds is then certain
    np.testing.assert_allclose(np.diff(values(belief, 0.5, width=2)), 0.9, rtol=1e-12)


class NotesDraws:
    """A belief that notes the first random number of each node; its observations are far apart."""

    gamma = 0.9

    def __init__(self, notes, path=()):
        self.notes, self.path = notes, path

    def update(self, datum, rng=None):
        return NotesDraws(self.notes, (*self.path, (float(datum.action[0]), float(datum.next_observation[0]))))

    def draw(self, observation, action, rng, n=1):
        self.notes.setdefault(len(self.path), {}).setdefault(self.path, set()).add(rng.random())
        return rng.normal(size=(n, 1))

    def expected_reward(self, observation, action):
        return 0.0


@pytest.mark.parametrize("leaf", [None, lambda rows: rows[:, 0]])
def test_each_node_draws_for_itself(leaf):
    """All actions at a node share its random numbers, and so do nodes that are reached by other actions."""
    notes, C, depth = {}, 3, 4
    planner = ContinuousForwardSearch(actions=ACTIONS, depth=depth, width=C, leaf=leaf)
    planner.plan(NotesDraws(notes), np.zeros(1), None, default_rng(0))
    assert sorted(notes) == [*range(depth if leaf else depth - 1)]
    for level, nodes in notes.items():
        assert len(nodes) == (len(ACTIONS) * C) ** level
        assert all(len(found) == 1 for found in nodes.values())
        assert len(set.union(*nodes.values())) == C**level


def unknown_noise(**given):
    """The same belief of the library."""
    noise = b.beliefs.NormalWishart([0.3], 2.0, 6.0, [[2.0]])
    return NormalWishartDynamics(
        lambda s, a, v: s + a + v, noise, inverse=lambda s, a, y: y - s - a, reward=quadratic, gamma=0.9, **given
    )


def test_unknown_noise_is_searched():
    """Three decisions, width 50. A belief stripped of its known rewards has the same values, draw for draw."""
    belief = unknown_noise()
    np.testing.assert_allclose(values(belief, 0.5, depth=3, width=50), [-1.984280, -2.789223, -6.523716], atol=0.45)
    bare = stripped(belief, (DrawsObservations,))
    np.testing.assert_allclose(*(values(one, 0.5, depth=3, width=4) for one in (belief, bare)), rtol=1e-12)


def test_linear_systems_are_searched():
    """Two decisions in closed form: the mean of 30 searches; the last action is the one with u = 0."""
    prior = LinearGaussianDynamics(np.array([[0.9], [0.5]]), 4.0 * np.eye(2), np.array([[0.04]]), Q=[[1.0]], R=[[0.3]])
    x, exact = 0.8, []
    for (u,) in ACTIONS:
        mean, variance = 0.9 * x + 0.5 * u, 0.04 * (1.0 + (x * x + u * u) / 4.0)
        exact.append(-(x**2) - 0.3 * u**2 - prior.gamma * (mean**2 + variance))
    q = np.array([values(prior, x, width=20, seed=i) for i in range(30)])
    assert_mean_equal(q, exact)
    bare = stripped(prior, (DrawsObservations,))
    np.testing.assert_allclose(*(values(one, x, depth=3, width=3) for one in (prior, bare)), rtol=1e-9)


def test_hidden_states_are_searched():
    """s_0 ~ N(.2, .09) is hidden. One decision is exact; two have the closed form of -z'^2 at the second."""
    belief = NormalWishartDynamics(
        lambda s, a, v: s + a + v, 0.3, observation=lambda s, a, w: s + w,
        inverse_observation=lambda s, a, z: (z - s, 0.0),
        sensor=0.5, state=(0.2, 0.09), particles=400, reward=quadratic, gamma=0.9,
    )  # fmt: skip
    np.testing.assert_allclose(values(belief, None, depth=1), -(0.2**2) - 0.09 - 0.1 * ACTIONS[:, 0] ** 2, rtol=1e-9)
    exact = [-(0.2**2) - 0.09 - 0.1 * a**2 - 0.9 * ((0.2 + a) ** 2 + 0.09 + 0.09) for (a,) in ACTIONS]
    q = np.mean([values(belief, None, width=8, inner=100, seed=i) for i in range(20)], axis=0)
    np.testing.assert_allclose(q, exact, atol=0.1)


# A Gaussian process --------------------------------------------------------------------------------------------------

K, NOISE = Gaussian(scale=[1.0, 1.5], variance=1.44), 0.1
LOG = [Transition([0.0], [1.0], 0.0, [0.9]), Transition([0.9], [-1.0], 0.0, [0.1])]
GP = GPDynamics(K, NOISE, mean="zero", reward=quadratic, gamma=0.9).update_many(LOG)


def conditioned(X, y, x):
    """Mean and variance of the next state by dense conditioning."""
    k = K(X, x[None])[:, 0]
    weights = np.linalg.solve(K(X, X) + NOISE**2 * np.eye(len(X)), k)
    return weights @ y, K.variance - weights @ k + NOISE**2


def process_values(s, depth, learns=True):
    """Depth 2 in closed form, depth 3 by a Gauss-Hermite rule for the first draw."""
    X, y = np.array([[0.0, 1.0], [0.9, -1.0]]), np.array([0.9, 0.1])
    z, w = hermegauss(80)
    q = []
    for (a,) in ACTIONS:
        mean, variance = conditioned(X, y, np.array([s, a]))
        if depth == 2:
            q.append(-(s**2) - 0.1 * a**2 - 0.9 * (mean**2 + variance))
            continue
        best = []
        for after in mean + np.sqrt(variance) * z:
            seen = (np.vstack([X, [s, a]]), np.append(y, after)) if learns else (X, y)
            then = [conditioned(*seen, np.array([after, c])) for (c,) in ACTIONS]
            best.append(max(-(after**2) - 0.1 * c**2 - 0.9 * (m * m + v)
                            for (c,), (m, v) in zip(ACTIONS, then, strict=True)))  # fmt: skip
        q.append(-(s**2) - 0.1 * a**2 + 0.9 * (w @ best) / w.sum())
    return np.array(q)


def test_two_decisions_on_a_process_are_the_closed_form():
    np.testing.assert_allclose(values(GP, 0.5, width=2000), process_values(0.5, 2), atol=0.02)


def test_three_decisions_on_a_process_are_quadrature():
    """Learning in the tree is worth .24."""
    q = values(GP, 0.5, depth=3, width=250)
    exact = process_values(0.5, 3)
    np.testing.assert_allclose(q, exact, atol=0.13)
    assert (exact - process_values(0.5, 3, learns=False)).max() > 0.23


TWO = GPDynamics([Gaussian(scale=1.0), Gaussian(scale=2.0, variance=0.5)], [0.1, 0.2], reward=quadratic, gamma=0.8)
LEARNS = GPDynamics(Gaussian(scale=2.0), 0.1, reward=Gaussian(scale=1.5), gamma=0.8)
PATH = [Transition([0.1, 0.3], [0.5, 0.0], 0.4, [0.2, 0.1]), Transition([0.2, 0.1], [-0.5, 1.0], -0.3, [0.4, 0.0]),
        Transition([0.7, 0.9], [0.5, 1.0], 0.9, [0.3, 0.5])]  # fmt: skip


@pytest.mark.parametrize("prior", [TWO, LEARNS, replace(TWO, mean="zero")], ids=["two", "learned reward", "zero mean"])
@pytest.mark.parametrize("depth, leaf", [(1, None), (3, None), (2, lambda rows: np.abs(rows).sum(axis=1))])
def test_the_compiled_tree_is_the_plain_one(prior, depth, leaf):
    """Draw for draw, from nothing and after data: the plain search has the belief without its compiled tree."""
    planner = ContinuousForwardSearch([[0.5, 0.0], [-0.5, 1.0]], depth, width=3, leaf=leaf)
    for belief in (prior, prior.update_many(PATH)):
        assert offers(belief, GrowsTrees)
        bare = stripped(belief, (DrawsObservations,))
        one, two = (planner.plan(some, np.array([0.2, -0.1]), None, default_rng(4)) for some in (belief, bare))
        np.testing.assert_allclose(one.info["q"], two.info["q"], rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(one.action, two.action)


def test_other_covariances_are_searched_without_the_compiled_tree():
    belief = GPDynamics(Matern(smoothness=2.5), 0.1, reward=quadratic).update_many(LOG)
    assert not offers(belief, GrowsTrees)
    assert offers(belief, RewardsStates)
    assert np.isfinite(values(belief, 0.5, depth=3, width=2)).all()


# Known dynamics ------------------------------------------------------------------------------------------------------


class Known(Drift):
    """s' = s + a for certain."""

    def update(self, datum, rng=None):
        return self

    def draw(self, observation, action, rng, n=1):
        return np.repeat((observation + action)[None], n, axis=0)


def brute_force(s, first, depth, leaf, gamma=0.9):
    """The best sequence of actions, listed."""
    best = -np.inf
    for rest in product(ACTIONS[:, 0], repeat=depth - 1):
        x, total = s, 0.0
        for t, a in enumerate((first, *rest)):
            total += gamma**t * (-(x**2) - 0.1 * a**2)
            x += a
        best = max(best, total + gamma**depth * leaf(x))
    return best


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
@pytest.mark.parametrize("leaf", [None, lambda rows: 3.0 * np.abs(rows[:, 0])])
def test_every_level_and_the_leaf_are_discounted(depth, leaf):
    exact = [brute_force(0.7, a, depth, lambda x: 0.0 if leaf is None else 3.0 * abs(x)) for a in ACTIONS[:, 0]]
    np.testing.assert_allclose(values(Known(), 0.7, depth=depth, width=2, leaf=leaf), exact, rtol=1e-12)


# Particles, sampled actions, refusals --------------------------------------------------------------------------------

ASKED = []


@dataclass(frozen=True)
class Particles(Drift):
    """A belief that says how many particles were asked for."""

    particles: int = 1000
    log: list = field(default_factory=list)

    def thinned(self, particles, rng):
        ASKED.append(particles)
        return replace(self, particles=particles)

    def draw(self, observation, action, rng, n=1):
        ASKED.append(("draw", self.particles))
        return super().draw(observation, action, rng, n)

    def expected_reward(self, observation, action):
        ASKED.append(("reward", self.particles))
        return super().expected_reward(observation, action)


def test_particles_are_thinned_inside_the_tree():
    """The rewards of the first decision are those of all particles."""
    ASKED.clear()
    assert offers(Particles(), Thins)
    values(Particles(), 0.5, width=2, inner=7)
    assert ASKED[:4] == [("reward", 1000)] * 3 + [7]
    assert {*ASKED[4:]} == {("draw", 7), ("reward", 7)}


def test_sampled_actions():
    """A function draws the actions of each decision; the same generator gives the same ones."""
    planner = ContinuousForwardSearch(lambda rng: rng.uniform(-1.0, 1.0, (4, 1)), width=3)
    decisions = [planner.plan(Drift(), np.array([0.5]), None, default_rng(seed)) for seed in (0, 0, 1)]
    assert decisions[0].action == decisions[1].action != decisions[2].action
    assert decisions[0].action in default_rng(0).uniform(-1.0, 1.0, (4, 1))
    assert decisions[0].info["q"].shape == (4,)


@pytest.mark.parametrize("given, name", [
    ({"actions": []}, "actions"), ({"actions": [np.nan]}, "actions"), ({"actions": "up"}, "actions"),
    ({"depth": 0}, "depth"), ({"width": 0}, "width"), ({"inner": 0}, "inner"), ({"leaf": 1.0}, "leaf"),
    ({"depth": 9, "width": 100}, "depth"),
])  # fmt: skip
def test_bad_parameters_are_refused(given, name):
    with pytest.raises(InvalidArgument, match=rf"^ContinuousForwardSearch: '{name}' must be "):
        ContinuousForwardSearch(**({"actions": ACTIONS} | given))


def test_bad_leaves_and_sampled_actions_are_refused():
    with pytest.raises(BrokenContract, match=r"the function 'leaf' does not return an array of shape \(16,\): it gave"):
        values(Known(), 0.5, leaf=lambda rows: np.zeros(len(rows) + 1))
    with pytest.raises(InvalidArgument, match=r"^ContinuousForwardSearch: 'actions' must be"):
        values(Known(), 0.5, actions=lambda rng: [np.inf])


def test_beliefs_that_cannot_be_searched_are_refused():
    """When the agent is made: without a reward, and without next observations."""
    planner = ContinuousForwardSearch(ACTIONS)
    with pytest.raises(Incompatible, match=r"needs a belief with 'expected_reward', which GPDynamics lacks"):
        BayesAgent(GPDynamics(K), planner)
    with pytest.raises(Incompatible, match=r"needs a belief with 'draw', 'expected_reward', which BetaBernoulli lacks"):
        BayesAgent(b.beliefs.BetaBernoulli.uniform(2), planner)


@pytest.mark.parametrize("observation", [np.nan, [0.1, 0.2], "x", None])
def test_observations_that_are_no_states_are_refused(observation):
    rng = default_rng(0)
    with pytest.raises(InvalidArgument, match="must be"):
        ContinuousForwardSearch(ACTIONS).plan(GP, observation, None, rng)


@pytest.mark.long
def test_the_blimp_is_held():
    """From nothing: ten runs, mean reward of steps 51 to 100 (measured .986; with the model known .985)."""
    world, planner = b.make_world("blimp"), ContinuousForwardSearch(ACTIONS, depth=3, width=2)
    agent = BayesAgent(prior_for(world), planner)
    assert np.mean([b.run(agent, world, 100, seed=i).reward[50:].mean() for i in range(10)]) >= 0.95
