"""Solutions of known POMDPs: V(b) = max_i b . alpha_i, each alpha-vector with the action that it begins with.

A solution is a planner on every belief with `states()`. Without a horizon it looks one step ahead of its vectors, so
its choices are at least as good as the values say, where no vector promises more than can be had. With a horizon h, h
decisions are left whenever it is asked: `value`, `action`, `q` and `plan` are all about them, and `q` looks one step
ahead of the vectors of h - 1 decisions. A file holds the vectors alone, so what is read from it has no horizon.
"""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from bayesrl._explained import explain_failures
from bayesrl.capabilities import HasStates
from bayesrl.checks import Floats, array, frozen, indices, integer, number, rows_sum_to_one
from bayesrl.core import Decision, Transition
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.arrays import F1, F2, I1
from bayesrl.kernels.ties import first_best, sizes, threshold
from bayesrl.models.mdp import model_of
from bayesrl.models.pomdp import TabularPOMDP
from bayesrl.models.pomdp_solvers._backups import Arrays, arrays_of, values_ahead
from bayesrl.models.solvers.episodic import policy_to_the_end
from bayesrl.parameters import value

LARGEST_VALUE = 1e300
"""Sums of larger numbers overflow."""


@explain_failures
@value
class AlphaVectors:
    """A solved POMDP: alpha-vectors and their actions. It is a planner that looks one step ahead."""

    pomdp: TabularPOMDP
    """The problem."""
    vectors: F2
    """Alpha-vectors, shape (N, S); zero in terminal states."""
    actions: I1
    """The first action of each, shape (N,)."""
    proved: float | None = None
    """A bound on the error that the solver has proved; None: `error_bound` computes one."""
    iterations: int = 0
    """Sweeps over the beliefs, or over the simplex."""
    method: str = ""
    """The solver that was used."""
    later: F2 | None = None
    """With a horizon: the alpha-vectors of one decision fewer, (M, S). Without: None, which means `vectors`."""

    needs: ClassVar[tuple[type, ...]] = (HasStates,)

    def __post_init__(self) -> None:
        owner = "AlphaVectors"
        if not isinstance(self.pomdp, TabularPOMDP):
            raise InvalidArgument(owner, "pomdp", "a TabularPOMDP", self.pomdp)
        vectors = array(owner, "vectors", self.vectors, (None, self.pomdp.n_states))
        if vectors[:, self.pomdp.terminal].any():
            raise InvalidArgument(owner, "vectors", "zero in terminal states", vectors)
        if self.later is not None:
            later = array(owner, "later", self.later, (None, self.pomdp.n_states))
            if later[:, self.pomdp.terminal].any():
                raise InvalidArgument(owner, "later", "zero in terminal states", later)
            object.__setattr__(self, "later", later)
        actions = indices(owner, "actions", self.actions, (len(vectors),), self.pomdp.n_actions)
        if self.proved is not None and self.proved != np.inf:
            number(owner, "proved", self.proved, 0.0)
        integer(owner, "iterations", self.iterations)
        object.__setattr__(self, "vectors", vectors)
        object.__setattr__(self, "actions", actions)

    def __repr__(self) -> str:
        return f"AlphaVectors(vectors={len(self.vectors)}, states={self.pomdp.n_states}, method='{self.method}')"

    # Values ----------------------------------------------------------------------------------------------------------

    def value(self, states: ArrayLike) -> float | Floats:
        """V of a belief (S,), or of several (n, S)."""
        b = self._beliefs(states)
        v = (b @ self.vectors.T).max(axis=-1)
        return v if b.ndim == 2 else float(v)

    def q(self, states: ArrayLike) -> Floats:
        """Q(b, a), one step ahead: (A,) for a belief (S,), (n, A) for several (n, S)."""
        b = self._beliefs(states)
        q = values_ahead(self._arrays, np.array(np.atleast_2d(b)), self._columns)
        return q if b.ndim == 2 else q[0]

    def action(self, states: ArrayLike) -> int:
        """The action of the best vector at a belief (S,); ties go to the first action."""
        b = beliefs_of("AlphaVectors.action", "states", states, (self.pomdp.n_states,))
        v = self.vectors @ b
        return int(self.actions[v >= threshold(v, self._size)].min())

    @property
    def start_value(self) -> float:
        """V of the start."""
        return float((self.vectors @ self.pomdp.start).max())

    @cached_property
    def error_bound(self) -> float:
        """A bound on max |V - V*| over all beliefs: what the solver proved, or the gap to the fast informed bound."""
        if self.proved is not None:
            return self.proved
        from bayesrl.models.pomdp_solvers._pruning import largest_excess
        from bayesrl.models.pomdp_solvers.bounds import fast_informed_bound

        return largest_excess(fast_informed_bound(self.pomdp), self.vectors)

    def _beliefs(self, states: ArrayLike) -> Floats:
        S = self.pomdp.n_states
        return beliefs_of("AlphaVectors", "states", states, (None, S) if np.ndim(states) == 2 else (S,))

    @cached_property
    def _arrays(self) -> Arrays:
        return arrays_of(self.pomdp)

    @cached_property
    def _size(self) -> float:
        return sizes(self._columns)

    @cached_property
    def _columns(self) -> F2:
        return frozen(np.array((self.vectors if self.later is None else self.later).T, order="C"))

    # Planning --------------------------------------------------------------------------------------------------------

    def check(self, belief: HasStates) -> None:
        """Raise an error if the belief is about another problem."""
        same = (self.pomdp.n_states, self.pomdp.n_actions, self.pomdp.n_observations)
        if (belief.n_states, belief.n_actions, belief.n_observations) != same:
            raise InvalidArgument("AlphaVectors", "belief", "about the problem that was solved", belief)

    def start(self) -> None:
        """Nothing to remember."""

    def plan(
        self, belief: HasStates, observation: object, memory: None, rng: Generator, last: Transition | None = None
    ) -> Decision:
        """Take the best action one step ahead; ties go to the first. The observation is not looked at."""
        b = np.array(belief.states(), np.float64)
        if b.shape != (self.pomdp.n_states,):
            raise InvalidArgument("AlphaVectors", "belief", "about the problem that was solved", belief)
        q = values_ahead(self._arrays, b[None], self._columns)[0]
        return Decision(first_best(q, self._size), None, {"q": q, "value": float((self.vectors @ b).max())})


