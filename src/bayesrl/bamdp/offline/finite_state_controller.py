"""Finite-state controllers for the Bayes-adaptive MDP (Duff 2001; survey §4.3).

A controller is a policy that remembers one of a few nodes q instead of a belief. It draws its action from
psi(a | q, s) and its next node from eta(q' | q, s, a, s'). In one model theta its values solve |S||Q| linear equations,

    V(q, s) = sum_a psi(a | q, s) sum_s' theta_{s a s'} [ r + gamma sum_q' eta(q' | q, s, a, s') V(q', s') ],

and its value in the BAMDP is their expectation over the prior (not the value in the mean model, ERRATA 31). Both
distributions are soft-maxes of free parameters. Gradient ascent on that expectation improves the parameters. There are
many local optima (for example, a controller that uses one node only), so the ascent is restarted many times. The method
is for small problems; all work is done before the first step.

Paper to code: the linear system is `evaluate` and its adjoint `gradient`; gradients from simulated trajectories are
`monte_carlo_gradient` (_controller_parameters.py); the ascent is `climb` or `climb_by_simulation`.
Deviations: actions also depend on the state, which is observed. If they depended on the node only, each state would
need a node of its own. The expectation is over a fixed set of models, the same for all controllers: points of a Gauss
rule if the prior has few unknowns, otherwise draws (_prior_models.py). Random starts prefer to stay in their node
(`STAY`); the ascent then ends far more often in a controller that uses its memory. "Gradient descent" in the survey
means ascent.
Discount 1: every policy must end with probability one in each of the models, and then every controller does. The same
equations, with empty rows of terminal states, give expected total rewards. A model that need not end is refused with
the state. The expectation is over finitely many models; over the whole prior it may be infinite. Simulated
trajectories have e L steps, ceil(log 1/TAIL) times over, where L is the longest expected episode of drawn models: by
Markov's inequality an episode outlives e L steps with probability at most 1 / e.
Cost: with n models, O(n (S Q)^3 + n S^2 A Q^2) for a value, O(n S^2 A Q^2) for its gradient; O(1) for a decision.
Claims: values and gradients equal dynamic programming over hyper-states, finite differences and simulation; one node
finds the best memoryless policy; the ascent never falls.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.random import Generator
from scipy.linalg.lapack import dgetrf, dgetrs

from bayesrl.bamdp.offline._controller_parameters import Logits, monte_carlo_gradient, pick
from bayesrl.bamdp.offline._prior_models import PriorModels, draw_models, models_of
from bayesrl.bamdp.sampling.merged_models import SamplesListedMDPs
from bayesrl.capabilities import HasMeanMDP, offers, require
from bayesrl.checks import Floats, Ints, array, frozen, generator, integer, rows_sum_to_one
from bayesrl.core import Decision, Transition
from bayesrl.kernels.arrays import F3, F4
from bayesrl.kernels.jit import njit
from bayesrl.kernels.ties import first_best
from bayesrl.models.solvers.proper import must_be_proper
from bayesrl.parameters import AtLeast, Shape, declared, value
from bayesrl.registry import register
from bayesrl.traits import Traits

F5: TypeAlias = np.ndarray[tuple[int, int, int, int, int], np.dtype[np.float64]]
STAY = 3.0
"""Preference of a random start for its present node, added to logits of standard deviation one."""
SMALL_GAIN = 1e-7
"""The ascent ends when a step gains less than this share of the largest possible value."""
TAIL = 0.01
"""Simulated trajectories end when the later rewards have less than this share of the total weight."""
SUFFICIENT = 1e-4
"""A step must gain at least this share of the first-order prediction."""


@register(
    "finite-state-controller",
    kind="solver",
    survey="4.3",
    paper="duff01bamdpfsc",
    example=lambda: FiniteStateController(nodes=2, restarts=2, models=8, iterations=20),
    evidence=(
        "tests/bamdp/offline/test_finite_state_controller.py::test_value_equals_dynamic_programming_over_hyper_states",
        "tests/bamdp/offline/test_finite_state_controller.py::test_gradient_equals_finite_differences",
        "tests/bamdp/offline/test_finite_state_controller.py::test_monte_carlo_gradient_is_unbiased",
        "tests/bamdp/offline/test_finite_state_controller.py::test_one_node_is_the_best_memoryless_policy",
        "tests/bamdp/test_undiscounted.py::test_one_node_is_the_best_policy_without_memory",
    ),
)
@declared
class FiniteStateController:
    """The best controller of a few memory nodes for a prior, found by gradient ascent.

    With discount 1 every policy must end in every model over which the expectation is taken.

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

    needs: ClassVar[tuple[type, ...]] = (SamplesListedMDPs,)
    traits: ClassVar[Traits] = Traits(yields="planner")

    def check(self, belief: SamplesListedMDPs) -> None:
        """Refuse a discount of 1 if episodes need not end in a drawn model."""
        if belief.gamma == 1.0 and offers(belief, HasMeanMDP):  # others are asked when models are drawn
            must_be_proper("FiniteStateController", "problem", belief.mean_mdp())

    def solve(self, problem: SamplesListedMDPs, rng: Generator | None = None) -> Controller:
        """The controller of largest value on the models."""
        require("FiniteStateController", problem, SamplesListedMDPs)
        prior, rng = problem, generator("FiniteStateController", rng)
        models = models_of(prior, self.models, rng)
        found = [self._ascend(start(nodes, models, rng), models, prior, rng) for nodes in self._sizes()]
        values = [evaluate(logits, models).J for logits in found]
        best = first_best(np.array(values))
        psi, eta = found[best].controller()
        return Controller(self, frozen(psi), frozen(eta), values[best])

    def _sizes(self) -> list[int]:
        return [nodes for nodes in range(1, self.nodes + 1) for _ in range(self.restarts)]

    def _ascend(self, first: Logits, models: PriorModels, prior: SamplesListedMDPs, rng: Generator) -> Logits:
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
        """Move to the next node, then draw an action; a new episode begins in the first node."""
        self._state(observation)
        return self.act(memory if last is None else self.learn(memory, last, rng), observation, rng)

    def act(self, mind: int, observation: int, rng: Generator) -> Decision:
        """Draw an action of the present node."""
        p = self.psi[mind, self._state(observation)]
        return Decision(int(pick(p, rng.random())), mind, {"probability": p, "node": mind})

    def learn(self, mind: int, transition: Transition, rng: Generator) -> int:
        """Draw the next node; a new episode begins in the first node."""
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


