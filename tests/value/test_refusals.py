"""Bad input of chapter 5: one value of each kind, for every argument of every class and function that it concerns.

Each call is refused by an error of the right kind, in a sentence that names the argument. All calls about one argument
are one test. The objects that the calls share are compared with copies afterwards, so that a call which fails but
changes something fails here.
"""

import copy
from functools import partial

import numpy as np
import pytest
from numpy.random import default_rng

import bayesrl as b
from bayesrl import gradient as g
from bayesrl import value as v
from bayesrl.beliefs import BayesianLinearRegression, GPRegression, features
from bayesrl.beliefs import covariances as c
from bayesrl.checks import same
from bayesrl.core import Transition, run
from bayesrl.errors import ImpossibleEvidence, Incompatible, InvalidArgument, UnreadableFile
from bayesrl.models.mdp import TabularMDP
from bayesrl.value.gpsarsa import Box
from bayesrl.worlds.tabular import MDPWorld

NAN, INF = np.nan, np.inf
KINDS = {"text": "a", "nothing": None, "NaN": NAN, "infinite": INF, "huge": 1e300, "zero": 0.0, "negative": -0.1}
KINDS |= {"above one": 1.1, "no such index": 9, "below all indices": -1, "between indices": 0.5}
"""What may be wrong with a number, and one value for each kind."""


def values(*kinds):
    return tuple(KINDS[kind] for kind in kinds)


NO_NUMBER = values("text", "nothing", "NaN", "infinite")
NOT_FINITE = (*NO_NUMBER, *values("huge"))
NEGATIVE = values("negative", "text", "NaN", "infinite")
NOT_POSITIVE = (*values("zero"), *NEGATIVE)
NO_SHARE = values("negative", "above one", "text", "nothing", "NaN")
NO_INDEX = values("no such index", "below all indices", "between indices")

K, PHI = c.Gaussian(), features.RBF([0.0, 1.0, 2.0], 1.0)
PAIRS = c.StateAction(K, c.Discrete(), dims=1)
BOX = c.StateAction(K, K, dims=1)
COMPASS = c.StateAction(K, c.Direction(), dims=1)
SOFT = g.SoftmaxPolicy.tabular(2, 2)
LOG = [Transition(0, 1, 1.0, 1), Transition(1, 0, 2.0, 0, terminated=True)]
G = g.fisher_information(LOG, SOFT)
U, RHO, I2 = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([1.0, 2.0, 3.0]), np.eye(2)
NORMAL = g.GaussianMeasure([0.0], [[1.0]])
STEP = Transition(0.0, 0, 1.0, 1.0)
END = Transition(0.0, 0, 1.0, 0.0, terminated=True)
SARSA, BOXED = v.GPSARSA(2, PAIRS), v.GPSARSA(Box([0.0], [1.0]), BOX)
HILL = v.GPRL([0.0, 1.0], [[0.0]], [0.0], fit=False, fit_dynamics=False)
PATH_AGENTS = ("bpg-1", "bpg-2", "bpg-hessian", "reinforce", "gpomdp")
AGENTS = {name: b.make(name, policy=SOFT, paths=1) for name in PATH_AGENTS}
AGENTS |= {name: b.make(name, policy=SOFT, episodes=1) for name in ("bac", "actor-critic")}
PRIORS = {
    "GPTD": v.GPTD(),
    "WhiteGPTD": v.WhiteGPTD(),
    "SparseGPTD": v.SparseGPTD(),
    "ParametricGPTD": v.ParametricGPTD(PHI),
    "LambdaGPTD": v.LambdaGPTD(PHI),
    "LSTD": v.LSTD(PHI, ridge=1.0),
    "KernelSelection": v.KernelSelection([K]),
    "sparse KernelSelection": v.KernelSelection([K], threshold=0.1),
}
SEEN = {name: prior.update(STEP) for name, prior in PRIORS.items()}
"""Beliefs whose trajectory goes on at 1."""
SHARED = {"seen": SEEN, "priors": PRIORS, "log": LOG, "agents": AGENTS, "sarsa": SARSA, "hill": HILL, "U": U}
BEFORE = copy.deepcopy(SHARED)
RNG = default_rng(0)
STATE = copy.deepcopy(RNG.bit_generator.state)
CALLS = {}


def refused(name, argument, *calls, error=InvalidArgument):
    """Calls that must be refused for this argument."""
    assert name not in CALLS, name
    CALLS[name] = calls, error, argument


def each(name, argument, values, call):
    """A call that must be refused for each of these values."""
    refused(name, argument, *[partial(call, x) for x in values])


# Numbers of constructors and functions -------------------------------------------------------------------------------

for kind in (c.Gaussian, c.Matern):
    each(f"{kind.__name__} scale", "scale", NOT_POSITIVE, lambda x, kind=kind: kind(scale=x))
