"""Finite-state controllers for the Bayes-adaptive MDP (Duff 2001; survey §4.3).

A controller is a policy that remembers one of a few nodes q instead of a belief. It draws its action from
psi(a | q, s) and its next node from eta(q' | q, s, a, s'). In one model theta its values solve |S||Q| linear equations,

    V(q, s) = sum_a psi(a | q, s) sum_s' theta_{s a s'} [ r + gamma sum_q' eta(q' | q, s, a, s') V(q', s') ],

and its value in the BAMDP is their expectation over the prior (not the value in the mean model, ERRATA 31). Both
distributions are soft-maxes of free parameters, which ascend the gradient of that expectation. There are many local
optima (to remember nothing is one), hence many starts. The method is for small problems; all work is done ahead.

Paper to code: the linear system is `evaluate` and its adjoint `gradient`; gradients from simulated trajectories are
`monte_carlo_gradient`; the ascent is `climb` or `climb_by_simulation`.
Deviations: actions depend on the state too, which is observed: with actions that depend on nodes alone, each state
would need a node. The expectation is over models fixed ahead, the same for all controllers: points of a Gauss rule if
the prior has few unknowns, otherwise draws. Random starts prefer to stay in their node (`STAY`), which finds
controllers with a use for memory far more often. "Gradient descent" in the survey is ascent.
Cost: O(n (S Q)^3 + n S^2 A Q^2) a value for n models, O(n S^2 A Q^2) its gradient; O(1) a decision.
Claims: values and gradients equal dynamic programming over hyper-states, finite differences and simulation; one node
finds the best memoryless policy; the ascent never falls.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.random import Generator
from scipy.linalg.lapack import dgetrf, dgetrs
from scipy.special import roots_jacobi

from bayesrl.bamdp.sampling._hyper_model import SamplesListedMDPs
from bayesrl.capabilities import HasDirichletRows, ListsOutcomes, offers, require
from bayesrl.checks import Floats, Ints, array, frozen, generator, integer, number, rows_sum_to_one
from bayesrl.core import Decision, Transition
from bayesrl.kernels.arrays import F1, F3, F4, I3
from bayesrl.kernels.jit import njit
from bayesrl.models.mdp import TabularMDP
from bayesrl.parameters import AtLeast, Shape, declared, value
from bayesrl.registry import register

F5: TypeAlias = np.ndarray[tuple[int, int, int, int, int], np.dtype[np.float64]]
STAY = 3.0
"""Preference of a random start for its present node, added to logits of standard deviation one."""
FINE = 8
"""A Gauss rule with this many points for each unknown counts as exact."""
SMALL_GAIN = 1e-7
"""The ascent ends when a step gains less than this share of the largest conceivable value."""
SUFFICIENT = 1e-4
"""A step must gain at least this share of what the gradient promises."""
TAIL = 0.01
"""Simulated trajectories end when all later rewards weigh less than this share."""


@register(
    "finite-state-controller",
    kind="solver",
    survey="4.3",
    paper="duff01bamdpfsc",
    example=lambda: FiniteStateController(nodes=2, restarts=2, models=8, iterations=20),
    evidence=(
        "tests/bamdp/test_finite_state_controller.py::test_value_equals_dynamic_programming_over_hyper_states",
        "tests/bamdp/test_finite_state_controller.py::test_gradient_equals_finite_differences",
        "tests/bamdp/test_finite_state_controller.py::test_monte_carlo_gradient_is_unbiased",
        "tests/bamdp/test_finite_state_controller.py::test_one_node_is_the_best_memoryless_policy",
    ),
)
@declared
class FiniteStateController:
    """The best controller of a few memory nodes for a prior, found by gradient ascent.

    Examples
    --------
    >>> import bayesrl as b
    >>> from numpy.random import default_rng
    >>> world = b.make_world("chain-tied")
    >>> prior = b.DirichletMDP.structured(world)
    >>> controller = FiniteStateController(nodes=2, restarts=1, models=8).solve(prior, default_rng(0))
    >>> print(b.run(controller, world, steps=100, seed=0).total)
    154.0
    """

    nodes: Annotated[
        int, AtLeast(1), "Largest number of memory nodes, |Q|: the best controller of 1, 2, ... nodes is kept."
    ] = 3
    restarts: Annotated[int, AtLeast(1), "Random starts for each number of nodes."] = 20
    models: Annotated[int, AtLeast(1), "Models over which the expectation is taken."] = 64
    iterations: Annotated[int, AtLeast(1), "Largest number of steps of one ascent."] = 300
    trajectories: Annotated[
        int | None, AtLeast(2), "Simulated trajectories for each gradient; None for exact gradients."
    ] = None

    yields: ClassVar[str] = "planner"

    def solve(self, problem: SamplesListedMDPs, rng: Generator | None = None) -> Controller:
        """The best controller found, by its value on the models."""
        require("FiniteStateController", problem, SamplesListedMDPs)
        prior, rng = problem, generator("FiniteStateController", rng)
        number("FiniteStateController", "gamma", prior.gamma, 0.0, 1.0, below=True)
        models = models_of(prior, self.models, rng)
        found = [self._ascend(start(nodes, models, rng), models, prior, rng) for nodes in self._sizes()]
        values = [evaluate(logits, models).J for logits in found]
        best = int(np.argmax(values))
        psi, eta = found[best].controller()
        return Controller(self, frozen(psi), frozen(eta), values[best])

    def _sizes(self) -> list[int]:
        return [nodes for nodes in range(1, self.nodes + 1) for _ in range(self.restarts)]

    def _ascend(self, first: Logits, models: Models, prior: SamplesListedMDPs, rng: Generator) -> Logits:
        if self.trajectories is None:
            return climb(first, models, self.iterations)[0]
        return climb_by_simulation(first, prior, self.iterations, self.trajectories, rng)


@value
class Controller:
    """A finite-state controller. It is a planner that ignores the belief, an agent, and a policy over nodes and states.

    As a policy it takes pairs (node, state) for observations.
    """

    solver: FiniteStateController
    """The solver that made it."""
    psi: Annotated[Floats, AtLeast(0), Shape("(Q, S, A)"), "Probability of action a in node q and state s."]
    eta: Annotated[
        Floats,
        AtLeast(0),
        Shape("(Q, S, A, S, Q)"),
        "Probability of node q' after node q and (s, a, s').",
    ]
    value: Annotated[float, "Expected discounted return under the prior that it was made for."]

    needs: ClassVar[tuple[type, ...]] = ()

    def __post_init__(self) -> None:
        array("Controller", "psi", self.psi, (None, None, None))
        Q, S, A = self.psi.shape
        array("Controller", "eta", self.eta, (Q, S, A, S, Q))
        rows_sum_to_one("Controller", "psi", self.psi)
        rows_sum_to_one("Controller", "eta", self.eta)

    def start(self) -> int:
        """The first node."""
        return 0

    def plan(
        self, belief: object, observation: int, memory: int, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Move along the edge just seen and draw an action; a new episode begins in the first node."""
        self._state(observation)
        return self.act(memory if last is None else self.learn(memory, last, rng), observation, rng)

    def act(self, mind: int, observation: int, rng: Generator) -> Decision:
        """Draw an action of the present node."""
        p = self.psi[mind, self._state(observation)]
        return Decision(int(pick(p, rng.random())), mind, {"probability": p, "node": mind})

    def learn(self, mind: int, transition: Transition, rng: Generator) -> int:
        """Move along the edge just seen; a new episode begins in the first node."""
        if transition.ends_episode:
            return 0
        s, a, y = transition.state, transition.action, transition.next_state
        return int(pick(self.eta[mind, s, a, y], rng.random()))

    def sample(self, observation: tuple[int, int], rng: Generator) -> int:
        """An action of a node in a state, given as (node, state)."""
        return int(pick(self.psi[observation], generator("Controller", rng).random()))

    def log_prob(self, observation: tuple[int, int], action: int) -> float:
        """The logarithm of an action's probability, given (node, state)."""
        p = float(self.psi[(*observation, action)])
        return float(np.log(p)) if p > 0.0 else -np.inf

    def _state(self, observation: int) -> int:
        return integer("Controller", "observation", observation, 0, self.psi.shape[1] - 1)


