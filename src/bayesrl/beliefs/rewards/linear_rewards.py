"""Linear rewards of a known MDP, their optimal values, and how these change with the weights.

Rewards are R(s, a) = w . phi(s, a), paid in the current state. For a fixed policy pi the action values are linear in w:

    Q = M w,   M = F + gamma P X,   X = (I - gamma P_pi)^-1 F_pi,

where F holds the features of the pairs, (S A, d), and F_pi those of the pairs that pi takes, (S, d). Where pi is the
only optimal policy, M is the derivative of Q* in w. `adjoint` computes y' M for one vector y by one transposed solve.

With discount 1 every policy must end with probability one, from every state. Then (I - P_pi)^-1 holds the expected
visits until the end, Q* is finite for all weights, and all of the above holds. A problem that need not end is refused
with the state: some weights would make an endless episode worth infinitely much.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from bayesrl.capabilities import FeatureRewards
from bayesrl.checks import Floats, Ints, array, frozen
from bayesrl.errors import InvalidArgument
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.outcomes import Outcomes
from bayesrl.models.reading import mdp_of
from bayesrl.models.solution import Solution
from bayesrl.models.solve import solve
from bayesrl.models.solvers.proper import longest_episode, must_be_proper
from bayesrl.parameters import value

DENSE = 200
"""The largest number of states whose transitions are kept as a dense matrix."""
PRECISE = 1e-12
"""Error of optimal values."""


class Ground(NamedTuple):
    """Dynamics and features for kernels."""

    succ: Ints
    """Possible next states, (S, A, k), padded."""
    prob: Floats
    """Their probabilities times the discount, (S, A, k)."""
    phi: Floats
    """The features, (d, S, A)."""


@value
class LinearRewards:
    """A known MDP whose rewards are linear in features."""

    mdp: TabularMDP
    """The dynamics, the start and the discount. Its rewards are ignored."""
    features: Floats
    """phi, (S, A, d). A terminal state has none."""

    @classmethod
    def of(cls, owner: str, problem: Any, features: ArrayLike | None) -> LinearRewards:
        """Check a problem and its features, (S, d) or (S, A, d); None: each state has its own weight."""
        mdp = mdp_of(problem, owner)
        must_be_proper(owner, "problem", mdp)
        S, A = mdp.group.shape
        phi = np.eye(S) if features is None else array(owner, "features", features).copy()
        if phi.shape[:-1] not in ((S,), (S, A)):
            raise InvalidArgument(owner, "features", f"of shape ({S}, d) or ({S}, {A}, d)", features)
        phi[mdp.outcomes.terminal] = 0.0
        phi = phi if phi.ndim == 3 else np.broadcast_to(phi[:, None], (S, A, phi.shape[1]))
        return cls(mdp, frozen(phi))

    @classmethod
    def read(cls, given: FeatureRewards) -> LinearRewards:
        """Those of a belief, which may keep them in a class of its own."""
        return given if isinstance(given, cls) else cls(given.mdp, given.features)

    @property
    def n_weights(self) -> int:
        """d."""
        return self.features.shape[2]

    def weights(self, owner: str, w: ArrayLike) -> Floats:
        """Check weights, (d,)."""
        return array(owner, "weights", w, (self.n_weights,), moderate=True)

    # Rewards and values ----------------------------------------------------------------------------------------------

    def table(self, w: Floats) -> Floats:
        """R, (S, A)."""
        return self.features @ w

    def model(self, w: Floats) -> TabularMDP:
        """The MDP with these rewards."""
        return rewarded(self.mdp, self.table(w))

    def solve(self, w: Floats, initial: Floats | None = None) -> Solution:
        """Optimal values of the rewards."""
        return solve(self._unpaid, PRECISE, initial=initial, bonus=self.table(w))

    @cached_property
    def _unpaid(self) -> TabularMDP:
        return rewarded(self.mdp, np.zeros(self.mdp.group.shape))

    # Derivatives -----------------------------------------------------------------------------------------------------

    @cached_property
    def P(self) -> Any:
        """Transition probabilities, (S A, S), as a matrix; sparse if there are many states. Terminal rows are empty."""
        m = self.mdp
        S, A = m.group.shape
        if m.outcomes.is_flat:  # without terminal states
            return m.matrix if S <= DENSE else sparse.csr_array(m.matrix)
        p = m.prob[m.group] * (~m.outcomes.terminal)[:, None, None]
        row = np.repeat(np.arange(S * A), p.shape[2])
        matrix: Any = sparse.csr_array((p.ravel(), (row, m.succ.ravel())), shape=(S * A, S))
        return frozen(matrix.toarray()) if S <= DENSE else matrix

    @cached_property
    def ground(self) -> Ground:
        """Dynamics and features for kernels, for problems with a dense P."""
        S, A, _ = self.features.shape
        P = self.P.reshape(S, A, S)
        k = max(1, int((P > 0.0).sum(axis=2).max()))
        succ = np.argsort(P <= 0.0, axis=2, kind="stable")[:, :, :k].copy()
        prob = self.mdp.gamma * np.take_along_axis(P, succ, axis=2)
        return Ground(frozen(succ), frozen(prob), frozen(np.moveaxis(self.features, 2, 0).copy()))

    @property
    def largest(self) -> float:
        """The largest action value, in size, of weights between -1 and 1."""
        reward = np.abs(self.features).sum(axis=2).max()
        return float(reward * longest_episode(self.mdp) if self.mdp.gamma == 1.0 else reward / (1.0 - self.mdp.gamma))

    def factors(self, policy: Ints) -> Factors:
        """(I - gamma P_pi)^-1 for a deterministic policy (S,)."""
        S, A = self.mdp.group.shape
        rows: Any = self.P[np.arange(S) * A + policy]
        if not sparse.issparse(rows):
            inverse = np.linalg.inv(np.eye(S) - self.mdp.gamma * rows)
            return Factors(lambda b: inverse @ b, lambda b: inverse.T @ b)
        from scipy.sparse.linalg import splu

        system: Any = sparse.csc_array(-self.mdp.gamma * rows)
        system.setdiag(system.diagonal() + 1.0)
        lu = splu(system)
        return Factors(lu.solve, lambda b: lu.solve(b, trans="T"))

    def policy_map(self, policy: Ints) -> Floats:
        """M, (S, A, d): the action values of the policy are M w."""
        S, A, d = self.features.shape
        X = self.factors(policy).solve(self.features[np.arange(S), policy])
        return np.asarray(self.features + self.mdp.gamma * (self.P @ X).reshape(S, A, d))

    def adjoint(self, policy: Ints, y: Floats) -> Floats:
        """y' M, (d,), for y (S, A)."""
        S = len(policy)
        x = self.factors(policy).transposed(self.mdp.gamma * (self.P.T @ y.ravel()))
        return np.asarray(np.einsum("sa,sad->d", y, self.features) + x @ self.features[np.arange(S), policy])