for kind in (c.Gaussian, c.Matern, c.Polynomial, c.Linear, c.Discrete):
    each(f"{kind.__name__} variance", "variance", NOT_POSITIVE, lambda x, kind=kind: kind(variance=x))
each("temperature", "temperature", NOT_POSITIVE, lambda x: g.SoftmaxPolicy.tabular(1, 2, temperature=x))
each("sigma", "sigma", NOT_POSITIVE, lambda x: g.GaussianPolicy(PHI, np.zeros(3), sigma=x))
each("RBF scale", "scale", NOT_POSITIVE, lambda x: features.RBF([0.0], scale=x))
each("width", "width", NOT_POSITIVE, lambda x: v.GPRL([0.0], [0.0], [0.0], width=x))
for kind in (v.ParametricGPTD, v.LambdaGPTD, BayesianLinearRegression):
    each(f"{kind.__name__} prior", "prior_variance", NOT_POSITIVE, lambda x, kind=kind: kind(PHI, prior_variance=x))

for kind in (v.GPTD, v.WhiteGPTD, v.SparseGPTD, GPRegression):
    each(f"{kind.__name__} noise", "noise", NEGATIVE, lambda x, kind=kind: kind(K, noise=x))
for kind in (v.ParametricGPTD, v.LambdaGPTD, BayesianLinearRegression):
    each(f"{kind.__name__} noise", "noise", NEGATIVE, lambda x, kind=kind: kind(PHI, noise=x))
each("KernelSelection noise", "noise", NEGATIVE, lambda x: v.KernelSelection([K], noise=x))
each("GPSARSA noise", "noise", NEGATIVE, lambda x: v.GPSARSA(2, PAIRS, noise=x))
each("GPRL noise", "noise", (0.0, *NEGATIVE), lambda x: v.GPRL([0.0], [0.0], [0.0], noise=x))
each("bpg noise", "noise", NEGATIVE, lambda x: g.bpg(U, RHO, I2, noise=x))
each("bpg_hessian noise", "noise", NEGATIVE, lambda x: g.bpg_hessian(U, np.zeros((3, 2, 2)), RHO, I2, noise=x))
each("bac noise", "noise", NEGATIVE, lambda x: g.bac(LOG, SOFT, G, c.Discrete(), noise=x))
each("quadrature noise", "noise", NEGATIVE, lambda x: g.bayesian_quadrature([[0.0]], [1.0], K, NORMAL, noise=x))
for name in ("bpg-1", "bpg-2", "bpg-hessian", "bac"):
    each(f"agent {name} noise", "noise", NEGATIVE, lambda x, name=name: b.make(name, noise=x))
FUNCTIONS = (
    lambda s: -np.ones(len(s)),
    lambda s: np.full(len(s), NAN),
    lambda s: np.full(len(s), 1e200),
    lambda s: np.ones(len(s) + 3),
    lambda s: "a",
)
WITH_NOISE = {
    "GPTD": lambda f: v.GPTD(K, f),
    "WhiteGPTD": lambda f: v.WhiteGPTD(K, f),
    "SparseGPTD": lambda f: v.SparseGPTD(K, f),
    "ParametricGPTD": lambda f: v.ParametricGPTD(PHI, f),
    "KernelSelection": lambda f: v.KernelSelection([K], noise=f),
}
for name, make in WITH_NOISE.items():
    each(f"{name} noise function", "noise", FUNCTIONS, lambda f, make=make: make(f).update(STEP))
each("bac noise function", "noise", FUNCTIONS, lambda f: g.bac(LOG, SOFT, G, c.Discrete(), noise=f))

each("SparseGPTD threshold", "threshold", NEGATIVE, lambda x: v.SparseGPTD(K, threshold=x))
each("GPSARSA threshold", "threshold", NEGATIVE, lambda x: v.GPSARSA(2, PAIRS, threshold=x))
each("KernelSelection threshold", "threshold", NEGATIVE, lambda x: v.KernelSelection([K], threshold=x))
each("bac threshold", "threshold", NEGATIVE, lambda x: g.bac(LOG, SOFT, G, c.Discrete(), threshold=x))
each("bpg threshold", "threshold", NEGATIVE, lambda x: g.bpg(U, RHO, I2, threshold=x))
for name in ("bpg-1", "bpg-2", "bac"):
    each(f"agent {name} threshold", "threshold", NEGATIVE, lambda x, name=name: b.make(name, threshold=x))

for kind in (v.GPTD, v.WhiteGPTD, v.SparseGPTD):
    each(f"{kind.__name__} gamma", "gamma", NO_SHARE, lambda x, kind=kind: kind(K, gamma=x))
for kind in (v.ParametricGPTD, v.LambdaGPTD, v.LSTD):
    each(f"{kind.__name__} gamma", "gamma", NO_SHARE, lambda x, kind=kind: kind(PHI, gamma=x))
