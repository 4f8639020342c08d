"""Finite-state controllers for the Bayes-adaptive MDP (Duff 2001; survey §4.3).

A policy that remembers one of a few nodes q instead of a belief: it acts by psi(a | q, s) and goes on along the edge of
what it saw by eta(q' | q, s, a, s'). In one model theta its values solve |S||Q| linear equations,

    V(q, s) = sum_a psi(a | q, s) sum_s' theta_{s a s'} [ r + gamma sum_q' eta(q' | q, s, a, s') V(q', s') ],

and its value in the BAMDP is their expectation over the prior (not the value in the mean model, ERRATA 31). Both
distributions are soft-maxes of free parameters, which ascend the gradient of that expectation; there are many local
optima (to remember nothing is one), hence many starts. For small problems; all work is done ahead.

Paper to code: the linear system `evaluate` and its adjoint `gradient`; gradients from simulated lives
`monte_carlo_gradient`; ascent `climb`, `climb_by_simulation`.
Deviations: actions depend on the state too, which is seen anyway: with actions on nodes alone, a node would have to be
kept for each state. The expectation is over models fixed ahead, the same for all controllers: points of a Gauss rule
where the prior has few unknowns, else draws. Starts stay in a node more often than not (`STAY`), which finds
controllers with a use for memory far more often. "Gradient descent" in the survey is ascent.
Cost: O(n (S Q)^3 + n S^2 A Q^2) a value for n models, O(n S^2 A Q^2) its gradient; O(1) a decision.
Claims: values and gradients equal dynamic programming over hyper-states, finite differences and simulation; one node
finds the best memoryless policy; the ascent never falls.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.linalg.lapack import dgetrf, dgetrs
from scipy.special import roots_jacobi

from bayesrl.beliefs.tabular.dirichlet_mdp import DirichletMDP
from bayesrl.checks import Floats, frozen, integer, number
from bayesrl.core import Decision, Transition
from bayesrl.errors import Incompatible
from bayesrl.kernels.jit import njit
from bayesrl.models.mdp import TabularMDP
from bayesrl.parameters import value
from bayesrl.registry import register

STAY = 3.0
"""How much a start prefers to stay in its node, added to logits of standard deviation one."""
FINE = 8
"""A Gauss rule with this many points for each unknown is taken to be exact."""
SMALL_GAIN = 1e-7
"""The ascent ends when a step gains less than this share of the largest conceivable value."""
SUFFICIENT = 1e-4
"""A step must gain at least this share of what the gradient promises."""
TAIL = 0.01
"""Simulated lives end where all later rewards weigh less than this share."""


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
@dataclass(frozen=True, slots=True)
class FiniteStateController:
    """The best controller of a few memory nodes for a prior, found by gradient ascent."""

    nodes: int = 3
    """Memory nodes at most, |Q|: controllers of 1, 2, ... nodes are tried, and the best is kept."""
    restarts: int = 20
    """Random starts for each number of nodes."""
    models: int = 64
    """Models over which the expectation is taken."""
    iterations: int = 300
    """Steps of one ascent at most."""
    trajectories: int | None = None
    """Simulated lives for each gradient; None for exact gradients."""

    yields: ClassVar[str] = "planner"

    def __post_init__(self) -> None:
        owner = "FiniteStateController"
        integer(owner, "nodes", self.nodes, 1)
        integer(owner, "restarts", self.restarts, 1)
        integer(owner, "models", self.models, 1)
        integer(owner, "iterations", self.iterations, 1)
        if self.trajectories is not None:
            integer(owner, "trajectories", self.trajectories, 2)

    def solve(self, prior: Any, rng: Generator) -> Controller:
        """The best controller found, by its value on the models."""
        missing = [need for need in ("sample_mdp", "outcomes", "gamma") if not hasattr(prior, need)]
        if missing:
            raise Incompatible("FiniteStateController", type(prior).__name__, missing)
        number("FiniteStateController", "gamma", prior.gamma, 0.0, 1.0, below=True)
        models = models_of(prior, self.models, rng)
        found = [self._ascend(start(nodes, models, rng), models, prior, rng) for nodes in self._sizes()]
        values = [evaluate(logits, models).J for logits in found]
        best = int(np.argmax(values))
        psi, eta = found[best].controller()
        return Controller(self, frozen(psi), frozen(eta), values[best])

    def _sizes(self) -> list[int]:
        return [nodes for nodes in range(1, self.nodes + 1) for _ in range(self.restarts)]

    def _ascend(self, first: Logits, models: Models, prior: Any, rng: Generator) -> Logits:
        if self.trajectories is None:
            return climb(first, models, self.iterations)[0]
        return climb_by_simulation(first, prior, self.iterations, self.trajectories, rng)


@value
class Controller:
    """A finite-state controller, which is a planner: its memory is a node, and it never looks at the belief."""

    solver: FiniteStateController
    """What made it."""
    psi: Floats
    """Probability of action a in node q and state s, (Q, S, A)."""
    eta: Floats
    """Probability of going on to node q' from q when (s, a, s') was seen, (Q, S, A, S, Q)."""
    value: float
    """Expected discounted return under the prior it was made for."""

    needs: ClassVar[tuple[str, ...]] = ()

    def start(self) -> int:
        """The first node."""
        return 0

    def plan(
        self, belief: Any, observation: int, memory: int, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Move along the edge just seen and draw an action; a new episode begins in the first node."""
        q, s = memory, integer("Controller", "observation", observation, 0, self.psi.shape[1] - 1)
        if last is not None:
            q = 0 if last.ends_episode else pick(self.eta[q, last.state, last.action, last.next_state], rng.random())
        p = self.psi[q, s]
        return Decision(int(pick(p, rng.random())), int(q), {"probability": p, "node": q})