# Controllers and their gradients -------------------------------------------------------------------------------------


def start(nodes: int, models: PriorModels, rng: Generator) -> Logits:
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


def evaluate(logits: Logits, models: PriorModels) -> Evaluation:
    """The expected return J of a controller: V solves M V = r with M = I - gamma P on pairs (q, s) in each model."""
    psi, eta = logits.probabilities()
    Q, S, _ = psi.shape
    M = system(psi[..., None, None] * eta, models.P, models.gamma)
    factors = [dgetrf(m.T, overwrite_a=True)[:2] for m in M]  # LAPACK reads columns first, so it gets the transpose
    r = np.einsum("qsa,nsa->nqs", psi, models.r).reshape(-1, Q * S)
    V = np.array([dgetrs(*f, x, trans=1)[0] for f, x in zip(factors, r, strict=True)]).reshape(-1, Q, S)
    return Evaluation(float(models.weight @ (V[:, 0] @ models.first)), psi, eta, V, factors)


def gradient(found: Evaluation, models: PriorModels) -> Logits:
    """The gradient of J in the logits.

    The adjoint, the discounted visits d to (q, s), solves d M = first. Then dJ / d psi = d Q(q, s, a), and
    dJ / d eta(q' | q, s, a, s') = d psi gamma theta V(q', s').
    """
    _, psi, eta, V, factors = found
    first = np.zeros(V.shape[1:])
    first[0] = models.first
    d = np.array([dgetrs(*f, first.ravel(), trans=0)[0] for f in factors]).reshape(V.shape)
    d *= models.weight[:, None, None]
    later = edge_values(models.gamma * d, models.P, V)
    to_psi = np.einsum("nqs,nsa->qsa", d, models.r) + np.einsum("qsary,qsary->qsa", later, eta)
    later *= psi[..., None, None]
    return Logits(softmax_gradient(to_psi, psi, -1), softmax_gradient(later, eta, -2))


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
def edge_values(d: F3, P: F4, V: F3) -> F5:
    """Sum d(q, s) theta_{s a s'} V(q', s') over the models, (Q, S, A, Q, S)."""
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


def softmax_gradient(slope: Floats, p: Floats, axis: int) -> Floats:
    """The gradient in the logits, from the gradient in the probabilities."""
    return np.asarray(p * (slope - (p * slope).sum(axis=axis, keepdims=True)))


# The ascent ----------------------------------------------------------------------------------------------------------


def climb(logits: Logits, models: PriorModels, iterations: int) -> tuple[Logits, list[float]]:
    """Exact gradient ascent with backtracking: the last parameters, and the values on the way, which never decrease.

    No logit moves by more than one in a step, so memory and actions develop together.
    """
    largest = np.abs(models.r).max()
    enough = SMALL_GAIN * (largest * models.longest if models.gamma == 1.0 else largest / (1.0 - models.gamma))
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
    """Stochastic gradient ascent: step t draws new models and moves the largest logit by 1 / sqrt(t)."""
    if prior.gamma == 1.0:
        longest = draw_models(prior, trajectories, rng).longest
        horizon = int(np.ceil(np.e * longest) * np.ceil(-np.log(TAIL)))
    else:
        horizon = 1 + int(np.log(TAIL) / np.log(max(prior.gamma, TAIL)))
    for t in range(1, iterations + 1):
        slope = monte_carlo_gradient(logits, draw_models(prior, trajectories, rng), horizon, rng)
        logits = logits.moved(1.0 / (np.sqrt(t) * max(slope.largest(), 1e-300)), slope)
    return logits