class AboutRewards:
    """The base class of beliefs about linear rewards of a known problem."""

    problem: TabularMDP
    features: ArrayLike | None

    @cached_property
    def rewards(self) -> LinearRewards:
        """The problem with its features."""
        return LinearRewards.of(type(self).__name__, self.problem, self.features)

    @property
    def outcomes(self) -> Outcomes:
        """The possible outcomes and their groups; their rewards are not read."""
        return self.problem.outcomes

    @property
    def n_states(self) -> int:
        """S."""
        return self.problem.n_states

    @property
    def n_actions(self) -> int:
        """A."""
        return self.problem.n_actions

    @property
    def gamma(self) -> float:
        """Discount."""
        return self.problem.gamma

    @property
    def n_weights(self) -> int:
        """d."""
        return self.rewards.n_weights


class Factors(NamedTuple):
    """Solves with I - gamma P_pi and with its transpose."""

    solve: Callable[[Floats], Floats]
    transposed: Callable[[Floats], Floats]


def rewarded(mdp: TabularMDP, R: Floats) -> TabularMDP:
    """An MDP with other rewards R (S, A), which terminal states do not pay."""
    o = mdp.outcomes
    listed = np.arange(o.n_outcomes) < o.size[o.group][:, :, None]  # the rest is padding
    paid = np.where(o.terminal[:, None], 0.0, R)[:, :, None]
    new = o.with_rewards(frozen(np.where(listed, paid, 0.0)))
    object.__setattr__(new, "otherwise", frozen(paid))
    return TabularMDP.unchecked(new, mdp.prob, mdp.gamma)
