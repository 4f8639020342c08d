"""Gaussian processes in reinforcement learning: a learned model and a value process (Rasmussen and Kuss 2004; §5.1).

The dynamics are learned (`gp-dynamics`). The reward is known: exp(-q/2) with q the sum of ((s' - target) / width)^2.
The value function is a Gaussian process with Gaussian covariance k_v, known at the support states s_j.

For a support state i and an action the next state is N(mu_i, S_i) with S_i diagonal. Both expectations are closed:
R_i = E reward and W_ij = E k_v(s', s_j). So V = R + gamma W K_v^-1 V, with `jitter` on the diagonal of K_v. Policies
improve greedily over the listed actions, until actions repeat.

Deviations: W K_v^-1 is not a contraction. The linear solve of the paper settled in 4 of 40 cases, value backups kept
inside [0, 1/(1 - gamma)] in 30 (reference figures). So kept backups are the default, and `evaluate="solve"` is the
paper's. Fitted scales for which values do not settle are made shorter. Fits stop when a policy returns; the values
solve the backup of the last fit within TOLERANCE, or `NotConverged` brings the last solution along.
Cost: O(n^2 A d + n^3) for n support states. Claims: R and W against Monte Carlo; the hill is climbed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field, replace
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy.linalg import cho_factor, cho_solve

from bayesrl.beliefs.covariances import Covariance, Gaussian, points
from bayesrl.beliefs.dynamics.gp_dynamics import GPDynamics
from bayesrl.beliefs.dynamics.vectors import vector
from bayesrl.beliefs.values.gp_regression import GPRegression
from bayesrl.checks import Floats, Ints, array, as_array, frozen, generator, integer, sequence
from bayesrl.core import Decision, Transition
from bayesrl.errors import InvalidArgument, NotConverged
from bayesrl.kernels.ties import first_best, greedy
from bayesrl.parameters import Above, Within, value
from bayesrl.registry import register

MOST_POLICIES = 50
"""Policies that are evaluated at most."""
MOST_BACKUPS = 2000
"""Backups of one evaluation at most."""
TOLERANCE = 1e-6
"""Backups stop when they change the values by at most this, which is also the error of a solution."""
SHORTER = 0.7
"""Share of the scales that is kept when fitted scales do not let values settle."""


class Solution(NamedTuple):
    """The solution of GPRL. It is an agent: it acts greedily on the value process, also between support states."""

    values: Floats
    """Values of the support states, shape (n,)."""
    policy: Ints
    """The action of each support state, an index, shape (n,)."""
    q: Floats
    """Values of each action in each support state, shape (n, A)."""
    weights: Floats
    """K_v^-1 V, shape (n,)."""
    solver: GPRL
    model: GPDynamics

    def action_values(self, states: ArrayLike) -> Floats:
        """E[reward + gamma V(s')] of each action in any states, shape (m, A)."""
        S = points("GPRL", "states", states, self.solver.support.shape[1])
        return self.solver._q(*self.solver.expectations(self.model, S), self.weights)

    def start(self) -> None:
        """No memory."""

    def act(self, mind: None, observation: Any, rng: Generator) -> Decision:
        """The best action in a state."""
        q = self.action_values(np.asarray(observation, np.float64).reshape(1, -1))[0]
        return Decision(first_best(q), None, {"q": q})

    def learn(self, mind: None, transition: Transition, rng: Generator) -> None:
        """No memory."""


@register(
    "gprl",
    kind="solver",
    survey="5.1",
    paper="Rasmussen04GP",
    example=lambda: GPRL(
        support=np.linspace(-1.0, 1.0, 9), actions=[[-1.0], [1.0]], target=[0.5], width=0.3, gamma=0.8,
        dynamics=Gaussian(scale=[1.0, 1.0]), covariance=Gaussian(scale=0.3), fit=False,
    ),
    evidence=(
        "tests/value/test_gprl.py::test_expectations_match_monte_carlo",
        "tests/value/test_gprl.py::test_both_evaluations_agree",
        "tests/value/test_gprl.py::test_climbs_the_hill",
    ),
)  # fmt: skip
@value
class GPRL:
    """Policy iteration on a learned Gaussian-process model with a Gaussian-process value function.

    Examples
    --------
    >>> solver = GPRL(support=np.linspace(-1, 1, 9), actions=[[-0.5], [0.5]], target=[0.5], width=0.2, gamma=0.5,
    ...               dynamics=Gaussian(scale=[1.0, 1.0]), covariance=Gaussian(scale=0.3), fit=False)
    >>> rng = np.random.default_rng(0)
    >>> s, a = rng.uniform(-1, 1, 40), rng.choice([-0.5, 0.5], 40)
    >>> log = [Transition([x], [u], 0.0, [x + u]) for x, u in zip(s, a)]
    >>> solver.solve(log, rng).policy.tolist()  # right until the target, then left
    [1, 1, 1, 1, 1, 1, 1, 0, 0]
    """

    support: Annotated[Any, "Support states, shape (n, d), or (n,) for states of one coordinate."]
    actions: Annotated[Any, "The listed actions, shape (A, e), or (A,)."]
    target: Annotated[Any, "The state that the reward prefers, shape (d,)."]
    width: Annotated[Any, "Width of the reward: one number, or one for each coordinate."] = 0.1
    gamma: Annotated[float, Within(0.0, 1.0, open_high=True), "Discount, below 1."] = 0.9
    dynamics: Annotated[Any, "Covariance of each coordinate's process, on rows (state, action)."] = None
    noise: Annotated[float, Above(0.0), "Standard deviation of a coordinate of the next state."] = 0.01
    covariance: Annotated[Gaussian, "Prior covariance of values, k_v."] = field(
        default_factory=lambda: Gaussian(scale=1.0)
    )
    mean: Annotated[Literal["state", "zero"], "Prior mean of the next state: the state, or zero."] = "state"
    jitter: Annotated[float, Above(0.0), "What is added to the diagonal of K_v."] = 1e-6
    fit: Annotated[bool, "Whether k_v is fitted by the evidence of the values after each evaluation."] = True
    fit_dynamics: Annotated[bool, "Whether the dynamics and their noise are fitted by evidence first."] = True
    evaluate: Annotated[
        Literal["backups", "solve"], "Backups kept inside the range of values, or the paper's linear solve."
    ] = "backups"

    def __post_init__(self) -> None:
        support = points("GPRL", "support", self.support)
        d = support.shape[1]
        actions = points("GPRL", "actions", self.actions)
        target = array("GPRL", "target", np.atleast_1d(as_array(self.target)), (d,), moderate=True)
        width = array("GPRL", "width", self.width, low=0.0, above=True, moderate=True)
        if width.shape not in ((), (d,)):
            raise InvalidArgument("GPRL", "width", f"one number, or one for each of {d} coordinates", self.width)
        dynamics = Gaussian(scale=np.ones(d + actions.shape[1])) if self.dynamics is None else self.dynamics
        row = np.zeros((1, d + actions.shape[1]))
        try:
            fits = isinstance(dynamics, Covariance) and dynamics.matrix(row, row).shape == (1, 1)
        except InvalidArgument:
            fits = False
        if not fits:
            raise InvalidArgument("GPRL", "dynamics", f"a covariance on rows (state, action) of {row.size}", dynamics)
        if not isinstance(self.covariance, Gaussian) or np.shape(self.covariance.scale) not in ((), (d,)):
            expected = f"a Gaussian covariance, whose expectations are closed, on states of {d} coordinates"
            raise InvalidArgument("GPRL", "covariance", expected, self.covariance)
        found = {"support": support, "actions": actions, "target": target, "dynamics": dynamics}
        for name, one in found.items():
            object.__setattr__(self, name, one)

    def solve(self, problem: Iterable[Transition], rng: Generator | None = None) -> Solution:
        """Learn the dynamics from transitions, then the values of the support states and a policy."""
        owner = "GPRL.solve"
        model = self.learn_model(problem, rng)
        solver, seen = self, set()
        policy: Ints = np.zeros(len(self.support), np.int64)
        values = np.zeros(len(self.support))
        for _ in range(MOST_POLICIES):
            R, W = solver.expectations(model, self.support)
            V, settled = solver._evaluated(R, W, policy, values)
            weights = solver._factored()(V)
            q = solver._q(R, W, weights)
            policy, gap = greedy(q), float(np.abs(solver._best(q) - V).max())
            solution = Solution(frozen(V), frozen(policy), frozen(q), frozen(weights), solver, model)
            repeats, solved = policy.tobytes() in seen, settled and gap <= TOLERANCE
            if solved and (repeats or not self.fit):
                return solution
            if settled and repeats:
                break  # the policies go round
            if not settled and not self.fit:
                break  # backups do not depend on the policy: another evaluation would only continue this one
            values = V if settled else np.zeros(len(V))
            if settled:
                seen.add(policy.tobytes())
            if self.fit:
                solver = solver._refitted(V, generator(owner, rng)) if settled else solver._shorter()
        budget = f"{MOST_POLICIES} policies at most" if settled else f"{MOST_BACKUPS} backups at most"
        raise NotConverged(owner, solution, gap, budget)

    # The model -------------------------------------------------------------------------------------------------------

    def learn_model(self, log: Iterable[Transition], rng: Generator | None = None) -> GPDynamics:
        """One Gaussian process for each coordinate of the next state. Actions are indices or vectors."""
        owner = "GPRL.solve"
        steps = sequence(owner, "problem", log, "transitions")
        if not steps or not all(isinstance(step, Transition) for step in steps):
            raise InvalidArgument(owner, "problem", "at least one transition", log)
        d, (A, e) = self.support.shape[1], self.actions.shape
        moves = []
        for step in steps:
            if isinstance(step.action, (int, np.integer)):
                action = self.actions[integer(owner, "action", step.action, 0, A - 1)]
            else:
                action = vector(owner, "action", step.action, e)
            moves.append(step._replace(action=action))
        model = GPDynamics([self.dynamics] * d, self.noise, self.mean).update_many(moves)
        return model.fit(generator(owner, rng), starts=2) if self.fit_dynamics else model

    def expectations(self, model: GPDynamics, states: Floats) -> tuple[Floats, Floats]:
        """R = E reward, (n, A), and W = E k_v(s', s_j), (n, A, m), after each action in each state."""
        reward = Gaussian(scale=self.width)
        R, W = [], []
        for action in self.actions:
            mean, variance = model.predictive(states, action)
            spread = variance[:, :, None] * np.eye(states.shape[1])
            R.append(reward.expectation(mean, spread, self.target[None])[:, 0])
            W.append(self.covariance.expectation(mean, spread, self.support))
        return np.stack(R, axis=1), np.stack(W, axis=1)

    # Policy iteration ------------------------------------------------------------------------------------------------

    def _evaluated(self, R: Floats, W: Floats, policy: Ints, V: Floats) -> tuple[Floats, bool]:
        """Values of the support states, and whether they have settled."""
        solve_K = self._factored()
        if self.evaluate == "solve":
            rows = np.arange(len(policy))
            A = np.eye(len(policy)) - self.gamma * solve_K(W[rows, policy].T).T
            return np.asarray(np.linalg.solve(A, R[rows, policy]), np.float64), True
        for _ in range(MOST_BACKUPS):
            new = self._best(self._q(R, W, solve_K(V)))
            if float(np.abs(new - V).max()) <= TOLERANCE:  # the error of V; that of `new` may be larger
                return V, True
            V = new
        return V, False

    def _q(self, R: Floats, W: Floats, weights: Floats) -> Floats:
        """R + gamma W K_v^-1 V, shape (n, A), from the weights K_v^-1 V."""
        return np.asarray(R + self.gamma * (W @ weights))

    def _best(self, q: Floats) -> Floats:
        """The value of the best action, kept inside the range of values unless it is solved for, shape (n,)."""
        best = q.max(axis=1)
        return np.clip(best, 0.0, 1.0 / (1.0 - self.gamma)) if self.evaluate == "backups" else best

    def _factored(self) -> Callable[[Floats], Floats]:
        """The map x -> K_v^-1 x."""
        K = self.covariance.matrix(self.support, self.support) + self.jitter * np.eye(len(self.support))
        try:
            factor = cho_factor(K, lower=True)
        except np.linalg.LinAlgError:
            hint = "Support states are too close for these scales."
            raise InvalidArgument("GPRL", "jitter", "large enough to make K_v regular", self.jitter, hint) from None
        return lambda x: np.asarray(cho_solve(factor, x, check_finite=False))

    def _refitted(self, V: Floats, rng: Generator) -> GPRL:
        """The same solver with the value covariance of the largest evidence."""
        noise = self.jitter * np.eye(len(V))
        process = GPRegression(self.covariance).update_linear(self.support, np.eye(len(V)), V, noise)
        fitted = process.fit(rng, starts=1).prior_covariance
        assert isinstance(fitted, Gaussian)
        return replace(self, covariance=fitted)

    def _shorter(self) -> GPRL:
        """The same solver with shorter scales: W K_v^-1 is nearer to an average of values, and backups settle."""
        return replace(self, covariance=replace(self.covariance, scale=SHORTER * self.covariance.scale))