each("KernelSelection gamma", "gamma", NO_SHARE, lambda x: v.KernelSelection([K], gamma=x))
each("GPSARSA gamma", "gamma", NO_SHARE, lambda x: v.GPSARSA(2, PAIRS, gamma=x))
each("GPRL gamma", "gamma", (1.0, *NO_SHARE), lambda x: v.GPRL([0.0], [0.0], [0.0], gamma=x))
each("bac gamma", "gamma", NO_SHARE, lambda x: g.bac(LOG, SOFT, G, c.Discrete(), gamma=x))
each("fisher gamma", "gamma", NO_SHARE, lambda x: g.fisher_information(LOG, SOFT, gamma=x))
each("reinforce_gradient gamma", "gamma", NO_SHARE, lambda x: g.reinforce_gradient(LOG, SOFT, gamma=x))
each("gpomdp_gradient gamma", "gamma", NO_SHARE, lambda x: g.gpomdp_gradient(LOG, SOFT, gamma=x))
for name in AGENTS:
    each(f"agent {name} gamma", "gamma", NO_SHARE, lambda x, name=name: b.make(name, gamma=x))
each("LSTD lam", "lam", NO_SHARE, lambda x: v.LSTD(PHI, lam=x))
each("LambdaGPTD lam", "lam", NO_SHARE, lambda x: v.LambdaGPTD(PHI, lam=x))
each("actor-critic lam", "lam", NO_SHARE, lambda x: b.make("actor-critic", lam=x))
each("trace", "trace", NO_SHARE, lambda x: g.gpomdp_gradient(LOG, SOFT, trace=x))
each("epsilon", "epsilon", NO_SHARE, lambda x: v.GPSARSA(2, PAIRS, epsilon=x))
each("Direction b", "b", NO_SHARE, lambda x: c.Direction(b=x))

# States, rewards, returns and scores ---------------------------------------------------------------------------------

for name, prior in PRIORS.items():
    learn, ask = prior.update, SEEN[name]
    each(f"{name} state", "observation", NOT_FINITE, lambda x, learn=learn: learn(Transition(x, 0, 1.0, 1.0)))
    each(f"{name} next", "next_observation", NOT_FINITE, lambda x, learn=learn: learn(Transition(0.0, 0, 1.0, x)))
    each(f"{name} reward", "reward", NOT_FINITE, lambda x, learn=learn: learn(Transition(0.0, 0, x, 1.0)))
    each(f"{name} states", "states", NOT_FINITE, lambda x, p=prior: p.update_many(([0.0, x], [1.0])))
    each(f"{name} rewards", "rewards", NOT_FINITE, lambda x, p=prior: p.update_many(([0.0, 1.0], [x])))
    each(f"{name} mean", "states", NOT_FINITE, lambda x, ask=ask: ask.mean([x]))
    refused(
        f"{name} n+1 states", "states",
        lambda p=prior: p.update_many(([0.0, 1.0], [1.0, 2.0])),
        lambda p=prior: p.update_many(([0.0, 1.0, 2.0, 3.0], [1.0, 2.0])),
    )  # fmt: skip
    refused(f"{name} elsewhere", "observation", lambda ask=ask: ask.update(Transition(3.0, 0, 1.0, 1.0)))
    refused(f"{name} elsewhere many", "states", lambda ask=ask: ask.update_many(([3.0, 1.0], [1.0])))
    refused(f"{name} gap", "observation", lambda p=prior: p.update_many([STEP, Transition(3.0, 0, 1.0, 1.0)]))
    refused(f"{name} dimension of the next", "next_observation", lambda p=prior: p.update(STEP._replace(
        next_observation=[1.0, 2.0])))  # fmt: skip
    refused(f"{name} dimension asked", "states", lambda ask=ask: ask.mean([[0.0, 1.0]]))
    refused(f"{name} not a transition", "datum", lambda p=prior: p.update(3), lambda p=prior: p.update(None))
    refused(f"{name} not transitions", "log", lambda p=prior: p.update_many(3), lambda p=prior: p.update_many([3]))
    if name != "LSTD":
        each(f"{name} variance", "states", NOT_FINITE, lambda x, ask=ask: ask.variance([x]))
        each(f"{name} covariance", "states", NOT_FINITE, lambda x, ask=ask: ask.covariance([x]))
        each(f"{name} quantile", "p", NO_SHARE, lambda x, ask=ask: ask.quantile(x, [0.0]))
        each(f"{name} draws", "draws", (0, -1, 0.5, None), lambda x, ask=ask: ask.sample([0.0], RNG, draws=x))
        refused(f"{name} rng", "rng", lambda ask=ask: ask.sample([0.0], 3))
other = Transition([1.0, 1.0], 0, 1.0, [1.0, 1.0])
for name in ("GPTD", "WhiteGPTD", "SparseGPTD", "KernelSelection"):
    refused(f"{name} dimension", "observation", lambda ask=SEEN[name]: ask.restart().update(other))
