"""One of finitely many games against one of finitely many strategies."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator

from bayesrl._explained import explain_failures
from bayesrl.beliefs.games._belief_tree import MOST
from bayesrl.beliefs.games._urns import shares, solved
from bayesrl.beliefs.games.joint import check_ahead, joint_step
from bayesrl.beliefs.games.repeated_game import CLOSE
from bayesrl.checks import Bools, Floats, Ints, array, frozen, rows_sum_to_one, sequence
from bayesrl.errors import ImpossibleEvidence, InvalidArgument
from bayesrl.models.stochastic_game import StochasticGame, check_strategy
from bayesrl.parameters import unchecked, value


@explain_failures
@value
class FiniteGames:
    """Weights of known games and of the other's strategies. Every value here is exact.

    Game and strategy are independent, and stay so: a step says which games move so, and which strategies act so.

    Parameters
    ----------
    games: a sequence of StochasticGame, of one shape and discount
    weights: array of shape (G,) or None
        Their probabilities; None: equal.
    strategies: array of shape (N, S, B), or (N, B) if the state does not matter
        Probabilities of the other's actions; None: all that are certain and do not depend on the state.
    strategy_weights: array of shape (N,) or None
        Their probabilities; None: equal.

    Examples
    --------
    >>> games = [StochasticGame.stage(x, 0.5) for x in ([[4.0, 0.0], [1.0, 1.0]], [[0.0, 4.0], [1.0, 1.0]])]
    >>> belief = FiniteGames(games, [0.5, 0.5], [[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5])
    >>> belief.greedy_q(0).tolist()
    [4.0, 3.0]
    """

    games: tuple[StochasticGame, ...]
    weights: Floats | None = None
    strategies: Floats | None = None
    strategy_weights: Floats | None = None

    def __post_init__(self) -> None:
        owner = "FiniteGames"
        games = sequence(owner, "games", self.games, "a sequence of games")
        if not games or not all(isinstance(game, StochasticGame) for game in games):
            raise InvalidArgument(owner, "games", "a sequence of StochasticGame", self.games)
        if len({(game.P.shape, game.gamma) for game in games}) > 1:
            raise InvalidArgument(owner, "games", "of one shape and discount", [game.P.shape for game in games])
        S, B = games[0].n_states, games[0].n_others
        listed = sequence(owner, "strategies", np.eye(B) if self.strategies is None else self.strategies, "an array")
        if not listed:
            raise InvalidArgument(owner, "strategies", "a sequence of at least one strategy", self.strategies)
        x = frozen(np.array([check_strategy(owner, "strategies", one, S, B) for one in listed]))
        told = {"games": games, "strategies": x}
        told["weights"] = probabilities(owner, "weights", self.weights, len(games))
        told["strategy_weights"] = probabilities(owner, "strategy_weights", self.strategy_weights, len(x))
        for name, checked in told.items():
            object.__setattr__(self, name, checked)

    @property
    def n_states(self) -> int:
        """S."""
        return self.games[0].n_states

    @property
    def n_actions(self) -> int:
        """A."""
        return self.games[0].n_actions

    @property
    def n_others(self) -> int:
        """B, the other's actions."""
        return self.games[0].n_others

    @property
    def gamma(self) -> float:
        """Discount."""
        return self.games[0].gamma

    @cached_property
    def _P(self) -> Floats:
        """Transitions of the games, (G, S, A, B, S)."""
        return frozen(np.array([game.P for game in self.games]))

    @cached_property
    def _R(self) -> Floats:
        """Rewards of the games, (G, S, A, B, S)."""
        return frozen(np.array([game.rewards() for game in self.games]))

    @property
    def _w(self) -> Any:
        return self.weights

    @property
    def _u(self) -> Any:
        return self.strategy_weights

    @property
    def _x(self) -> Any:
        return self.strategies

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Any, rng: Generator | None = None) -> FiniteGames:
        """The posterior after a joint transition, or a transition whose observations are pairs."""
        s, a, o, r, y = joint_step("FiniteGames", datum, self.n_states, self.n_actions, self.n_others)
        paid = np.abs(self._R[:, s, a, o, y] - r) <= CLOSE * (1.0 + abs(r))
        w, u = self._w * self._P[:, s, a, o, y] * paid, self._u * self._x[:, s, o]
        if not w.any():
            raise ImpossibleEvidence("FiniteGames", datum, "no game with positive weight does this")
        if not u.any():
            raise ImpossibleEvidence("FiniteGames", datum, "no strategy with positive weight does this")
        return unchecked(self, weights=frozen(w / w.sum()), strategy_weights=frozen(u / u.sum()))

    def restart(self) -> FiniteGames:
        """The same belief: nothing is forgotten between episodes."""
        return self

    # Reading ---------------------------------------------------------------------------------------------------------

    def strategy_mean(self) -> Floats:
        """The predictive probability of each action of the other, (S, B)."""
        return np.asarray(np.einsum("i,isb->sb", self._u, self._x))

    def greedy_q(self, state: int) -> Floats:
        """Action values of the mean game against the predictive strategy, (A,)."""
        return np.asarray(self._mean_q(self._w[None], self._u[None])[0, state])

    def value_draws(self, state: int, samples: int, rng: Generator) -> tuple[Floats, Floats]:
        """Optimal action values in every game against every strategy, (G N, A), and their weights. None is drawn."""
        paid = (self._P * self._R).sum(axis=4)
        P = np.einsum("isb,gsaby->gisay", self._x, self._P).reshape(-1, *self._mdp_shape)
        r = np.einsum("isb,gsab->gisa", self._x, paid).reshape(len(P), self.n_states, self.n_actions)
        return np.asarray(solved(P, r, self.gamma)[:, state]), np.outer(self._w, self._u).ravel()

    def lookahead_q(self, state: int, depth: int, leaf: str = "zero") -> Floats:
        """The discounted value of each action over `depth` steps and `leaf` beyond, (A,), if later actions are best."""
        state, depth = check_ahead("FiniteGames", state, self.n_states, depth, leaf)
        return np.asarray(self._values(np.array([state]), self._w[None], self._u[None], depth, leaf)[0])

    def _values(self, s: Ints, w: Floats, u: Floats, depth: int, leaf: str) -> Floats:
        """The same at n beliefs: states (n,), weights of games (n, G) and of strategies (n, N)."""
        others = np.einsum("ni,nib->nb", u, self._x[:, s].swapaxes(0, 1))
        moves = w[:, None, None, :, None] * np.moveaxis(self._P[:, s], 0, 3)  # (n, A, B, G, S)
        pays = np.moveaxis(self._R[:, s], 0, 3)
        q: Floats = np.einsum("nb,nabgy,nabgy->na", others, moves, pays)
        if depth == 1 and leaf == "zero":
            return q
        if moves.size * len(self.games) > MOST:
            raise InvalidArgument("FiniteGames", "depth", f"smaller, as there are {len(s)} beliefs before it", depth)
        # An outcome is a next state and a reward; games with that reward there are told apart from the others.
        same: Bools = np.moveaxis(self._labels[:, s], 0, 3)[..., None] == np.arange(len(self.games))
        after = moves[..., None] * same  # (n, A, B, G, S, label)
        p = others[:, None, :, None, None] * after.sum(axis=3)  # (n, A, B, S, label)
        n, a, b, y, label = np.nonzero(p)
        w = shares(after[n, a, b, :, y, label])
        u = shares(u[n] * self._x[:, s[n], b].T)
        if depth == 1:
            v = self._mean_q(w, u)[np.arange(len(y)), y].max(axis=1)
        else:
            v = self._values(y, w, u, depth - 1, leaf).max(axis=1)
        np.add.at(q, (n, a), self.gamma * p[n, a, b, y, label] * v)
        return q

    def _mean_q(self, w: Floats, u: Floats) -> Floats:
        """Action values of the mean games against the predictive strategies of n beliefs, (n, S, A)."""
        x = np.einsum("ni,isb->nsb", u, self._x)
        P = np.einsum("nsb,ng,gsaby->nsay", x, w, self._P)
        r = np.einsum("nsb,ng,gsaby,gsaby->nsa", x, w, self._P, self._R)
        return solved(P, r, self.gamma)

    @property
    def _mdp_shape(self) -> tuple[int, int, int]:
        return self.n_states, self.n_actions, self.n_states

    @cached_property
    def _labels(self) -> Ints:
        """The first game with the same reward of a step, (G, S, A, B, S)."""
        return frozen((self._R[:, None] == self._R[None]).argmax(axis=1))


def probabilities(owner: str, name: str, given: Any, n: int) -> Floats:
    """Weights (n,) that sum to one; None: equal ones."""
    if given is None:
        return frozen(np.full(n, 1.0 / n))
    return rows_sum_to_one(owner, name, array(owner, name, given, (n,), low=0.0), given)