def beliefs_of(owner: str, name: str, states: ArrayLike, shape: tuple[int | None, ...]) -> Floats:
    """Distributions over states, of this shape."""
    return rows_sum_to_one(owner, name, array(owner, name, states, shape, low=0.0), states)


def refuse_overflow(pomdp: TabularPOMDP, owner: str, decisions: float) -> None:
    """Refuse rewards whose sum over all decisions overflows double precision."""
    most = float(np.abs(pomdp.mean_reward[~pomdp.terminal]).max(initial=0.0))
    if most > LARGEST_VALUE / decisions:
        got = f"rewards up to {most:g} with discount {pomdp.gamma:g}"
        hint = "Divide the rewards by a constant."
        raise InvalidArgument(owner, "problem", f"one whose values are at most {LARGEST_VALUE:g}", got, hint)


def lowest(pomdp: TabularPOMDP, owner: str) -> F1:
    """An alpha-vector below the optimum, (S,), which a backup never lowers.

    It is r_min / (1 - gamma), with r_min = min(r_min, 0) if episodes end, and 0 in terminal states. With discount 1 it
    is the value of random actions; every state must be able to come to an end.
    """
    ends, r = pomdp.terminal, pomdp.mean_reward[~pomdp.terminal]
    alpha = np.zeros(pomdp.n_states)
    if pomdp.gamma < 1.0:
        refuse_overflow(pomdp, owner, 1.0 / (1.0 - pomdp.gamma))
        worst = float(r.min(initial=np.inf if not ends.any() else 0.0))
        alpha[~ends] = worst / (1.0 - pomdp.gamma)
        return alpha
    if not ends.any():
        expected = "one that ends, or whose discount is below 1"
        raise InvalidArgument(owner, "problem", expected, "discount 1 without an end", "See `horizon`.")
    policy_to_the_end(model_of(pomdp.mdp))  # refuses states that never end
    P = pomdp.mdp.matrix.reshape(*pomdp.mean_reward.shape, -1).mean(axis=1)[~ends][:, ~ends]
    alpha[~ends] = np.linalg.solve(np.eye(len(P)) - P, r.mean(axis=1))
    return alpha