for kind, prior in (("GPRegression", GPRegression()), ("linear", BayesianLinearRegression(PHI))):
    each(f"{kind} x", "x", NOT_FINITE, lambda x, p=prior: p.update((x, 1.0)))
    each(f"{kind} y", "y", NOT_FINITE, lambda x, p=prior: p.update((0.0, x)))
each("H", "H", NOT_FINITE, lambda x: GPRegression().update_linear([0.0], [[x]], [1.0]))
each("noise_covariance", "noise_covariance", (*NOT_FINITE, -1.0), lambda x: GPRegression().update_linear(
    [0.0], [[1.0]], [1.0], [[x]]))  # fmt: skip
refused("noise_covariance, not symmetric", "noise_covariance", lambda: GPRegression().update_linear(
    [0.0, 1.0], I2, [1.0, 1.0], [[1.0, 0.5], [0.0, 1.0]]))  # fmt: skip
for k in (c.Gaussian(), c.Matern(), c.Polynomial(), c.Linear(), c.Discrete(), c.Direction(), c.Fisher([[1.0]])):
    name = type(k).__name__
    each(f"{name} X", "X", NOT_FINITE, lambda x, k=k: k([x], [0.0]))
    each(f"{name} Y", "Y", NOT_FINITE, lambda x, k=k: k([1.0], [x]))
    each(f"{name} diagonal", "X", NOT_FINITE, lambda x, k=k: k.diagonal([x]))
    refused(f"{name} dimensions", "Y", lambda k=k: k([[1.0]], [[1.0, 0.0]]))
refused("scales and points", "X", lambda: c.Gaussian(scale=[1.0, 2.0])([0.0], [0.0]))
refused("pairs too short", "X", lambda: PAIRS([[0.0]], [[0.0]]))
refused("not a direction", "X", lambda: c.Direction()([[2.0, 0.0]], [[1.0, 0.0]]))
each("mean of an input", "mean", NOT_FINITE, lambda x: K.expectation([x], [[1.0]], [0.0]))
each("covariance of an input", "covariance", (*NOT_FINITE, -1.0), lambda x: K.expectation([0.0], [[x]], [0.0]))
for phi in (features.Tabular(2), PHI, features.Tiles([0.0], [1.0]), features.Polynomial(), features.Fourier([0], [1])):
    each(f"features {type(phi).__name__} states", "states", NOT_FINITE, lambda x, phi=phi: phi([x]))
    refused(f"features {type(phi).__name__} dimensions", "states", lambda phi=phi: phi([[0.0, 1.0]]))

each("bpg scores", "scores", NOT_FINITE, lambda x: g.bpg([[x, 0.0]], [1.0], I2))
each("bpg returns", "returns", NOT_FINITE, lambda x: g.bpg([[1.0, 0.0]], [x], I2))
each("bpg offset", "offset", NOT_FINITE, lambda x: g.bpg([[1.0, 0.0]], [1.0], I2, offset=x))
each("bpg_hessian scores", "scores", NOT_FINITE, lambda x: g.bpg_hessian([[x]], [[[0.0]]], [1.0], [[1.0]]))
each("bpg_hessian hessians", "hessians", NOT_FINITE, lambda x: g.bpg_hessian([[1.0]], [[[x]]], [1.0], [[1.0]]))
each("bpg_hessian returns", "returns", NOT_FINITE, lambda x: g.bpg_hessian([[1.0]], [[[0.0]]], [x], [[1.0]]))
each("quadrature points", "points", NOT_FINITE, lambda x: g.bayesian_quadrature([[x]], [1.0], K, NORMAL))
each("quadrature values", "values", NOT_FINITE, lambda x: g.bayesian_quadrature([[0.0]], [x], K, NORMAL))
each("prior_mean", "prior_mean", NOT_FINITE, lambda x: g.bayesian_quadrature([0.0], [1.0], K, NORMAL, prior_mean=x))
each("theta", "theta", NO_NUMBER, lambda x: g.SoftmaxPolicy.tabular(1, 2, theta=[x, 0.0]))
each("softmax observation", "observation", (*NOT_FINITE, *NO_INDEX), lambda x: SOFT.score(x, 0))
each("softmax action", "action", (*NOT_FINITE, *NO_INDEX), lambda x: SOFT.log_prob(0, x))
each("Gaussian observation", "observation", NOT_FINITE, lambda x: g.GaussianPolicy(None, [1.0]).score([x], 0.0))
each("Gaussian action", "action", NOT_FINITE, lambda x: g.GaussianPolicy(None, [1.0]).log_prob([1.0], x))

