"""Known finite Markov decision processes: outcomes (`outcomes.py`), their probabilities, and a discount.

The functions at the end read the model in a thing: the thing itself, or the model of a world or a belief that has one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from bayesrl._explained import explain_failures
from bayesrl.capabilities import offers, reasons
from bayesrl.checks import ROW_SUM_TOLERANCE, Floats, array, frozen, integer, number, rows_sum_to_one
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.arrays import F1, F2, F3, I2, I3
from bayesrl.kernels.dynamic_programming.bellman import BLOCK, Model
from bayesrl.models._listed import (
    Listed,
    Matrices,
    from_environment,
    is_sparse,
    listed,
    listed_rewards,
    unlisted_rewards,
)
from bayesrl.models.outcomes import Outcomes
from bayesrl.parameters import value
from bayesrl.problems import Family, HasMDP, HasOutcomes

UNIT = 2.0**-53
"""Relative rounding of one operation in double precision."""
LISTS = frozen(np.zeros((0, 0)))
"""An empty matrix, which means that successor lists are used."""


class OverOutcomes:
    """A model or a belief with outcomes, and the readings of them."""

    outcomes: Outcomes

    @property
    def n_states(self) -> int:
        """S."""
        return self.outcomes.n_states

    @property
    def n_actions(self) -> int:
        """A."""
        return self.outcomes.n_actions

    @property
    def succ(self) -> I3:
        """Next state of outcome k, (S, A, K)."""
        return self.outcomes.succ

    @property
    def reward(self) -> F3:
        """Reward of outcome k, (S, A, K)."""
        return self.outcomes.reward

    @property
    def group(self) -> I2:
        """The index of the distribution of (s, a)'s outcome, (S, A)."""
        return self.outcomes.group