# The expectation over the prior --------------------------------------------------------------------------------------


class Models(NamedTuple):
    """Weighted models of a prior."""

    P: Floats  # (n, S, A, S)
    r: Floats  # (n, S, A) expected rewards
    weight: Floats  # (n,)
    first: Floats  # (S,) distribution of the first state
    gamma: float


def models_of(prior: SamplesListedMDPs, n: int, rng: Generator) -> Models:
    """At most n models whose weighted average is the expectation: a Gauss rule if n points suffice, otherwise draws."""
    if offers(prior, HasDirichletRows) and FINE ** len(free := unknowns(prior)) <= n:
        return stack(prior, *gauss(prior, free, int(n ** (1.0 / max(len(free), 1)) + 1e-9)))
    return drawn(prior, n, rng)


def drawn(prior: SamplesListedMDPs, n: int, rng: Generator) -> Models:
    """Models drawn from the prior."""
    return stack(prior, [prior.sample_mdp(rng) for _ in range(n)], np.full(n, 1.0 / n))


def stack(prior: ListsOutcomes, models: list[TabularMDP], weight: Floats) -> Models:
    """Models as arrays."""
    S, A = models[0].n_states, models[0].n_actions
    P = np.array([m.matrix for m in models]).reshape(-1, S, A, S)
    return Models(P, np.array([m.mean_reward for m in models]), weight, prior.outcomes.start, prior.gamma)