ESTIMATES = {
    "bac": lambda log, policy=SOFT: g.bac(log, policy, G if policy is SOFT else np.eye(1), c.Discrete()),
    "fisher": lambda log, policy=SOFT: g.fisher_information(log, policy),
    "reinforce_gradient": lambda log, policy=SOFT: g.reinforce_gradient(log, policy),
    "gpomdp_gradient": lambda log, policy=SOFT: g.gpomdp_gradient(log, policy),
}
FINAL = Transition(0, 0, 1.0, 0, terminated=True)
for name, estimate in ESTIMATES.items():
    each(f"{name} reward", "reward", NOT_FINITE, lambda x, e=estimate: e([FINAL._replace(reward=x)]))
    each(f"{name} state", "observation", NOT_FINITE, lambda x, e=estimate: e([FINAL._replace(observation=x)]))
    each(f"{name} action", "action", (*NO_INDEX, None), lambda x, e=estimate: e([FINAL._replace(action=x)]))
    each(f"{name} no paths", "transitions", ([], 3, [3]), estimate)
    refused(f"{name} gap", "transitions", lambda e=estimate: e([LOG[0], LOG[0]]))
for name, agent in AGENTS.items():
    learn = lambda x, agent=agent: agent.learn(agent.start(), x, RNG)  # noqa: E731
    each(f"agent {name} learn reward", "reward", NOT_FINITE, lambda x, learn=learn: learn(FINAL._replace(reward=x)))
    each(
        f"agent {name} learn state",
        "observation",
        NOT_FINITE,
        lambda x, learn=learn: learn(FINAL._replace(observation=x)),
    )
    each(
        f"agent {name} learn action",
        "action",
        (*NO_INDEX[:2], None),
        lambda x, learn=learn: learn(FINAL._replace(action=x)),
    )
    each(
        f"agent {name} act",
        "observation",
        (*NOT_FINITE, *NO_INDEX),
        lambda x, agent=agent: agent.act(agent.start(), x, RNG),
    )
    refused(f"agent {name} learn", "transition", lambda learn=learn: learn(3))
    refused(f"agent {name} mind", "mind", lambda agent=agent: agent.act(3, 0, RNG))
    refused(f"agent {name} no policy", "policy", lambda name=name: b.make(name).start())

# GPSARSA and GPRL ----------------------------------------------------------------------------------------------------

start = SARSA.start()
for name, cut in (("open", {}), ("terminated", {"terminated": True}), ("truncated", {"truncated": True})):
    ahead = Transition(0.0, 0, 1.0, 0.5, **cut)
    each(
        f"GPSARSA {name} reward", "reward", NOT_FINITE, lambda x, t=ahead: SARSA.learn(start, t._replace(reward=x), RNG)
    )
    each(f"GPSARSA {name} state", "observation", (*NOT_FINITE, [0.0, 1.0]), lambda x, t=ahead: SARSA.learn(
        start, t._replace(observation=x), RNG))  # fmt: skip
    each(f"GPSARSA {name} action", "action", (-1, 2, 0.5, "x", None, True), lambda x, t=ahead: SARSA.learn(
        start, t._replace(action=x), RNG))  # fmt: skip
each("GPSARSA next", "next_observation", (*NOT_FINITE, [0.0, 1.0]), lambda x: SARSA.learn(
    start, Transition(0.0, 0, 1.0, x, truncated=True), RNG))  # fmt: skip
each("GPSARSA act", "observation", (*NOT_FINITE, [0.0, 1.0]), lambda x: SARSA.act(start, x, RNG))
each("GPSARSA box", "action", ([5.0], [NAN], 5.0, "x", None, [0.0, 0.0]), lambda x: BOXED.learn(
    BOXED.start(), Transition(0.0, x, 1.0, 0.0), RNG))  # fmt: skip
each("GPSARSA actions", "actions", (0, -1, [], "a", None, 1.5, True, [[0.0], [0.0, 1.0]], [NAN]), lambda x: v.GPSARSA(
    x, PAIRS))  # fmt: skip
refused("GPSARSA directions", "actions", lambda: v.GPSARSA([[2.0, 0.0]], COMPASS))
refused("GPSARSA order of the box", "high", lambda: v.GPSARSA(Box([1.0], [0.0]), BOX))
refused("GPSARSA NaN in the box", "low", lambda: v.GPSARSA(Box([NAN], [0.0]), BOX))
each("candidates", "candidates", (0, -1, None, 1.5), lambda x: v.GPSARSA(2, PAIRS, candidates=x))
each("bonus", "bonus", NEGATIVE, lambda x: v.GPSARSA(2, PAIRS, bonus=x))
each("half_life", "half_life", NOT_POSITIVE, lambda x: v.GPSARSA(2, PAIRS, half_life=x))
refused("GPSARSA mind", "mind", lambda: SARSA.act(3, 0.0, RNG), lambda: SARSA.learn(3, STEP, RNG))
refused("GPSARSA transition", "transition", lambda: SARSA.learn(start, 3, RNG))
each("support", "support", ([], *([0.0, x] for x in NOT_FINITE)), lambda x: v.GPRL(x, [0.0], [0.0]))
each("GPRL actions", "actions", ([], *([x] for x in NOT_FINITE)), lambda x: v.GPRL([0.0], x, [0.0]))
each("target", "target", ([0.0, 1.0], *([x] for x in NOT_FINITE)), lambda x: v.GPRL([0.0], [0.0], x))
refused("widths", "width", lambda: v.GPRL([0.0], [0.0], [0.0], width=[0.1, 0.2]))
refused("scales of values", "covariance", lambda: v.GPRL([0.0], [0.0], [0.0], covariance=c.Gaussian(scale=[1.0, 2.0])))
refused("dynamics", "dynamics", lambda: v.GPRL([0.0], [0.0], [0.0], dynamics=3), lambda: v.GPRL(
    [0.0], [0.0], [0.0], dynamics=c.Gaussian(scale=[1.0, 2.0, 3.0])))  # fmt: skip
