"""Variable-reward transfer: new weights of the same rewards (Mehta, Natarajan, Tadepalli, Fern 2008; survey §7.4).

Tasks share their dynamics and the features of rewards; the reward of a task is w . f(s, a). For a fixed policy, values
are linear in w: V(s) = w . v(s), where v(s) is the vector of the expected sums of each feature. A cache keeps policies
with their vectors. A new task starts from the best of them, and the more tasks were seen, the less is left to compute.
Use it where prices or preferences change and the plant does not.

Discounted: the start is U(s) = max_c w . v_c(s). No cached policy exceeds it, and V*(s) >= U(s). Policy iteration goes
on from the policy that is greedy for U. Average reward (`criterion="average"`, the paper's setting): a policy has a
gain vector g and bias vectors h(s), f + P h = g + h, and the start is the policy with the largest w . g. In both, a
policy is kept only if it gains more than `tolerance` over the cache.

Paper to code: the cache and how a new task starts, `value` and `best`; learning a task and the test for keeping it,
`update`. The paper was not at hand; this follows the survey and what is recalled.
Deviations: the paper learns the vectors from steps; here the dynamics are known and vectors are solved. Discounted
tasks are ours.
Cost: O(S^3) for each policy of policy iteration, O(C S k) for `value`.
Claims: `value` is a lower bound of V* and convex in w. At tasks seen it is exact to `tolerance`. It is exact for every
w once the cache has the best policies of all weights, which are finitely many.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from bayesrl.checks import Floats, Ints, array, frozen, integer
from bayesrl.errors import InvalidArgument, NotConverged
from bayesrl.kernels.ties import first_best, greedy, within
from bayesrl.models.mdp import TabularMDP, find_mdp, mdp_of
from bayesrl.parameters import AtLeast, Shape, unchecked, value
from bayesrl.registry import register
from bayesrl.traits import Traits

POLICIES = 1000
"""Largest number of policies of one policy iteration."""
ROUNDING = 1e-11
"""A gain of an action below this share of the largest value is rounding."""


def _example() -> VariableReward:
    P = [[[0.9, 0.1], [0.2, 0.8]], [[0.6, 0.4], [0.1, 0.9]]]
    mdp = TabularMDP.from_dense(P, np.zeros((2, 2)), gamma=0.9)
    features = np.array([[[1.0, 0.0], [0.5, 0.5]], [[0.0, 1.0], [0.8, 0.0]]])
    return VariableReward(mdp, features).update([1.0, 0.0])


@register(
    "variable-reward-transfer",
    kind="belief",
    survey="7.4",
    paper="Mehta08TV",
    example=_example,
    taken_by="VariableReward.update, which takes the weights of one task after another",
    reading="The survey, and the paper as recalled; vectors are solved, not learnt.",
    evidence=(
        "tests/beliefs/tasks/test_variable_reward_transfer.py::test_the_cache_against_enumerated_policies",
        "tests/beliefs/tasks/test_variable_reward_transfer.py::test_a_complete_cache_solves_every_task",
    ),
)
@value
class VariableReward:
    """A cache of policies with vector values, from which tasks with new weights of the same rewards start.

    Examples
    --------
    >>> import bayesrl as b
    >>> stay_or_go = b.TabularMDP.from_dense([[[1, 0], [0, 1]], [[0, 1], [1, 0]]], np.zeros((2, 2)), gamma=0.5)
    >>> f = np.zeros((2, 2, 2))
    >>> f[0, :, 0] = f[1, :, 1] = 1.0  # a feature for each state
    >>> belief = VariableReward(stay_or_go, f).update([1.0, 0.0])
    >>> belief.value([1.0, 0.5]).tolist(), belief.policies.tolist()
    ([2.0, 1.5], [[0, 1]])
    >>> len(belief.update([1.0, 0.5]).policies), len(belief.update([0.0, 1.0]).policies)  # the second is new
    (1, 2)
    """

    problem: Annotated[Any, "The common dynamics: a model, or a world that has one. Its rewards do not matter."] = (
        field(repr=False)
    )
    features: Annotated[Floats, Shape("(S, A, k)"), "What rewards are made of: R(s, a) = w . f(s, a)."] = field(
        repr=False
    )
    tolerance: Annotated[float, AtLeast(0), "A policy is kept if it gains more than this in some state."] = 1e-9
    criterion: Annotated[
        Literal["discounted", "average"], "Discounted values, or reward per step (unichain problems)."
    ] = "discounted"
    policies: Ints = field(init=False, repr=False)
    """The cached policies, an action for each state, (C, S)."""
    vectors: Floats = field(init=False, repr=False)
    """Their values for each feature, (C, S, k); by the average criterion bias vectors, zero in the last state."""
    gains: Floats = field(init=False, repr=False)
    """Their gain vectors, (C, k); by the discounted criterion zeros."""
    tasks: Floats = field(init=False, repr=False)
    """The weights of the tasks seen, (M, k)."""
    iterations: Ints = field(init=False, repr=False)
    """Policies that were evaluated for each task, (M,); 0 where the cache was already optimal."""

    traits: ClassVar[Traits] = Traits(grows=("policies", "vectors", "gains", "tasks", "iterations"))

    def __post_init__(self) -> None:
        owner = "VariableReward"
        mdp = mdp_of(self.problem, owner)
        S, A = mdp.group.shape
        k = array(owner, "features", self.features, (S, A, None), moderate=True).shape[2]
        if self.criterion == "discounted" and mdp.gamma == 1.0:
            raise InvalidArgument(owner, "problem", 'one with a discount below 1, or criterion="average"', mdp)
        if self.criterion == "average" and mdp.outcomes.terminal.any():
            raise InvalidArgument(owner, "problem", "one without terminal states, as rewards are averaged", mdp)
        empty = {"policies": np.zeros((0, S), np.int64), "vectors": np.zeros((0, S, k)), "gains": np.zeros((0, k))}
        empty |= {"tasks": np.zeros((0, k)), "iterations": np.zeros(0, np.int64)}
        made = {"problem": mdp, "tolerance": float(self.tolerance)} | {name: frozen(x) for name, x in empty.items()}
        for name, x in made.items():
            object.__setattr__(self, name, x)

    def check_grown(self) -> None:
        """Refuse fields that do not belong together."""
        S, A, k = self.features.shape
        C, M = len(self.policies), len(self.tasks)
        shapes = {"policies": (C, S), "vectors": (C, S, k), "gains": (C, k), "tasks": (M, k), "iterations": (M,)}
        for name, shape in shapes.items():
            x = getattr(self, name)
            if x.shape != shape or not np.isfinite(x).all():
                raise InvalidArgument("VariableReward", name, f"finite numbers of shape {shape}", x)
        if ((self.policies < 0) | (self.policies >= A)).any():
            raise InvalidArgument("VariableReward", "policies", f"actions from 0 to {A - 1}", self.policies)

    def __repr__(self) -> str:
        S, A, k = self.features.shape
        cache = f"policies={len(self.policies)}, tasks={len(self.tasks)}"
        return f"VariableReward(states={S}, actions={A}, features={k}, criterion={self.criterion!r}, {cache})"

    # What the cache says ---------------------------------------------------------------------------------------------

    def value(self, weights: ArrayLike) -> Floats:
        """The best cached value of every state for these weights, (S,): max_c w . v_c(s), or the gain max_c w . g_c."""
        w = self._weights("VariableReward.value", weights)
        return frozen(self._cached("VariableReward.value", w).max(axis=0))

    def best(self, weights: ArrayLike, state: int) -> int:
        """The number of the cached policy that is best in a state for these weights, the first of equal ones."""
        owner = "VariableReward.best"
        w, s = self._weights(owner, weights), integer(owner, "state", state, 0, len(self.features) - 1)
        return first_best(self._cached(owner, w)[:, s])

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Any, rng: Generator | None = None) -> VariableReward:
        """Solve a task from the cache, and keep its policy if it gains more than `tolerance`.

        A task is its weights (k,), a problem with the same dynamics whose rewards are w . f, or both as a pair.
        """
        w = self._task("VariableReward.update", datum)
        policy, vectors, gain, n = self._solve(w)
        told = {"tasks": np.vstack([self.tasks, w]), "iterations": np.append(self.iterations, n)}
        now = vectors @ w if self.criterion == "discounted" else np.full(len(vectors), gain @ w)
        if (
            not len(self.policies)
            or (now - self._cached("VariableReward.update", w).max(axis=0)).max() > self.tolerance
        ):
            told |= {"policies": np.vstack([self.policies, policy]), "gains": np.vstack([self.gains, gain])}
            told |= {"vectors": np.concatenate([self.vectors, vectors[None]])}
        return unchecked(self, **{name: frozen(x) for name, x in told.items()})

    def _solve(self, w: Floats) -> tuple[Ints, Floats, Floats, int]:
        """Policy iteration from the cache: (policy, vectors, gain, policies evaluated)."""
        P, F, gamma = self._model
        R, states = F @ w, np.arange(len(F))
        known = len(self.policies) > 0
        if known:
            c = greedy(self._cached("VariableReward.update", w).T)  # of each state; the same for all by gains
            pi, vectors, gain = self.policies[c, states], self.vectors[c, states], self.gains[c[0]]
        else:
            pi, vectors, gain = greedy(R), np.zeros((len(F), F.shape[2])), np.zeros(F.shape[2])
        for n in range(POLICIES):
            q = R + gamma * (P @ (vectors @ w))
            kept, slack = q[states, pi], ROUNDING * (1.0 + float(np.abs(q).max()))
            better = np.flatnonzero(q.max(axis=1) > kept + slack)
            # U may be that of several policies; it is V* only if their actions together do not exceed it either.
            solved = n > 0 or (known and bool((kept - gain @ w <= vectors @ w + slack).all()))
            if solved and not len(better):
                return pi, vectors, gain, n
            pi = pi.copy()
            pi[better] = within(q[better], 0.5 * slack)
            vectors, gain = self._evaluate(pi)
        q = R + gamma * (P @ (vectors @ w))
        residual = float((q.max(axis=1) - q[states, pi]).max())
        raise NotConverged("VariableReward.update", pi, residual, f"{POLICIES} policies")

    def _evaluate(self, pi: Ints) -> tuple[Floats, Floats]:
        """The vectors (S, k) and the gain vector (k,) of a policy."""
        P, F, gamma = self._model
        S, _, k = F.shape
        rows, f = P[np.arange(S), pi], F[np.arange(S), pi]
        system = np.eye(S) - gamma * rows
        if self.criterion == "discounted":
            return np.asarray(np.linalg.solve(system, f), np.float64), np.zeros(k)
        system[:, -1] = 1.0  # h = 0 in the last state, whose column holds g
        try:
            h = np.asarray(np.linalg.solve(system, f), np.float64)
        except np.linalg.LinAlgError:
            h = np.full((S, k), np.inf)
        gain = h[-1].copy()
        h[-1] = 0.0
        if not np.isfinite(h).all() or np.abs(f + rows @ h - h - gain).max() > 1e-6 * (1.0 + np.abs(f).max()):
            expected = "one whose policies have one recurrent class each (unichain)"
            raise InvalidArgument("VariableReward.update", "problem", expected, self.problem)
        return h, gain

    @cached_property
    def _model(self) -> tuple[Floats, Floats, float]:
        """P (S, A, S), features without those of terminal states, and the discount (1 for averages)."""
        mdp = self.problem
        F = np.where(mdp.outcomes.terminal[:, None, None], 0.0, self.features)
        gamma = mdp.gamma if self.criterion == "discounted" else 1.0
        return mdp.matrix.reshape(*mdp.group.shape, -1), F, gamma

    def _cached(self, owner: str, w: Floats) -> Floats:
        """The value of each cached policy in each state, (C, S)."""
        if not len(self.policies):
            raise InvalidArgument(owner, "belief", "one that has seen a task (update)", self)
        if self.criterion == "discounted":
            return np.asarray(self.vectors @ w)
        return np.repeat((self.gains @ w)[:, None], len(self.features), axis=1)

    # Tasks -----------------------------------------------------------------------------------------------------------

    def _weights(self, owner: str, weights: Any) -> Floats:
        return array(owner, "weights", weights, (self.features.shape[2],), moderate=True)

    def _task(self, owner: str, datum: Any) -> Floats:
        """The weights of a task; refuse other dynamics and other rewards."""
        if isinstance(datum, tuple) and len(datum) == 2 and find_mdp(datum[0]) is not None:
            self._same_dynamics(owner, mdp_of(datum[0], owner))
            return self._weights(owner, datum[1])
        if find_mdp(datum) is None:
            return self._weights(owner, datum)
        mdp = mdp_of(datum, owner)
        self._same_dynamics(owner, mdp)
        _, F, _ = self._model
        R = mdp.mean_reward
        w = np.asarray(np.linalg.lstsq(F.reshape(R.size, -1), R.ravel(), rcond=None)[0], np.float64)
        if np.abs(F @ w - R).max() > 1e-9 * (1.0 + np.abs(R).max()):
            raise InvalidArgument(owner, "problem", "one whose rewards are weights of the features", datum)
        return frozen(w)

    def _same_dynamics(self, owner: str, mdp: TabularMDP) -> None:
        same = mdp.group.shape == self.problem.group.shape and (mdp.gamma == self.problem.gamma)
        if not same or not np.allclose(mdp.matrix, self.problem.matrix, rtol=0.0, atol=1e-12):
            raise InvalidArgument(owner, "problem", "one with the same dynamics and discount", mdp)