# The expectation over the prior --------------------------------------------------------------------------------------


class Models(NamedTuple):
    """Weighted models of a prior."""

    P: Floats  # (n, S, A, S)
    r: Floats  # (n, S, A) expected rewards
    weight: Floats  # (n,)
    first: Floats  # (S,) distribution of the first state
    gamma: float


def models_of(prior: Any, n: int, rng: Generator) -> Models:
    """At most n models whose weighted average is the expectation: a Gauss rule where n is enough, else draws."""
    free = unknowns(prior) if isinstance(prior, DirichletMDP) else None
    if free is not None and FINE ** len(free) <= n:
        return stack(prior, *gauss(prior, free, int(n ** (1.0 / max(len(free), 1)) + 1e-9)))
    return drawn(prior, n, rng)


def drawn(prior: Any, n: int, rng: Generator) -> Models:
    """Models drawn from the prior."""
    return stack(prior, [prior.sample_mdp(rng) for _ in range(n)], np.full(n, 1.0 / n))


def stack(prior: Any, models: list[TabularMDP], weight: Floats) -> Models:
    """Models as arrays."""
    S, A = models[0].n_states, models[0].n_actions
    P = np.array([m.matrix for m in models]).reshape(-1, S, A, S)
    return Models(P, np.array([m.mean_reward for m in models]), weight, prior.outcomes.start, prior.gamma)


def unknowns(prior: DirichletMDP) -> list[tuple[int, int]]:
    """The cells (g, k) that are free: all but the last of each unknown group."""
    size = prior.outcomes.size
    return [(int(g), k) for g in np.flatnonzero(~prior.known) for k in range(size[g] - 1)]