each("GPRL log", "problem", ([], 3, [3]), lambda x: HILL.solve(x, RNG))
each("GPRL state", "observation", NOT_FINITE, lambda x: HILL.solve([Transition([x], 0, 0.0, [0.0])], RNG))
each("GPRL next", "next_observation", NOT_FINITE, lambda x: HILL.solve([Transition([0.0], 0, 0.0, [x])], RNG))
each("GPRL action", "action", (7, -1, [NAN], [0.0, 1.0], "x"), lambda x: HILL.solve(
    [Transition([0.0], x, 0.0, [0.0])], RNG))  # fmt: skip
refused("repeated support", "jitter", lambda: v.GPRL([0.0] * 3, [[0.0]], [0.0], jitter=1e-30, fit=False,
    fit_dynamics=False).solve([Transition([0.0], 0, 0.0, [0.0])], RNG))  # fmt: skip
each("candidates of kernels", "candidates", ([], [3], 3), v.KernelSelection)
each("weights of kernels", "weights", ([0.5, 0.5], [-1.0], [0.0], [NAN]), lambda x: v.KernelSelection([K], weights=x))

# Singular and indefinite matrices ------------------------------------------------------------------------------------

for name, make in WITH_NOISE.items():
    refused(f"{name} without noise", "noise", lambda make=make: make(0.0).update_many([END, END]))
refused("LambdaGPTD without noise", "noise", lambda: v.LambdaGPTD(PHI, noise=0.0))
refused(
    "regression without noise", "noise",
    lambda: GPRegression(noise=0.0).update_many(([0.0, 0.0], [1.0, 1.0])),
    lambda: GPRegression(noise=0.0).update_many(([0.0, 1e-9], [1.0, 1.0])),
    lambda: BayesianLinearRegression(PHI, noise=0.0).update_many(([0.3, 0.3], [1.0, 1.0])).mean([0.0]),
    lambda: BayesianLinearRegression(PHI, noise=0.0).update_many(([0.3] * 4, [1.0] * 4)).mean([0.0]),
)  # fmt: skip
refused("GPSARSA without noise", "noise", lambda: (
    a := v.GPSARSA(2, PAIRS, noise=0.0)).learn(a.learn(a.start(), END, RNG), END, RNG))  # fmt: skip
refused(
    "gradients without noise", "noise",
    lambda: g.bayesian_quadrature([[0.0], [0.0]], [1.0, 1.0], K, NORMAL),
    lambda: g.bpg([[1.0, 0.0]] * 2, [1.0, 1.0], I2, noise=0.0),
    lambda: g.bpg([[1.0, 0.0]] * 2, [1.0, 1.0], I2, model=2, noise=0.0),
    lambda: g.bpg_hessian([[1.0, 0.0]] * 2, np.zeros((2, 2, 2)), [1.0, 1.0], I2, noise=0.0),
    lambda: g.bac([FINAL, FINAL], SOFT, G, c.Discrete(), noise=0.0),
    lambda: g.bac([FINAL, FINAL], SOFT, G, c.Discrete(), noise=0.0, threshold=0.0),
)  # fmt: skip


class Bent(c.Covariance):
    """Not positive definite: values at different points have more in common than each with itself."""

    def matrix(self, X, Y):
        return np.where(X == Y.T, 1.0, 2.0)

    def variances(self, X):
        return np.ones(len(X))


class Below(Bent):
    """Not positive either."""

    def matrix(self, X, Y):
        return -np.ones((len(X), len(Y)))

    def variances(self, X):
        return -np.ones(len(X))


for kind in (v.GPTD, v.WhiteGPTD, v.SparseGPTD):
    each(f"{kind.__name__} Gram matrix", "covariance", (Bent(), Below()), lambda k, kind=kind: kind(k).update_many(
        ([0.0, 1.0, 2.0], [1.0, 1.0])))  # fmt: skip
    each(f"{kind.__name__} draws of a Gram matrix", "covariance", (Bent(), Below()), lambda k, kind=kind: kind(
        k).sample([0.0, 3.0], default_rng(0)))  # fmt: skip
each("regression Gram matrix", "covariance", (Bent(), Below()), lambda k: GPRegression(k).update_many(
    ([0.0, 1.0, 2.0], [1.0, 1.0, 3.0])))  # fmt: skip