def unknowns(prior: HasDirichletRows) -> list[tuple[int, int]]:
    """The cells (g, k) of free probabilities: all but the last of each unknown group."""
    size = prior.outcomes.size
    return [(int(g), k) for g in np.flatnonzero(~prior.known) for k in range(size[g] - 1)]


def gauss(prior: HasDirichletRows, free: list[tuple[int, int]], n: int) -> tuple[list[TabularMDP], Floats]:
    """Gauss-Jacobi points and weights, n for each unknown: by stick breaking a Dirichlet row is a product of Betas."""
    alpha, known, last = prior.alpha, prior.known, prior.outcomes.size - 1
    rules = [roots_jacobi(n, alpha[g, k + 1 :].sum() - 1.0, alpha[g, k] - 1.0) for g, k in free]  # on [-1, 1]
    models, weights = [], []
    for index in np.ndindex(*[n] * len(free)):
        prob, weight = np.where(known[:, None], alpha, 0.0), 1.0
        prob[~known, last[~known]] = 1.0  # the last outcome holds the rest of the stick
        for (g, k), (x, w), i in zip(free, rules, index, strict=True):
            prob[g, k] = 0.5 * (1.0 + x[i]) * prob[g, last[g]]
            prob[g, last[g]] -= prob[g, k]
            weight *= w[i] / w.sum()
        models.append(TabularMDP.unchecked(prior.outcomes, prob, prior.gamma))
        weights.append(weight)
    return models, np.array(weights)


# Controllers and their gradients -------------------------------------------------------------------------------------


class Logits(NamedTuple):
    """Free parameters of a controller, whose soft-maxes are psi and eta; also their gradients.

    Next states come last, so that loops over them read contiguous memory.
    """

    action: Floats  # (Q, S, A)
    node: Floats  # (Q, S, A, Q, S): q' of the edge (q, s, a, s')

    def probabilities(self) -> tuple[Floats, Floats]:
        """(psi, eta), in this order of axes."""
        return softmax(self.action, -1), softmax(self.node, -2)

    def controller(self) -> tuple[Floats, Floats]:
        """(psi, eta) with the axes of a `Controller`."""
        psi, eta = self.probabilities()
        return psi, np.ascontiguousarray(eta.swapaxes(-1, -2))

    def moved(self, step: float, direction: Logits) -> Logits:
        """These parameters plus a step."""
        return Logits(self.action + step * direction.action, self.node + step * direction.node)

    def largest(self) -> float:
        """The largest entry."""
        return max(float(np.abs(self.action).max()), float(np.abs(self.node).max()))

    def squared(self) -> float:
        """The sum of squares."""
        return float(np.vdot(self.action, self.action) + np.vdot(self.node, self.node))