def gauss(prior: DirichletMDP, free: list[tuple[int, int]], n: int) -> tuple[list[TabularMDP], Floats]:
    """Gauss-Jacobi points and weights, n for each unknown: a Dirichlet row is a stick, broken in Beta proportions."""
    alpha, known, last = prior.alpha, prior.known, prior.outcomes.size - 1
    rules = [roots_jacobi(n, alpha[g, k + 1 :].sum() - 1.0, alpha[g, k] - 1.0) for g, k in free]  # on [-1, 1]
    models, weights = [], []
    for index in np.ndindex(*[n] * len(free)):
        prob, weight = np.where(known[:, None], alpha, 0.0), 1.0
        prob[~known, last[~known]] = 1.0  # the last outcome holds what is left of the stick
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

    Next states come last, so that all that is done for each of them is done on what lies side by side.
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
    """A random controller that would rather stay in its node."""
    _, S, A, _ = models.P.shape
    node = rng.standard_normal((nodes, S, A, S, nodes)) + STAY * np.eye(nodes)[:, None, None, None, :]
    return Logits(rng.standard_normal((nodes, S, A)), np.ascontiguousarray(node.swapaxes(-1, -2)))


class Evaluation(NamedTuple):
    """A controller, its expected return J, and what its gradient needs."""

    J: float
    psi: Floats
    eta: Floats
    V: Floats  # (n, Q, S)
    factors: list[Any]  # of M, for each model


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
def system(edge: Any, P: Any, gamma: float) -> Any:
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
def crossings(d: Any, P: Any, V: Any) -> Any:
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
    """An unbiased estimate of the gradient of the `horizon`-step value, from one life in each of these drawn models.

    The score of each choice (one for what was chosen, less its probabilities) is weighted with the discounted return
    that came after it, less the mean of the other lives from then on: the same expectation, and less variance.
    """
    psi, eta = logits.probabilities()
    n = len(models.P)
    q, s, a, y, then = live(rng.random((n, horizon, 3)), rng.random(n), models.first, models.P, psi, eta)
    rewards = models.gamma ** np.arange(horizon) * models.r[np.arange(n)[:, None], s, a]
    returns = np.cumsum(rewards[:, ::-1], axis=1)[:, ::-1]  # of t and later, discounted to the beginning
    returns = (returns - returns.mean(axis=0)) * n / (n - 1)  # less the mean of the others
    after = np.column_stack([returns[:, 1:], np.zeros(n)])
    return Logits(scores(psi, -1, (q, s, a), returns / n), scores(eta, -2, (q, s, a, then, y), after / n))


def scores(p: Floats, axis: int, chosen: tuple[Any, ...], weight: Floats) -> Floats:
    """The sum over choices of weight times the gradient of log p in the logits."""
    cell = np.ravel_multi_index(chosen, p.shape).ravel()
    total = np.bincount(cell, weight.ravel(), p.size).reshape(p.shape)
    return np.asarray(total - p * total.sum(axis=axis, keepdims=True))


@njit
def live(u: Any, u_first: Any, first: Any, P: Any, psi: Any, eta: Any) -> Any:
    """A life of T steps in each model, from uniform numbers u (n, T, 3): its (q, s, a, s', q'), (5, n, T)."""
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
def pick(p: Any, u: float) -> int:
    """The index that a uniform number stands for."""
    for k in range(len(p) - 1):
        u -= p[k]
        if u < 0.0:
            return k
    return len(p) - 1


# The ascent ----------------------------------------------------------------------------------------------------------


def climb(logits: Logits, models: Models, iterations: int) -> tuple[Logits, list[float]]:
    """Exact gradient ascent, steps found by backtracking: where it ends, and the values on the way, which never fall.

    No logit moves by more than one in a step, so that memory and actions take shape together.
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


def climb_by_simulation(logits: Logits, prior: Any, iterations: int, trajectories: int, rng: Generator) -> Logits:
    """Stochastic gradient ascent: the largest logit moves by 1 / sqrt(t) in step t, each on fresh models and lives."""
    horizon = 1 + int(np.log(TAIL) / np.log(max(prior.gamma, TAIL)))
    for t in range(1, iterations + 1):
        slope = monte_carlo_gradient(logits, drawn(prior, trajectories, rng), horizon, rng)
        logits = logits.moved(1.0 / (np.sqrt(t) * max(slope.largest(), 1e-300)), slope)
    return logits