refused("a negative variance", "covariance", lambda: v.GPTD(Below()).variance([0.0]))
refused("LSTD singular", "ridge", lambda: v.LSTD(features.Tabular(3)).update(Transition(0, 0, 1.0, 1)).weights)

WRONG = ([[1.0, 0.5], [0.0, 1.0]], [[-1.0, 0.0], [0.0, 1.0]], np.eye(3), np.ones((2, 3)), [1.0, 1.0], NAN * I2)
each("bpg information", "information", WRONG, lambda M: g.bpg(U, RHO, M))
each("bpg 2 information", "information", WRONG, lambda M: g.bpg(U, RHO, M, model=2))
each("bpg_hessian information", "information", WRONG, lambda M: g.bpg_hessian(U, np.zeros((3, 2, 2)), RHO, M))
each("bac information", "information", WRONG, lambda M: g.bac([FINAL], g.SoftmaxPolicy.tabular(1, 2), M, c.Discrete()))
each("Fisher information", "information", (WRONG[0], WRONG[1], WRONG[3]), c.Fisher)
each("model", "model", (0, 3, "1", 1.0, True, None), lambda m: g.bpg(U, RHO, I2, model=m))
each("no paths", "scores", ([], np.zeros((0, 2))), lambda x: g.bpg(x, [], I2))
refused("unequal lengths", "returns", lambda: g.bpg(U, [1.0, 2.0], I2), lambda: g.bpg_hessian(
    U, np.zeros((3, 2, 2)), [1.0, 2.0], I2))  # fmt: skip
refused("unequal Hessians", "hessians", lambda: g.bpg_hessian(U, np.zeros((2, 2, 2)), RHO, I2))
each("measure", "covariance", ([[1.0, 2.0], [2.0, 1.0]], [[1.0, 0.2], [0.1, 1.0]], np.zeros((2, 2)), np.eye(3)),
    lambda S: g.GaussianMeasure([0.0, 0.0], S))  # fmt: skip
each("uniform measure", "high", ([0.0], [1.0], [NAN]), lambda x: g.UniformMeasure([1.0], x))
refused("no measure", "measure", lambda: g.bayesian_quadrature([[0.0]], [1.0], K, 3))

# Policies ------------------------------------------------------------------------------------------------------------


class Plain:
    """A policy that cannot be differentiated."""

    parameters = np.zeros(1)

    def sample(self, observation, rng):
        return 0

    def log_prob(self, observation, action):
        return 0.0 if action == 0 else -INF

    def with_parameters(self, parameters):
        return self


class Once(Plain):
    """A policy without Hessians."""

    def score(self, observation, action):
        return np.zeros(1)


class Twice(Once):
    """A policy that always takes action 0."""

    def hessian(self, observation, action):
        return np.zeros((1, 1))


for name, estimate in ESTIMATES.items():
    refused(f"{name} no score", "'score'", lambda e=estimate: e([FINAL], Plain()), error=Incompatible)
NEVER = FINAL._replace(action=1)
FAR = g.SoftmaxPolicy.tabular(1, 2, theta=[0.0, -1e6])
for policy in (Twice(), FAR):
    kind = type(policy).__name__
    for name, estimate in ESTIMATES.items():
        refused(f"{name} {kind} never acts so", "Action 1", lambda e=estimate, policy=policy: e([NEVER], policy),
            error=ImpossibleEvidence)  # fmt: skip
for name in AGENTS:
    few = {"episodes": 1} if name in ("bac", "actor-critic") else {"paths": 1}
    few |= {"features": features.Tabular(1)} if name == "actor-critic" else {}
    refused(f"agent {name} no score", "'score'", lambda name=name: b.make(name, policy=Plain()), error=Incompatible)
    refused(f"agent {name} not a policy", "'score'", lambda name=name: b.make(name, policy=3), error=Incompatible)
    for policy in (Twice(), FAR):
        agent = b.make(name, policy=policy, **few)
        refused(f"agent {name} {type(policy).__name__} never acts so", "Action 1",
            lambda agent=agent: agent.learn(agent.start(), NEVER, RNG), error=ImpossibleEvidence)  # fmt: skip
refused("bpg-hessian no hessian", "'hessian'", lambda: b.make("bpg-hessian", policy=Once()), error=Incompatible)
REAL = Transition(0.5, 0.1, 1.0, 0.5, True)
refused("a model needs a table", "'probabilities'", lambda: g.fisher_information(
    [REAL], g.GaussianPolicy(None, [1.0]), unit="model"), error=Incompatible)  # fmt: skip

# A discount of 1 without ends ----------------------------------------------------------------------------------------