def softmax(x: Floats, axis: int) -> Floats:
    """Probabilities proportional to exp x along an axis."""
    p = np.exp(x - x.max(axis=axis, keepdims=True))
    p /= p.sum(axis=axis, keepdims=True)
    return np.asarray(p)


def start(nodes: int, models: Models, rng: Generator) -> Logits:
    """A random controller that prefers to stay in its node."""
    _, S, A, _ = models.P.shape
    node = rng.standard_normal((nodes, S, A, S, nodes)) + STAY * np.eye(nodes)[:, None, None, None, :]
    return Logits(rng.standard_normal((nodes, S, A)), np.ascontiguousarray(node.swapaxes(-1, -2)))


class Evaluation(NamedTuple):
    """A controller, its expected return J, and what its gradient needs."""

    J: float
    psi: Floats
    eta: Floats
    V: Floats  # (n, Q, S)
    factors: list[tuple[Floats, Ints]]  # of M, for each model


def evaluate(logits: Logits, models: Models) -> Evaluation:
    """The expected return J of a controller: V solves M V = r with M = I - gamma P on pairs (q, s) in each model."""
    psi, eta = logits.probabilities()
    Q, S, _ = psi.shape
    M = system(psi[..., None, None] * eta, models.P, models.gamma)
    factors = [dgetrf(m.T, overwrite_a=True)[:2] for m in M]  # of the transpose: columns first is what LAPACK reads
    r = np.einsum("qsa,nsa->nqs", psi, models.r).reshape(-1, Q * S)
    V = np.array([dgetrs(*f, x, trans=1)[0] for f, x in zip(factors, r, strict=True)]).reshape(-1, Q, S)
    return Evaluation(float(models.weight @ (V[:, 0] @ models.first)), psi, eta, V, factors)


def gradient(found: Evaluation, models: Models) -> Logits:
    """The gradient of J in the logits.

    The adjoint, the discounted visits d to (q, s), solves d M = first. Then dJ / d psi = d Q(q, s, a), and
    dJ / d eta(q' | q, s, a, s') = d psi gamma theta V(q', s').
    """
    _, psi, eta, V, factors = found
    first = np.zeros(V.shape[1:])
    first[0] = models.first
    d = np.array([dgetrs(*f, first.ravel(), trans=0)[0] for f in factors]).reshape(V.shape)
    d *= models.weight[:, None, None]
    later = crossings(models.gamma * d, models.P, V)
    to_psi = np.einsum("nqs,nsa->qsa", d, models.r) + np.einsum("qsary,qsary->qsa", later, eta)
    later *= psi[..., None, None]
    return Logits(through_softmax(to_psi, psi, -1), through_softmax(later, eta, -2))


@njit
def system(edge: F5, P: F4, gamma: float) -> F3:
    """I - gamma P on pairs (q, s), one matrix for each model, (n, QS, QS); edge = psi eta."""
    Q, S, A = edge.shape[:3]
    M = np.zeros((len(P), Q, S, Q, S))
    for i in range(len(P)):
        for q in range(Q):
            for s in range(S):
                M[i, q, s, q, s] = 1.0
                for a in range(A):
                    for r in range(Q):
                        for y in range(S):
                            M[i, q, s, r, y] -= gamma * P[i, s, a, y] * edge[q, s, a, r, y]
    return M.reshape(-1, Q * S, Q * S)


@njit
def crossings(d: F3, P: F4, V: F3) -> F5:
    """The sum over models of d(q, s) theta_{s a s'} V(q', s'), (Q, S, A, Q, S)."""
    (n, Q, S), A = d.shape, P.shape[2]
    total = np.zeros((Q, S, A, Q, S))
    for q in range(Q):
        for s in range(S):
            for a in range(A):
                for i in range(n):
                    for r in range(Q):
                        for y in range(S):
                            total[q, s, a, r, y] += d[i, q, s] * P[i, s, a, y] * V[i, r, y]
    return total


def through_softmax(slope: Floats, p: Floats, axis: int) -> Floats:
    """The gradient in the logits, given that in the probabilities."""
    return np.asarray(p * (slope - (p * slope).sum(axis=axis, keepdims=True)))


