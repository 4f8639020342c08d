"""Laws of plumbing of beliefs, in all their answers (`answers`), for all registered beliefs and more forms of them.

What was asked, kept, pickled or learnt beside a belief changes no answer. One log is several logs, whatever its form. A
restart happens once. Replicates in lockstep are single beliefs. A chain that is refreshed twice goes on.
"""

import pickle
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import own_probes  # noqa: F401  # which loads all probes
import pytest
from answers import answers, drawn, same
from numpy.random import default_rng

import bayesrl as b
from bayesrl import beliefs as bs
from bayesrl.beliefs.covariances import Gaussian
from bayesrl.beliefs.features import Polynomial
from bayesrl.beliefs.rewards.reward_priors import FinitePrior, UniformPrior
from bayesrl.core import Transition
from bayesrl.errors import BayesRLError
from bayesrl.kernels.simulators.reversible_step import likelihood, replay, undo
from bayesrl.kernels.simulators.simulator import begin, root, step
from bayesrl.models.mdp import Outcomes, TabularMDP
from bayesrl.registry import methods
from bayesrl.testing import probe_for
from bayesrl.testing.laws import unasked


class Case(NamedTuple):
    make: object
    """() -> the prior."""
    data: object = None
    """(prior, rng) -> eight data for `update`, some of which end an episode; None: those of its probe."""
    given: Mapping = MappingProxyType({})
    """Arguments of its questions."""
    unasked: tuple = ()
    """Questions that are left out, since their answers are long."""


def of_probe(prior, rng):
    """Eight data of one truth; of episodes their steps, and the last one is cut off."""
    probe = probe_for(prior)
    theta, found = probe.draw(prior, rng), []
    while len(found) < 8:
        datum = probe.datum(prior, theta, rng)
        found += datum if isinstance(datum, list) else [datum]
    last = found[-1]
    return [*found[:-1], last._replace(truncated=not last.terminated) if isinstance(last, Transition) else last]


# Cases ---------------------------------------------------------------------------------------------------------------

LONG = ("row_covariance", "enumerable", "exact_rows", "simulate", "optimistic_mdp", "pair_means", "pair_variances")
LINE = {"states": [0.0, 1.0, 2.0], "X": [0.0, 1.0], "weights": [0.4, -0.3]}
PLANE = {"state": [0.3, -0.2], "observation": [0.3, -0.2], "action": [0.5], "observations": [[0.1, 0.2]],
         "mean": [0.1, 0.0], "covariance": 0.1 * np.eye(2)}  # fmt: skip
GIVEN = dict.fromkeys(("gp-dynamics", "linear-gaussian-dynamics"), PLANE)
GIVEN |= {"normal-wishart-dynamics": PLANE | {"action": [0.5, 0.1]}}
GIVEN |= {"gp-pomdp": {"observation": [0.1], "action": [0.2], "states": np.zeros((9, 1))}}


def log_of(step, n=8):
    """(prior, rng) -> n data of a function of rng."""
    return lambda prior, rng: [step(rng) for _ in range(n)]


def walk(n, A, pay=lambda s, a, y: 0.0, ends=(3, 6)):
    """Random transitions between n states that are cut off twice."""

    def steps(prior, rng):
        found, s = [], int(rng.integers(n))
        for t in range(8):
            a, y = int(rng.integers(A)), int(rng.integers(n))
            found.append(Transition(s, a, pay(s, a, y), y, truncated=t in ends))
            s = int(rng.integers(n)) if t in ends else y
        return found

    return steps


def dense(S, A, seed=0, gamma=0.9):
    rng = default_rng(seed)
    return TabularMDP.from_dense(rng.dirichlet(np.ones(S), (S, A)), np.arange(S)[:, None] * np.ones(A), gamma)