@explain_failures
@value
class TabularMDP(OverOutcomes):
    """A known MDP: outcomes, their probabilities, and the discount (which may be 1 if episodes end)."""

    outcomes: Outcomes
    prob: F2
    """Probability of outcome k in group g, shape (G, K)."""
    gamma: float
    """Discount, in [0, 1]."""

    def __post_init__(self) -> None:
        owner = "TabularMDP"
        if not isinstance(self.outcomes, Outcomes):
            raise InvalidArgument(owner, "outcomes", "Outcomes", self.outcomes, "See from_dense for arrays.")
        shape = (self.outcomes.n_groups, self.outcomes.n_outcomes)
        prob = array(owner, "prob", self.prob, shape, low=0.0)
        if prob[~self.outcomes.valid].any():
            raise InvalidArgument(owner, "prob", "zero on padding", float(prob[~self.outcomes.valid].max()))
        prob = rows_sum_to_one(owner, "prob", prob, self.prob)
        object.__setattr__(self, "prob", prob)
        object.__setattr__(self, "gamma", number(owner, "gamma", self.gamma, 0.0, 1.0))

    @classmethod
    def unchecked(cls, outcomes: Outcomes, prob: Floats, gamma: float) -> TabularMDP:
        """Make a model without checks, for callers whose rows are known to sum to one (sampled and mean models)."""
        new = object.__new__(cls)
        object.__setattr__(new, "outcomes", outcomes)
        object.__setattr__(new, "prob", frozen(prob))
        object.__setattr__(new, "gamma", gamma)
        return new

    def __repr__(self) -> str:
        return f"TabularMDP(states={self.n_states}, actions={self.n_actions}, gamma={self.gamma})"

    # Constructors ----------------------------------------------------------------------------------------------------

    @classmethod
    def from_dense(
        cls, P: ArrayLike, R: ArrayLike, gamma: float, start: int | ArrayLike = 0, terminal: Sequence[int] = ()
    ) -> TabularMDP:
        """Make a model from P[s, a, s'] and R of shape (S, A, S), (S, A) (for every s') or (S,) (for leaving s).

        >>> P = [[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]]]
        >>> mdp = TabularMDP.from_dense(P, [[0.0, 0.0], [1.0, 1.0]], gamma=0.5)
        >>> mdp.n_states, mdp.n_actions
        (2, 2)
        """
        given, P = P, array("TabularMDP", "P", P, (None, None, None), low=0.0)
        S, A, n = P.shape
        if n != S:
            raise InvalidArgument("TabularMDP", "P", "of shape (S, A, S)", P)
        P = rows_sum_to_one("TabularMDP", "P", P, given)
        s, a, y = np.nonzero(P)
        return cls._of(Listed(S, A, s * A + a, y, P[s, a, y]), None, R, gamma, start, terminal)

    @classmethod
    def from_sparse(
        cls,
        P: Matrices,
        R: ArrayLike | Matrices,
        gamma: float,
        start: int | ArrayLike = 0,
        terminal: Sequence[int] = (),
    ) -> TabularMDP:
        """Make a model from a scipy sparse (S, S) matrix for each action, or from one of shape (S*A, S), row s*A + a.

        R is an array as in `from_dense`, or sparse like P. Sparse rewards are those of the possible transitions. The
        rewards of impossible transitions, which a flat prior needs, follow the rule of `from_gymnasium`.
        """
        t = listed(P)
        if not is_sparse(R):
            return cls._of(t, None, R, gamma, start, terminal)
        return cls._of(t, listed_rewards(R, t), None, gamma, start, terminal)

    @classmethod
    def from_gymnasium(cls, env: Any, gamma: float) -> TabularMDP:
        """Make a model from an environment's table `P[s][a] = [(probability, next state, reward, terminated), ...]`.

        A state that is entered only by terminating transitions is terminal. If other transitions enter it too (as in
        Taxi), it keeps its row, and the terminating transitions lead to an added terminal state, `outcomes.end`. The
        environment never reports that state. Beliefs infer it from `terminated`, and so does `observe`.

        The rewards of transitions that are not in the table must not reveal which transitions are possible. If each
        state is always entered with the same reward (FrozenLake), the reward depends on s' only. Otherwise
        (CliffWalking, Taxi) it depends on (s, a) only; it is the most probable one if (s, a) has several.
        """
        t, reward, first, terminal, end = from_environment(env)
        return cls._of(t, reward, None, gamma, 0 if first is None else first, terminal, end)

    @classmethod
    def _of(
        cls,
        t: Listed,
        reward: Floats | None,
        R: ArrayLike | None,
        gamma: float,
        start: int | ArrayLike,
        terminal: Sequence[int],
        end: int | None = None,
    ) -> TabularMDP:
        """Make a model from a list of transitions, and from their rewards or a table R."""
        S, A = t.S, t.A
        if np.ndim(terminal) != 1:
            raise InvalidArgument("TabularMDP", "terminal", "a sequence of states", terminal)
        ends = np.zeros(S, dtype=np.bool_)
        ends[[integer("TabularMDP", "terminal", x, 0, S - 1) for x in terminal]] = True
        if reward is None:
            table = array("TabularMDP", "R", cast(ArrayLike, R))
            if table.shape not in ((S, A, S), (S, A), (S,)):
                raise InvalidArgument("TabularMDP", "R", f"of shape ({S}, {A}, {S}), ({S}, {A}) or ({S},)", table)
            otherwise = table.reshape(table.shape + (1,) * (3 - table.ndim))
            reward = np.broadcast_to(otherwise, (S, A, S))[t.pair // A, t.pair % A, t.y]
        else:
            otherwise = unlisted_rewards(t, reward, ends)
        n = np.bincount(t.pair, minlength=S * A)
        k = np.arange(len(t.p)) - np.repeat(np.cumsum(n) - n, n)
        K = int(n.max())
        succ, paid, prob = np.zeros((S * A, K), np.int32), np.zeros((S * A, K)), np.zeros((S * A, K))
        succ[t.pair, k], paid[t.pair, k], prob[t.pair, k] = t.y, reward, t.p
        if np.ndim(start) == 0:
            first = np.zeros(S)
            first[integer("TabularMDP", "start", start, 0, S - 1)] = 1.0
            start = first
        group, shape = np.arange(S * A).reshape(S, A), (S, A, K)
        given = cast(F1, start)  # Outcomes checks it
        outcomes = Outcomes(succ.reshape(shape), paid.reshape(shape), group, n, otherwise, given, ends, end)
        return cls(outcomes, prob, gamma)

    # Readings --------------------------------------------------------------------------------------------------------

    def observe(self, observation: int, terminated: bool = False) -> int:
        """The state for an environment's observation. It differs only if the episode ended (see `outcomes.end`)."""
        state, end = integer("TabularMDP", "observation", observation, 0, self.n_states - 1), self.outcomes.end
        return end if terminated and end is not None and not self.outcomes.terminal[state] else state

    @cached_property
    def mean_reward(self) -> F2:
        """Expected reward of (s, a), shape (S, A)."""
        if self.outcomes.is_flat:  # without a copy of every row
            return frozen(np.einsum("sak,sak->sa", self.prob.reshape(self.reward.shape), self.reward))
        return frozen(np.einsum("sak,sak->sa", self.prob[self.group], self.reward))

    @cached_property
    def matrix(self) -> F2:
        """P as a dense (S*A, S) matrix. Terminal states are absorbing."""
        S, A, K = self.succ.shape
        if self.outcomes.is_flat:
            return self.prob
        cells = np.repeat(np.arange(S * A) * S, K) + self.succ.ravel()
        summed = np.bincount(cells, self.prob[self.group].ravel(), S * A * S)
        return frozen(np.asarray(summed, np.float64).reshape(S * A, S))

    def dense(self) -> tuple[F3, F3]:
        """The arrays (P[s, a, s'], R[s, a, s']). Rewards are defined for every triple."""
        S, A = self.group.shape
        return self.matrix.reshape(S, A, S).copy(), self.outcomes.rewards()


# The form that kernels read -------------------------------------------------------------------------------------------


def model_of(mdp: TabularMDP, bonus: Floats | None = None, gamma: float | None = None) -> Model:
    """Convert an MDP to the form that kernels read, with a bonus (S, A) on its rewards and empty terminal rows."""
    outcomes = mdp.outcomes
    S, A, K = outcomes.succ.shape
    flat = outcomes.is_flat
    dense = flat or (S > BLOCK and 2 * K > S)
    matrix = mdp.matrix if dense else LISTS
    prob, group, size, r = mdp.prob, outcomes.group, outcomes.size, mdp.mean_reward
    extra = 0.0
    if bonus is not None:
        r, extra = frozen(r + bonus), float(np.abs(bonus).max())
    if outcomes.has_terminals:  # flat outcomes have no terminal states
        empty = outcomes.terminal[:, None]
        group = frozen(np.where(empty, np.int32(len(size)), group))
        prob, size = frozen(np.vstack([prob, np.zeros((1, K))])), frozen(np.append(size, np.int32(0)))
        r = frozen(np.where(empty, 0.0, r))
        matrix = frozen(np.where(np.repeat(empty, A)[:, None], 0.0, matrix)) if dense else matrix
    # The error of a sum of n products is at most n units times the sum of their sizes; r is a sum of K products.
    discount = mdp.gamma if gamma is None else gamma
    terms = K if not dense else min(S, BLOCK) + S / BLOCK + (0 if flat else K)
    round_r = UNIT * ((K + 4) * outcomes.largest_reward + 4 * extra)
    round_v = UNIT * (terms + 4) * discount
    return Model(matrix, outcomes.succ, prob, group, size, r, discount, round_r, round_v, not outcomes.has_terminals)


def contraction(m: Model) -> float:
    """1 - beta for a bound beta on gamma times the sum of any row; 0 if that is not below 1."""
    excess = ROW_SUM_TOLERANCE
    if m.gamma > 1.0 - 1e-6:  # here the exact sums of the rows matter
        excess = max(float(m.prob.sum(axis=1).max()) - 1.0, 0.0) + m.prob.shape[1] * UNIT
    return max(1.0 - m.gamma * (1.0 + excess), 0.0)


# The model in a thing ------------------------------------------------------------------------------------------------

Problem = TabularMDP | HasMDP
"""The problems that a solver takes."""


def find_mdp(thing: object) -> TabularMDP | None:
    """The MDP of a thing: itself, or its `mdp`; None if it has none."""
    mdp = thing.mdp if not isinstance(thing, TabularMDP) and offers(thing, HasMDP) else thing
    return mdp if isinstance(mdp, TabularMDP) else None


def mdp_of(problem: object, owner: str = "solve", name: str = "problem") -> TabularMDP:
    """The MDP of a problem: itself, or a world's `.mdp`. An error names the argument of the owner."""
    mdp = find_mdp(problem)
    if mdp is None:
        raise no_model(owner, name, problem, "a TabularMDP or a world that has one")
    return mdp


def no_model(owner: str, name: str, problem: object, expected: str) -> InvalidArgument:
    """The error about a problem without the model that is asked for."""
    drawn = "A family of worlds has no table of its own: draw a world from it first."
    hint = reasons(problem, ("mdp",)) or (drawn if offers(problem, Family) else "")
    return InvalidArgument(owner, name, expected, type(problem).__name__, hint)


def find_outcomes(thing: object) -> Outcomes | None:
    """The listed outcomes of a thing: itself, its `outcomes` (a family), or those of its MDP; None if it has none."""
    found = thing.outcomes if not isinstance(thing, Outcomes) and offers(thing, HasOutcomes) else thing
    if not isinstance(found, Outcomes) and (mdp := find_mdp(thing)) is not None:
        found = mdp.outcomes
    return found if isinstance(found, Outcomes) else None


def read_problem(owner: str, problem: Any) -> tuple[Outcomes, float, Floats | None]:
    """Outcomes, discount and (if they are known) probabilities of a model, a world or a family."""
    mdp = find_mdp(problem)
    if mdp is None and offers(problem, HasOutcomes):
        return problem.outcomes, problem.gamma, None
    if mdp is None:
        raise InvalidArgument(owner, "problem", "a TabularMDP or a world with a table", type(problem).__name__)
    return mdp.outcomes, mdp.gamma, mdp.prob