def monte_carlo_gradient(logits: Logits, models: Models, horizon: int, rng: Generator) -> Logits:
    """An unbiased estimate of the gradient of the `horizon`-step value: one trajectory in each of these drawn models.

    The score of each choice (one for the choice, less its probabilities) is weighted with the discounted return after
    it, less the mean of the other trajectories from then on. This baseline keeps the expectation and lowers variance.
    """
    psi, eta = logits.probabilities()
    n = len(models.P)
    q, s, a, y, then = simulate(rng.random((n, horizon, 3)), rng.random(n), models.first, models.P, psi, eta)
    rewards = models.gamma ** np.arange(horizon) * models.r[np.arange(n)[:, None], s, a]
    returns = np.cumsum(rewards[:, ::-1], axis=1)[:, ::-1]  # of t and later, discounted to the beginning
    returns = (returns - returns.mean(axis=0)) * n / (n - 1)  # less the mean of the others
    after = np.column_stack([returns[:, 1:], np.zeros(n)])
    return Logits(scores(psi, -1, (q, s, a), returns / n), scores(eta, -2, (q, s, a, then, y), after / n))


def scores(p: Floats, axis: int, chosen: tuple[Ints, ...], weight: Floats) -> Floats:
    """The sum over choices of weight times the gradient of log p in the logits."""
    cell = np.ravel_multi_index(chosen, p.shape).ravel()
    total = np.bincount(cell, weight.ravel(), p.size).reshape(p.shape)
    return np.asarray(total - p * total.sum(axis=axis, keepdims=True))


@njit
def simulate(u: F3, u_first: F1, first: F1, P: F4, psi: F3, eta: F5) -> I3:
    """A trajectory of T steps in each model, from uniform numbers u (n, T, 3): its (q, s, a, s', q'), (5, n, T)."""
    n, T, _ = u.shape
    path = np.empty((5, n, T), np.int64)
    for i in range(n):
        q, s = 0, pick(first, u_first[i])
        for t in range(T):
            a = pick(psi[q, s], u[i, t, 0])
            y = pick(P[i, s, a], u[i, t, 1])
            then = pick(eta[q, s, a, :, y], u[i, t, 2])
            path[0, i, t], path[1, i, t], path[2, i, t], path[3, i, t], path[4, i, t] = q, s, a, y, then
            q, s = then, y
    return path


@njit
def pick(p: F1, u: float) -> int:
    """The index that a uniform number selects."""
    for k in range(len(p) - 1):
        u -= p[k]
        if u < 0.0:
            return k
    return len(p) - 1


# The ascent ----------------------------------------------------------------------------------------------------------


def climb(logits: Logits, models: Models, iterations: int) -> tuple[Logits, list[float]]:
    """Exact gradient ascent with backtracking: the last parameters, and the values on the way, which never fall.

    No logit moves by more than one in a step, so that memory and actions develop together.
    """
    enough = SMALL_GAIN * np.abs(models.r).max() / (1.0 - models.gamma)
    here = evaluate(logits, models)
    values, step = [here.J], np.inf
    for _ in range(iterations):
        slope = gradient(here, models)
        promise = slope.squared()
        step = min(2.0 * step, 1.0 / max(slope.largest(), 1e-300))
        while (there := evaluate(logits.moved(step, slope), models)).J < here.J + SUFFICIENT * step * promise:
            step *= 0.5
            if step * promise <= enough:
                return logits, values
        logits = logits.moved(step, slope)
        gain = there.J - here.J
        here = there
        values.append(here.J)
        if gain <= enough:
            break
    return logits, values


def climb_by_simulation(
    logits: Logits, prior: SamplesListedMDPs, iterations: int, trajectories: int, rng: Generator
) -> Logits:
    """Stochastic gradient ascent: the largest logit moves by 1 / sqrt(t) in step t, each on new models."""
    horizon = 1 + int(np.log(TAIL) / np.log(max(prior.gamma, TAIL)))
    for t in range(1, iterations + 1):
        slope = monte_carlo_gradient(logits, drawn(prior, trajectories, rng), horizon, rng)
        logits = logits.moved(1.0 / (np.sqrt(t) * max(slope.largest(), 1e-300)), slope)
    return logits