def ring(S):
    """Two moves from each state, in groups of two states."""
    succ = np.array([[[(s + 1) % S, s], [s, (s + 2) % S]] for s in range(S)])
    group = np.array([[s // 2 * 2, s // 2 * 2 + 1] for s in range(S)])
    return Outcomes(succ, np.zeros((S, 2, 2)), group, np.full(S, 2), np.zeros(1), np.eye(S)[0], np.zeros(S, bool))


def on_ring(S):
    def step(rng):
        s, a, k = int(rng.integers(S)), int(rng.integers(2)), int(rng.integers(2))
        return Transition(s, a, 0.0, ((s + 1) % S, s, s, (s + 2) % S)[2 * a + k])

    return log_of(step)


def shift(s, a, v):
    return s + a + v


def look(s, a, w):
    return s + w


def unlook(s, a, z):
    return z - s, np.zeros(len(s))


def paid(s, a):
    return s.sum(axis=1)


def vectors(s, a, z, cut=(3,)):
    def steps(prior, rng):
        normal = rng.standard_normal
        return [Transition(normal(s), normal(a), float(normal()), normal(z), truncated=t in cut) for t in range(8)]

    return steps


def pairs(S, A):
    return log_of(lambda rng: (int(rng.integers(S)), int(rng.integers(A))))


def experts(prior, rng):
    return [np.column_stack([rng.integers(2, size=3), rng.integers(2, size=3)]) for _ in range(4)]


def joint(S, A, B, pays):
    def step(rng):
        s, a, o, y = (int(rng.integers(n)) for n in (S, A, B, S))
        return bs.JointTransition(s, a, o, float(rng.choice(pays)), y)

    return log_of(step)


def hidden(prior, rng):
    found = [Transition(-1, int(rng.integers(2)), 0.0, int(rng.integers(2)), truncated=t in (2, 5)) for t in range(8)]
    return found


TWO = TabularMDP.from_dense([[[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.1, 0.9]]], np.zeros(2), gamma=0.8)
NOISE, SENSOR = bs.NormalWishart([0.1, 0.0], 2.0, 7.0, np.eye(2)), bs.NormalWishart([0.0, 0.0], 4.0, 8.0, np.eye(2))
START = (np.zeros(2), 0.1 * np.eye(2))
LISTED = FinitePrior([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
CASES = {e.name: Case(e.example, of_probe, GIVEN.get(e.name, LINE)) for e in methods() if e.kind == "belief"}
CASES["forgetting, of a posterior"] = Case(
    lambda: bs.Forgetting(bs.BetaBernoulli.uniform(2).update(Transition(0, 1, 1.0, 0)), decay=0.9),
    log_of(lambda rng: Transition(0, int(rng.integers(2)), float(rng.integers(2)), 0)),
)
CASES["poisson-arm, large counts"] = Case(
    lambda: bs.PoissonArm.exponential(2),
    log_of(lambda rng: Transition(0, int(rng.integers(2)), float(rng.integers(2, 9)), 0)),
)
CASES["bapomdp-particle"] = Case(
    lambda: bs.ParticleBAPOMDP(example("bapomdp-exact").model_prior, particles=60), of_probe, LINE, ("hyper_states",)
)
CASES |= {
    "dirichlet, large": Case(
        lambda: b.DirichletMDP.flat(dense(18, 14), 0.7), walk(18, 14, lambda s, a, y: float(s)), {}, LONG
    ),
    "dirichlet, shared": Case(lambda: b.DirichletMDP(ring(6), np.full((6, 2), 0.7), 0.9), on_ring(6)),
    "dirichlet, many": Case(
        lambda: b.DirichletMDP.flat(dense(70, 1), 0.01), walk(70, 1, lambda s, a, y: float(s)), {}, LONG
    ),
    "sparse, large": Case(
        lambda: bs.SparseDirichletMDP.flat(dense(18, 14), 0.7), walk(18, 14, lambda s, a, y: float(s)), {}, LONG
    ),
    "unknown rewards": Case(
        lambda: bs.UnknownRewards(b.DirichletMDP.flat(dense(3, 2)), bs.RewardBeta(np.ones((3, 2)), np.ones((3, 2)))),
        walk(3, 2, lambda s, a, y: float(y == 0)),
    ),
    "unknown rewards of outcomes": Case(
        lambda: bs.UnknownRewards(b.DirichletMDP.flat(dense(3, 2)), bs.RewardNormal.strens((3, 2, 3))),
        walk(3, 2, lambda s, a, y: 0.3 * s - a + y),
    ),
    "crp-dynamics, chains": Case(lambda: bs.CRPDynamics(ring(12), 0.9, chains=3), on_ring(12)),
    "factored-dbn, chains": Case(
        lambda: bs.FactoredDBN((2,) * 11, 2, chains=2), walk(2**11, 2, ends=()), {"state": 5, "rows": None}
    ),
    "gaussian rewards": Case(
        lambda: bs.GaussianRewards(dense(3, 2), np.zeros((3, 2)), np.eye(6) + 0.3),
        walk(3, 2, lambda s, a, y: s - 0.5 * a),
    ),
    "finite-mdps, many": Case(
        lambda: bs.FiniteMDPs(tuple(dense(3, 2, seed) for seed in range(3))), walk(3, 2, lambda s, a, y: float(s))
    ),
    "gp-dynamics, reward": Case(
        lambda: bs.GPDynamics(Gaussian(), noise=[0.3, 0.3, 0.2], reward=Gaussian(2.0)), vectors(2, 1, 2), PLANE
    ),
    "gp-dynamics, any covariance": Case(
        lambda: bs.GPDynamics([bs.covariances.Matern(), Gaussian()], noise=0.3), vectors(2, 1, 2), PLANE
    ),
    "gp-pomdp, reward": Case(
        lambda: bs.GPPOMDP(
            Gaussian(), Gaussian(), [0.3, 0.2], 0.25, "state", "state", ([0.2], [[0.5]]), 15, Gaussian()
        ),
        vectors(1, 1, 1),
        GIVEN["gp-pomdp"],
    ),
    "noise, hidden": Case(
        lambda: bs.NormalWishartDynamics(shift, NOISE, None, look, unlook, SENSOR, START, particles=20, reward=paid),
        vectors(2, 2, 2),
        PLANE | {"action": [0.5, 0.1]},
    ),
    "normal-wishart": Case(lambda: NOISE, log_of(lambda rng: rng.standard_normal(2)), {"x": [0.1, 0.2]}),
    "linear dynamics, features": Case(
        lambda: bs.LinearGaussianDynamics(np.zeros((6, 1)), np.eye(6), 0.3, features=Polynomial(2, 2)),
        vectors(1, 1, 1),
        {"observation": [0.1], "action": [0.2]},
    ),
    "kernel-selection, particles": Case(
        lambda: bs.KernelSelection([Gaussian(0.5), Gaussian(2.0)], noise=0.5, particles=4),
        lambda prior, rng: of_probe(example("kernel-selection"), rng),
        LINE,
    ),
    "gptd-sparse, white": Case(
        lambda: bs.SparseGPTD(Gaussian(), 0.3, 0.9, 0.01, "white"),
        lambda prior, rng: of_probe(example("gptd"), rng),
        LINE,
    ),
    "linear regression, cubes": Case(
        lambda: bs.BayesianLinearRegression(Polynomial(3), noise=0.5),
        log_of(lambda rng: (float(rng.normal()), float(rng.normal()))),
        LINE,
    ),
    "birl, listed": Case(lambda: bs.BIRL(TWO, None, LISTED), pairs(2, 2), LINE),
    "dpm-birl, density": Case(lambda: bs.DPMBIRL(TWO, None, UniformPrior(), moves=2), experts, LINE),
    "multitask-birl, densities": Case(
        lambda: bs.MultitaskBIRL(TWO, None, (UniformPrior(), UniformPrior(-2.0, 0.5)), moves=2), experts, LINE
    ),
    "multitask-birl, policies": Case(lambda: bs.MultitaskBIRL(TWO, None, (LISTED,), model="policy"), experts, LINE),
    "hierarchical, unknown": Case(
        lambda: bs.HierarchicalMDP(dense(2, 2), b.multitask.LogUniform()),
        log_of(
            lambda rng: Transition(
                int(s := rng.integers(2)),
                int(rng.integers(2)),
                float(s),
                int(rng.integers(2)),
                task=int(rng.integers(3)),
            )
        ),
    ),
    "linear reward classes": Case(
        lambda: bs.LinearRewardClasses(0.8, 0.7, np.eye(2), np.zeros(2), 2.0 * np.eye(2)),
        log_of(lambda rng: (int(rng.integers(3)), rng.normal(size=2), float(rng.normal()))),
    ),
    "game": Case(
        lambda: bs.DirichletGame.flat(game(0), history=1, values=[-1.0, 0.5]), joint(2, 2, 2, [-1.0, 0.5]), {"depth": 2}
    ),
    "games, known": Case(
        lambda: bs.DirichletGame.flat(game(0), values=[-1.0, 0.5], known=True),
        joint(2, 2, 2, [-1.0, 0.5]),
        {"depth": 2},
    ),
    "finite games": Case(
        lambda: bs.FiniteGames((game(0), game(1)), strategies=[[0.2, 0.8], [0.5, 0.5]]),
        joint(2, 2, 2, [0.5]),
        {"depth": 2},
    ),
    "repeated game": Case(
        lambda: bs.RepeatedGame(np.ones((2, 2)), np.ones((2, 2))), joint(1, 2, 2, [0.0, 1.0]), {"depth": 2}
    ),
    "particles, rescued": Case(lambda: bs.POMDPParticles(example("pomdp-particles").world, 5, rescue=True), hidden),
}


def game(seed, S=2, A=2, B=2):
    return b.multiagent.StochasticGame(default_rng(seed).dirichlet(np.ones(S), (S, A, B)), np.full((S, A, B), 0.5), 0.8)


@cache
def example(name):
    return CASES[name].make()


@cache
def seen(name):
    """The prior of a case, and its data."""
    prior = CASES[name].make()
    return prior, CASES[name].data(prior, default_rng(list(name.encode())))


def told(name, belief):
    return answers(belief, CASES[name].unasked, **CASES[name].given)


def after(belief, datum, rng=None):
    """The belief after a datum, restarted if an episode ends, as an agent does."""
    belief = belief.update(datum, rng)
    ends = getattr(datum, "ends_episode", False) and hasattr(belief, "restart")
    return belief.restart() if ends else belief


def again(belief):
    return pickle.loads(pickle.dumps(belief))


def check(one, other, rtol=0.0):
    """Two sets of answers agree."""
    where = same(one, other, rtol)
    assert not where, where


# Laws ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_what_is_asked_and_kept_changes_no_answer(name):
    """Beside a belief that came from a file at every age; other posteriors of the same ages are asked too."""
    prior, data = seen(name)
    asked = silent = prior
    for age, datum in enumerate(data[:5]):
        before = asked
        if age in (0, 2):
            old, said = asked, told(name, asked)
        beside(name, before, data[0], age)
        asked, silent = after(before, datum, default_rng(age)), after(unasked(silent), datum, default_rng(age))
        told(name, asked)
        beside(name, before, data[-1], age + 1)
    check(told(name, asked), told(name, silent))
    check(told(name, asked), told(name, unasked(asked)))
    check(told(name, old), said)


def beside(name, belief, datum, seed):
    """Ask another posterior, if there is one."""
    with suppress(BayesRLError):
        told(name, after(belief, datum, default_rng(seed)))


JOINT = {"logistic-arms", "logistic-laplace-arms"}
"""Beliefs that take a log as one datum: Laplace's approximation of all of it."""
MOVED = {"kernel-selection, particles"}
"""Beliefs whose particles may move after each log (`tests/beliefs/values/test_kernel_selection.py`)."""
NO_TABLES = {"kernel-selection", "kernel-selection, particles", "lstd-lambda"}
NO_TABLES |= {name for name in CASES if name.startswith(("gp-dynamics", "gptd"))}
"""Beliefs whose logs are transitions, or arrays of another form."""
NO_LOGS = {name for name in CASES if not hasattr(CASES[name].make(), "update_many")}


@pytest.mark.parametrize("name", [name for name in CASES if name not in NO_LOGS | JOINT | MOVED])
def test_one_log_is_several(name):
    """A log that is cut anywhere, single data with restarts, a log that can be read once."""
    prior, data = seen(name)
    rng, one = default_rng(1), prior
    for datum in data:
        one = after(one, datum, rng)
    expected = told(name, one)
    for cut in (0, 1, 5):
        rng, many = default_rng(1), prior
        for part in (data[:cut], data[cut:]):
            try:
                many = many.update_many(part, rng)
            except BayesRLError:
                assert not len(part)  # an empty log may be refused
        check(told(name, many), expected, 1e-9)
        if "regression" in name and cut:  # points and values
            X, y = np.array(data).T
            check(told(name, prior.update_many((X[:cut], y[:cut])).update_many((X[cut:], y[cut:]))), expected, 1e-9)


@pytest.mark.parametrize("name", [name for name in CASES if name not in NO_LOGS])
def test_a_log_may_be_a_table_or_be_read_once(name):
    """Columns and iterators say what transitions say, ends of episodes and tasks included."""
    prior, data = seen(name)
    expected = told(name, prior.update_many(data, default_rng(1)))
    if not isinstance(data[0], Transition):
        return
    for log in (iter(data), columns_of(data)):
        many = None
        with suppress(*[BayesRLError] * (name in NO_TABLES)):
            many = prior.update_many(log, default_rng(1))
        if many is not None:
            check(told(name, many), expected)


def columns_of(data):
    columns = {field: [getattr(step, field) for step in data] for field in Transition._fields}
    return {field: np.array(column) for field, column in columns.items() if column[0] is not None}


@pytest.mark.parametrize("name", [name for name in CASES if hasattr(CASES[name].make(), "restart")])
def test_a_restart_happens_once(name):
    """It forgets the state, but no evidence; twice is once, also in a file; what comes later is the same."""
    prior, data = seen(name)
    belief = prior
    for age, datum in enumerate([None, *data[:5]]):
        before = belief
        belief = belief if datum is None else belief.update(datum, default_rng(age))
        begun = belief.restart()
        check(told(name, begun.restart()), told(name, begun), 1e-12)
        check(told(name, again(begun)), told(name, begun))
        if hasattr(belief, "log_evidence"):
            assert belief.log_evidence() == begun.log_evidence()
        for present in ("states", "state_moments"):
            if hasattr(belief, present):
                check(told(name, begun)[present], told(name, prior)[present], 1e-12)
        if datum is not None and not datum.terminated:
            alone = again(before)
            cut, open_ = (alone.update(datum._replace(truncated=x), default_rng(age)) for x in (True, False))
            one, other = told(name, cut.restart()), told(name, open_.restart())
            for said in (one, one["itself"], other, other["itself"]):
                said.pop("log", None)  # which says how an episode ended
            check(one, other, 1e-12)
        if getattr(datum, "ends_episode", False):
            belief = begun
        elif datum is not None and age == 3:
            fresh = data[0]
            check(
                told(name, begun.restart().update(fresh, default_rng(0))),
                told(name, again(begun).update(fresh, default_rng(0))),
                1e-12,
            )


@pytest.mark.parametrize("name", [name for name in CASES if hasattr(CASES[name].make(), "plays")])
def test_plays_are_counted_from_the_prior_on(name):
    prior, data = seen(name)
    assert not prior.plays().any()
    if "forgetting" not in name:
        for datum in data:
            prior = prior.update(datum, default_rng(0))
        assert prior.plays().sum() == len(data)


DENSITIES = (
    "bayesian", "forgetting", "full-bandit", "gaussian", "gp", "exponential", "kernel", "linear", "noise", "normal"
)  # fmt: skip
"""What the names of beliefs begin with whose data have densities, or whose evidence fades."""
DISCRETE = [n for n in CASES if hasattr(CASES[n].make(), "log_evidence") and not n.startswith(DENSITIES)]


@pytest.mark.parametrize("name", DISCRETE)
def test_evidence_only_falls(name):
    """It is the log of a product of probabilities, over all data and episodes."""
    prior, data = seen(name)
    said = []
    for datum in [None, *data]:
        prior = prior if datum is None else after(prior, datum, default_rng(0))
        with suppress(BayesRLError):  # some have no exact evidence
            said.append(prior.log_evidence())
    assert not len(said) or (abs(np.sum(said[0])) < 1e-12 and (np.diff([np.sum(x) for x in said]) <= 1e-12).all())


def test_a_posterior_is_not_described_as_its_prior(monkeypatch):
    """A record stores the sizes of a large flat prior, but never those of a belief with data."""
    monkeypatch.setattr("bayesrl.models.outcomes.MANY_CELLS", 1)
    prior = b.DirichletMDP.flat(b.make_world("chain"), 0.7)
    assert prior.described() is not None
    assert prior.update(Transition(0, 0, 0.0, 1)).described() is None


# Lockstep ------------------------------------------------------------------------------------------------------------

DRAWN = {"sample_means", "sample_weights", "best_arm", "sample_parameters", "sample_system", "draw", "posteriors_after"}
DRAWN |= {"reward_deviation", "posterior_size", "arm_states"}
"""Answers that are drawn, or are about all replicates."""
FROM_PRIOR = {"prior", "plays", "average", "log_evidence", "prior_parameters", "prior_alpha", "belief"}
"""Answers in which replicates with one posterior may differ, as their priors may; a belief inside has such answers."""


@pytest.mark.parametrize("name", [name for name in CASES if hasattr(CASES[name].make(), "batch")])
def test_replicates_are_single_beliefs(name):
    """A belief with data is repeated, and then learns in lockstep from different data."""
    prior, data = seen(name)
    for datum in data[:3]:
        prior = prior.update(datum, default_rng(0))
    together, alone = prior.batch(3), [prior] * 3
    for i in range(3):
        match(told(name, together), told(name, alone[i]), i)
    for t in (0, 2):
        parts = data[t + 2 : t + 5]
        together = together.update(stacked(parts), default_rng(t))
        alone = [one.update(datum, default_rng(t)) for one, datum in zip(alone, parts, strict=True)]
    for i in range(3):
        match(told(name, together), told(name, alone[i]), i)
    if hasattr(together, "some_replicates"):
        match(told(name, together.some_replicates(slice(1, 3))), told(name, alone[2]), 1)
        few, which = together.distinct_replicates()
        posterior = {
            question: answer for question, answer in told(name, alone[2]).items() if question not in FROM_PRIOR
        }
        for of_prior in FROM_PRIOR & posterior["itself"].keys():
            posterior["itself"].pop(of_prior)
        match(told(name, few), posterior, which[2])


def stacked(parts):
    return Transition(*(np.array([getattr(datum, field) for datum in parts]) for field in Transition._fields[:4]))


def match(together, alone, i, path=""):
    """What is said of replicate i is what a single belief says, wherever both say something of the same form."""
    if isinstance(together, dict):
        for key in together.keys() & alone.keys() - DRAWN:
            match(together[key], alone[key], i, f"{path}.{key}")
    elif isinstance(together, list) and isinstance(alone, list):
        for j, (x, y) in enumerate(zip(together, alone, strict=True)):
            match(x, y, i, f"{path}[{j}]")
    elif isinstance(together, np.ndarray) and together.ndim == np.ndim(alone) + 1:
        np.testing.assert_allclose(together[i], alone, 1e-9, 1e-11, err_msg=path)
    elif isinstance(together, (float, np.ndarray)) and np.shape(together) == np.shape(alone):
        np.testing.assert_allclose(together, alone, 1e-9, 1e-11, err_msg=path)


# Chains --------------------------------------------------------------------------------------------------------------

REDRAWN = {"gp-pomdp", "gp-pomdp, reward", "infinite-pomdp", "policy-prior"}
"""Each refresh begins with draws of its own."""
RENAMED = {"bnirl": "labels", "crp-dynamics, chains": "labels", "factored-dbn, chains": "parents"}
"""Where a chain stands whose sweeps use other numbers after a pause: names change, or there are several chains."""
PLACES = ("labels", "weights", "at", "theta", "tau", "parents")
"""Where a chain stands."""
CHAINS = [name for name in CASES if hasattr(CASES[name].make(), "refresh")]


@pytest.mark.filterwarnings("ignore::bayesrl.beliefs.chain.PoorMixing")
@pytest.mark.parametrize("name", CHAINS)
def test_a_chain_goes_on(name):
    """Five sweeps are two and three, also from a file; new data drop what was drawn and leave the chain in place."""
    prior, data = seen(name)
    for datum in data[:-1]:
        prior = after(prior, datum, default_rng(0))
    rng = default_rng(4)
    two = prior.refresh(rng, 2)
    again_rng = pickle.loads(pickle.dumps(rng))
    five = two.refresh(rng, 3)
    check(told(name, again(two).refresh(again_rng, 3)), told(name, five))
    check(told(name, two), told(name, again(two)))
    if name not in REDRAWN | RENAMED.keys():
        check(told(name, prior.refresh(default_rng(4), 5)), told(name, five), 1e-9)
        for seed in range(10 * (hasattr(five, "labels") and name != "crp-dynamics")):
            together, rng = prior.refresh(default_rng(seed), 2), default_rng(seed)
            np.testing.assert_array_equal(prior.refresh(rng).refresh(rng).labels, together.labels)
    if name in RENAMED:  # where it goes depends on where it stands
        here, there = (
            [getattr(one.refresh(default_rng(i)), RENAMED[name]) for i in range(10)] for one in (prior, five)
        )
        assert not np.array_equal(here, there)
    for place in PLACES:
        if hasattr(five, place) and name not in REDRAWN:
            stood, stands = (np.atleast_1d(getattr(one, place)) for one in (five, five.update(data[-1])))
            np.testing.assert_array_equal(stands[: len(stood)], stood)
    silent, late = (told(name, one.update(data[-1], default_rng(0))) for one in (prior, five))
    for question, answer in silent.items():
        if isinstance(answer, str):
            assert late[question] == answer, question
    learnt = five.update(data[-1], default_rng(0)).refresh(default_rng(5), 2)
    check(
        told(name, learnt), told(name, again(again(five).update(data[-1], default_rng(0))).refresh(default_rng(5), 2))
    )
    lengths = {k: np.shape(v)[:1] for k, v in told(name, learnt)["itself"].items() if isinstance(v, np.ndarray)}
    once = told(name, prior.update(data[-1], default_rng(0)).refresh(default_rng(5), 2))["itself"]
    assert lengths == {k: np.shape(once[k])[:1] for k in lengths}, "draws of the posterior before were kept"


# Simulators ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in CASES if hasattr(CASES[name].make(), "simulate")])
def test_simulators_are_of_the_belief_alone(name):
    """Whatever was simulated before or beside, to whatever depth, and if the last simulation was not forgotten."""
    prior, data = seen(name)
    belief, A = prior, prior.n_actions
    for age, datum in enumerate(data):
        belief = after(belief, datum, default_rng(age))
        if "simulate" in getattr(belief, "unsupported", {}):
            return
        if age in (1, 4, 7):
            for depth in (1, 7, 2):
                new = again(belief)
                expected = drawn(new.simulate(depth), steps=depth, actions=A)
                beside = belief.simulate(depth)
                check(drawn(belief.simulate(depth), steps=depth, actions=A), expected)
                check(drawn(beside, steps=depth, actions=A), expected)
                check(
                    drawn(prior.simulate(depth), steps=depth, actions=A),
                    drawn(again(prior).simulate(depth), steps=depth, actions=A),
                )
            if reversible(belief.simulate(4)) and name != "row-column-beta":  # whose simulations are one chain
                check(replayed(belief.simulate(4), A), drawn(again(belief).simulate(4), steps=4, actions=A))


def reversible(model):
    return type(model) in replay.registry and type(model) in undo.registry


@pytest.mark.parametrize("name", [name for name in CASES if hasattr(CASES[name].make(), "simulate")])
def test_a_step_that_was_undone_leaves_nothing(name):
    """After replayed steps, steps that are undone are drawn as if each were the first one."""
    prior, data = seen(name)
    belief, A = prior, prior.n_actions
    for age, datum in enumerate(data[:3]):
        belief = after(belief, datum, default_rng(age))
    if "simulate" in getattr(belief, "unsupported", {}) or not reversible(belief.simulate(4)):
        return
    rng, model, path = default_rng(3), again(belief).simulate(4), []
    begin(model, rng)
    s = int(root(model, 0, rng))
    for a in range(2):
        k, y, _, done, _ = step(model, s, a % A, rng)
        path.append((s, a % A, int(k)))
        if done:
            break
        s = int(y)
    one, two, kept = default_rng(5), default_rng(5), belief.simulate(4)
    for past in path:
        replay(kept, *past)
    for _ in range(12):
        fresh = again(belief).simulate(4)
        for past in path:
            replay(fresh, *past)
        steps = []
        for rng, model in ((one, kept), (two, fresh)):
            first = step(model, s, 0, rng)
            second = step(model, int(first[1]), A - 1, rng) if not first[3] else first
            steps.append((int(first[0]), int(second[0])))
            if not first[3]:
                undo(model, int(first[1]), A - 1, int(second[0]))
            undo(model, s, 0, int(first[0]))
        assert steps[0] == steps[1]
        assert one.bit_generator.state == two.bit_generator.state


def replayed(model, A):
    """Simulations after others, of which two steps were replayed and two more were taken, and all undone."""
    rng = default_rng(2)
    for steps in (4, 3, 4):
        begin(model, rng)
        path, s, done = [], int(root(model, 0, rng)), False
        while len(path) < steps and not done:
            a = len(path) % A
            k, y, _, done, _ = step(model, s, a, rng)
            path.append((s, a, int(k)))
            s = int(y)
        for one in reversed(path):
            undo(model, *one)
        for one in path[:2]:
            p = float(likelihood(model, *one))
            assert 0.0 < p <= 1.0 + 1e-9
            replay(model, *one)
        for one in reversed(path[:2]):
            undo(model, *one)
    return drawn(model, steps=4, actions=A)