LOOP = MDPWorld("loop", TabularMDP.from_dense([[[1.0], [1.0]]], [[1.0, 0.0]], gamma=1.0))
for name in AGENTS:
    refused(f"agent {name} never ends", "gamma", lambda name=name: run(
        b.make(name, policy=g.SoftmaxPolicy.tabular(1, 2), gamma=1.0), LOOP, 5))  # fmt: skip
    refused(f"agent {name} never improves", "horizon", lambda name=name: run(
        b.make(name, policy=g.SoftmaxPolicy.tabular(1, 2), gamma=0.9), LOOP, 5))  # fmt: skip
refused("GPSARSA never ends", "gamma", lambda: run(v.GPSARSA(2, PAIRS, gamma=1.0), LOOP, 5))
for name in ("bac", "actor-critic"):
    agent = b.make(name, policy=g.SoftmaxPolicy.tabular(1, 2), gamma=1.0)
    refused(f"agent {name} cut off", "gamma", lambda agent=agent: run(agent, LOOP, 5, horizon=2))
refused("GPSARSA cut off", "gamma", lambda: run(v.GPSARSA(2, PAIRS, gamma=1.0), LOOP, 5, horizon=2))
refused("information of a loop", "gamma", lambda: g.fisher_information(
    [Transition(0, 0, 1.0, 0), Transition(0, 1, 1.0, 0)], g.SoftmaxPolicy.tabular(1, 2), unit="model"))  # fmt: skip


def assert_refused(call, error, argument):
    with pytest.raises(error) as raised:
        call()
    said = str(raised.value)
    assert type(raised.value) is error
    assert (f"'{argument}' must be" if error is InvalidArgument else argument) in said
    assert "\n" not in said


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", CALLS)
def test_refused(name):
    calls, error, argument = CALLS[name]
    for call in calls:
        assert_refused(call, error, argument)


def test_nothing_was_changed():
    """After all calls above, whatever their order."""
    for name, thing in SHARED.items():
        before = BEFORE[name]
        parts = thing.items() if isinstance(thing, dict) else [(None, thing)]
        for key, now in parts:
            assert same(now, before if key is None else before[key]), (name, key)
    for name, belief in SEEN.items():
        np.testing.assert_array_equal(belief.mean([0.0, 0.7]), BEFORE["seen"][name].mean([0.0, 0.7]))


def test_hints():
    """A jump tells of restart(), singular least squares of the ridge, repeated points of noise; none is mended."""
    with pytest.raises(InvalidArgument, match=r"Call restart\(\) where a new trajectory begins\."):
        SEEN["GPTD"].update(Transition(3.0, 0, 1.0, 1.0))
    with pytest.raises(InvalidArgument, match="a ridge greater than 0 helps"):
        _ = v.LSTD(features.Tabular(3)).update(Transition(0, 0, 1.0, 1)).weights
    for make in WITH_NOISE.values():
        with pytest.raises(InvalidArgument, match="need noise"):
            make(0.0).update_many([END, END])


@pytest.mark.parametrize("make", WITH_NOISE.values(), ids=WITH_NOISE)
def test_data_that_others_determine_are_refused_without_noise(make):
    """Four places, twelve transitions between them: at most four rows are independent, so others are refused."""
    for seed in range(20):
        rng = default_rng(seed)
        places, belief, said = rng.uniform(-2.0, 2.0, 4), make(0.0), []
        for _ in range(12):
            i, j = rng.integers(4, size=2)
            try:
                belief = belief.update(Transition(places[i], 0, float(rng.normal()), places[j])).restart()
            except InvalidArgument as error:
                said.append(str(error))
        assert len(said) >= 8
        assert all("need noise" in one for one in said)
        assert np.abs(belief.mean(places)).max() < 1e5


def test_episodes_that_are_cut_off_may_have_a_discount_of_one():
    for name in PATH_AGENTS:
        agent = b.make(name, policy=g.SoftmaxPolicy.tabular(1, 2), gamma=1.0, paths=1)
        assert run(agent, LOOP, 6, horizon=2, keep=("updates",)).updates[-1] == 2
    assert not LOOP.ends
    ends = TabularMDP.from_dense([[[0.0, 1.0]], [[0.0, 1.0]]], [[1.0], [0.0]], gamma=1.0, terminal=[1])
    run(v.GPSARSA(1, PAIRS, gamma=1.0), MDPWorld("ends", ends), 5)


@pytest.mark.parametrize("name", [*PRIORS, "mind"])
def test_files_of_other_versions(name, tmp_path):
    """The format of a file says its version, and another one is refused."""
    import json
    import zipfile

    path = tmp_path / "kept.zip"
    kept = SARSA.start() if name == "mind" else SEEN[name]
    b.save(kept, path)
    assert same(b.load(path), kept)
    with zipfile.ZipFile(path) as archive:
        members = {one: archive.read(one) for one in archive.namelist()}
    page = json.loads(members["meta.json"])
    members["meta.json"] = json.dumps(page | {"version": 99}).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for one, data in members.items():
            archive.writestr(one, data)
    with pytest.raises(UnreadableFile, match="its format version is 99, and this library reads version 1"):
        b.load(path)
