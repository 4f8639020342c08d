"""A repeated game with unknown or known payoffs against a player with an unknown strategy."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.random import Generator

from bayesrl._explained import explain_failures
from bayesrl.beliefs.games._belief_tree import TreeShape, lookahead, shape_of
from bayesrl.beliefs.games._urns import Urns, drawn_rows, shares
from bayesrl.beliefs.games.joint import check_ahead, joint_step
from bayesrl.checks import Floats, all_frozen, array, frozen, integer
from bayesrl.errors import ImpossibleEvidence, InvalidArgument
from bayesrl.parameters import Above, Shape, unchecked, value
from bayesrl.traits import Traits

CLOSE = 1e-9
"""Rewards that differ by less, relative to their size, are equal."""


@explain_failures
@value
class RepeatedGame:
    """A game of one state: Beta counts of payoffs 0 and 1, or known payoffs, and counts of the other's actions.

    Values are undiscounted: `greedy_q` of one round, `lookahead_q` of several.

    Examples
    --------
    >>> game = RepeatedGame(alpha=[[6, 6], [1, 1]], beta=[[5, 5], [1, 1]], strategy=[9, 1])
    >>> game.strategy_mean().tolist(), game.greedy_q(0).round(3).tolist()
    ([0.9, 0.1], [0.545, 0.5])
    >>> game.lookahead_q(0, depth=3).round(6).tolist()
    [1.662973, 1.694387]
    """

    alpha: Annotated[Floats | None, Above(0), Shape("(A, B)"), "Beta counts of payoff 1."] = None
    beta: Annotated[Floats | None, Above(0), Shape("(A, B)"), "Beta counts of payoff 0."] = None
    strategy: Annotated[Floats | None, Above(0), Shape("(B,)"), "Counts of the other's actions; None: ones."] = None
    payoff: Annotated[Floats | None, Shape("(A, B)"), "Payoffs that are known; then there are no Beta counts."] = None

    gamma: float = field(default=1.0, init=False, repr=False)

    def __post_init__(self) -> None:
        owner, known = "RepeatedGame", self.payoff is not None
        for name in ("alpha", "beta"):
            if (getattr(self, name) is None) != known:
                expected = "left out if payoffs are known" if known else "given, or known payoffs"
                raise InvalidArgument(owner, name, expected, getattr(self, name))
        first = array(owner, "payoff" if known else "alpha", self._first, (None, None))
        if not known:
            array(owner, "beta", self._counts[1], first.shape)
        theirs = np.ones(first.shape[1]) if self.strategy is None else self.strategy
        object.__setattr__(self, "strategy", array(owner, "strategy", theirs, (first.shape[1],)))

    n_states = 1

    @property
    def n_actions(self) -> int:
        """A."""
        return int(self._first.shape[0])

    @property
    def n_others(self) -> int:
        """B, the other's actions."""
        return int(self._first.shape[1])

    @property
    def _first(self) -> Any:
        return self.alpha if self.payoff is None else self.payoff

    @property
    def _counts(self) -> Any:
        return self.alpha, self.beta

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Any, rng: Generator | None = None) -> RepeatedGame:
        """The posterior after a joint transition, or a transition whose observations are pairs."""
        _, a, o, r, _ = joint_step("RepeatedGame", datum, 1, self.n_actions, self.n_others)
        changed: dict[str, Any] = {"strategy": added(self.strategy, o)}
        if self.payoff is not None:
            if abs(r - self.payoff[a, o]) > CLOSE * (1.0 + abs(r)):
                raise ImpossibleEvidence("RepeatedGame", datum, f"this joint action pays {self.payoff[a, o]:g}")
        elif r not in (0.0, 1.0):
            raise InvalidArgument("RepeatedGame", "reward", "0 or 1, which Beta counts are about", r)
        else:
            name = "alpha" if r == 1.0 else "beta"
            changed[name] = added(getattr(self, name), (a, o))
        return unchecked(self, **changed)

    def restart(self) -> RepeatedGame:
        """The same belief: nothing is forgotten between episodes."""
        return self

    # Reading ---------------------------------------------------------------------------------------------------------

    def strategy_mean(self) -> Floats:
        """The predictive probability of each action of the other, (B,)."""
        return shares(np.asarray(self.strategy))

    def payoff_mean(self) -> Floats:
        """The expected payoff of each joint action, (A, B)."""
        if self.payoff is not None:
            return self.payoff
        alpha, beta = self._counts
        return np.asarray(alpha / (alpha + beta))

    def greedy_q(self, state: int) -> Floats:
        """The expected payoff of each action in one round, (A,)."""
        return np.asarray(self.payoff_mean() @ self.strategy_mean())

    def lookahead_q(self, state: int, depth: int, leaf: str = "zero") -> Floats:
        """The expected total of each action over `depth` rounds, (A,), if later actions are Bayes-optimal."""
        _, depth = check_ahead("RepeatedGame", state, 1, depth, leaf)
        if leaf != "zero":
            hint = "Totals of a repeated game are undiscounted; a DirichletGame has a discount."
            raise InvalidArgument("RepeatedGame", "leaf", '"zero"', leaf, hint)
        return lookahead("RepeatedGame", self.urns, self.tree_shape, 0, -1, depth, leaf)

    def value_draws(self, state: int, samples: int, rng: Generator) -> tuple[Floats, Floats]:
        """Payoffs of one round in drawn games against drawn strategies, (n, A), and their weights, (n,)."""
        samples = integer("RepeatedGame", "samples", samples, 1)
        pays = drawn_rows(self.urns.pays, self.payoff is None, samples, rng)
        paid = (pays * self.urns.worth[:, :, 0]).sum(axis=3).reshape(samples, self.n_actions, self.n_others)
        others = drawn_rows(self.urns.others, True, samples, rng)[:, 0]
        return np.einsum("nab,nb->na", paid, others), np.full(samples, 1.0 / samples)

    @cached_property
    def urns(self) -> Urns:
        """The belief as urns of one state."""
        J = self.n_actions * self.n_others
        if self.payoff is not None:
            pays = np.ones((1, J, 1))
        else:
            alpha, beta = self._counts
            pays = np.stack([beta.reshape(1, J), alpha.reshape(1, J)], axis=2)
        theirs = np.asarray(self.strategy)[None]
        return all_frozen(Urns(np.ones((1, J, 1)), pays, self._worth, theirs, False, self.payoff is None, 1.0))

    @cached_property
    def _worth(self) -> Floats:
        J = self.n_actions * self.n_others
        return np.tile([0.0, 1.0], (1, J, 1, 1)) if self.payoff is None else self.payoff.reshape(1, J, 1, 1).copy()

    @cached_property
    def tree_shape(self) -> TreeShape:
        """The parts of belief trees that no datum changes."""
        return shape_of(self.urns)

    traits: ClassVar[Traits] = Traits(depends_on_data=("urns",))


def added(counts: Any, cell: Any) -> Floats:
    """The counts with one more in a cell."""
    new = counts.copy()
    new[cell] += 1.0
    return frozen(new)
