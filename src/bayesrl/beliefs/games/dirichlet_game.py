"""A stochastic game with unknown transitions and rewards against a player with an unknown strategy."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from bayesrl._explained import explain_failures
from bayesrl.beliefs.games._belief_tree import TreeShape, lookahead, mean_values, shape_of
from bayesrl.beliefs.games._urns import Urns, drawn_models, shares, solved
from bayesrl.beliefs.games.joint import check_ahead, joint_step
from bayesrl.beliefs.games.repeated_game import CLOSE, added
from bayesrl.checks import Floats, all_frozen, array, integer, number, rows_sum_to_one
from bayesrl.errors import ImpossibleEvidence, InvalidArgument
from bayesrl.models.stochastic_game import StochasticGame
from bayesrl.parameters import Above, AtLeast, Shape, Within, unchecked, value
from bayesrl.traits import Traits


@explain_failures
@value
class DirichletGame:
    """Dirichlet counts of next states, of listed rewards, and of the other's actions in each context.

    The context of the other's actions is the state, or the state and the last joint action: `strategy` has shape (S, B)
    or (S, A B + 1, B), where entry 0 is for the first step. `flat` makes either.

    Examples
    --------
    >>> game = StochasticGame.stage([[10.0, 0.0], [0.0, 2.0]], gamma=0.9)
    >>> belief = DirichletGame.flat(game, values=[0.0, 2.0, 10.0], history=1)
    >>> belief.strategy.shape, belief.greedy_q(0).round(6).tolist()
    ((1, 5, 2), [40.0, 40.0])
    """

    transitions: Annotated[Floats, AtLeast(0), Shape("(S, A, B, S)"), "Counts of next states; 0: impossible."]
    rewards: Annotated[
        Floats, Shape("(S, A, B)"), "Known rewards, also (S, A, B, S); or counts (S, A, B, V) of `values`."
    ]
    strategy: Annotated[Floats, Above(0), Shape("(S, B)"), "Counts of the other's actions, (S, B) or (S, A B + 1, B)."]
    gamma: Annotated[float, Within(0.0, 1.0, open_high=True), "Discount."]
    values: Annotated[Floats | None, Shape("(V,)"), "The rewards that are counted; None: rewards are known."] = None
    known: Annotated[bool, "Whether the transitions are known probabilities."] = False
    last: Annotated[int, AtLeast(-1), "The last joint action a B + b; -1: none."] = field(default=-1, repr=False)

    def __post_init__(self) -> None:
        owner = "DirichletGame"
        P = array(owner, "transitions", self.transitions, (None, None, None, None), low=0.0)
        S, A, B, n = P.shape
        if n != S or not P.any(axis=3).all():
            raise InvalidArgument(owner, "transitions", "of shape (S, A, B, S), positive somewhere in every row", P)
        if self.known:
            rows_sum_to_one(owner, "transitions", P)
        if self.values is not None:
            values = array(owner, "values", self.values, (None,))
            if len(np.unique(values)) < len(values):
                raise InvalidArgument(owner, "values", "different rewards", values.tolist())
            array(owner, "rewards", self.rewards, (S, A, B, len(values)), low=0.0, above=True, moderate=True)
        elif self.rewards.shape not in ((S, A, B), (S, A, B, S)):
            raise InvalidArgument(owner, "rewards", f"of shape ({S}, {A}, {B}) or ({S}, {A}, {B}, {S})", self.rewards)
        if self.strategy.shape not in ((S, B), (S, A * B + 1, B)):
            raise InvalidArgument(owner, "strategy", f"of shape ({S}, {B}) or ({S}, {A * B + 1}, {B})", self.strategy)
        integer(owner, "last", self.last, -1, A * B - 1)

    @classmethod
    def flat(
        cls,
        game: StochasticGame,
        concentration: float = 1.0,
        history: int = 0,
        values: ArrayLike | None = None,
        known: bool = False,
    ) -> DirichletGame:
        """A prior for a game: every count of what is unknown is `concentration`, and 1 for the other's actions.

        Transitions are unknown unless `known`. Rewards are the game's, or unknown among `values`. With `history=1` the
        other's actions may depend on the last joint action.
        """
        if not isinstance(game, StochasticGame):
            raise InvalidArgument("DirichletGame", "game", "a StochasticGame", game)
        S, A, B = game.n_states, game.n_actions, game.n_others
        c = number("DirichletGame", "concentration", concentration, 0.0, above=True, moderate=True)
        contexts = (A * B + 1,) if integer("DirichletGame", "history", history, 0, 1) else ()
        V = 0 if values is None else len(array("DirichletGame", "values", values, (None,)))
        rewards = game.R if values is None else np.full((S, A, B, V), c)
        P = game.P if known else np.full((S, A, B, S), c)
        listed: Any = values
        return cls(P, rewards, np.ones((S, *contexts, B)), game.gamma, listed, known)

    @property
    def n_states(self) -> int:
        """S."""
        return int(self.transitions.shape[0])

    @property
    def n_actions(self) -> int:
        """A."""
        return int(self.transitions.shape[1])

    @property
    def n_others(self) -> int:
        """B, the other's actions."""
        return int(self.transitions.shape[2])

    @property
    def history(self) -> int:
        """Whether the other's actions depend on the last joint action: 0 or 1."""
        return self.strategy.ndim - 2

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Any, rng: Generator | None = None) -> DirichletGame:
        """The posterior after a joint transition, or a transition whose observations are pairs."""
        owner = "DirichletGame"
        s, a, o, r, y = joint_step(owner, datum, self.n_states, self.n_actions, self.n_others)
        if self.transitions[s, a, o, y] == 0.0:
            raise ImpossibleEvidence(owner, datum, "this joint action does not lead there")
        changed: dict[str, Any] = {"last": a * self.n_others + o}
        if self.values is None:
            paid = self.rewards[s, a, o] if self.rewards.ndim == 3 else self.rewards[s, a, o, y]
            if abs(r - paid) > CLOSE * (1.0 + abs(r)):
                raise ImpossibleEvidence(owner, datum, f"this step pays {paid:g}")
        else:
            v = int(np.argmin(np.abs(self.values - r)))
            if abs(self.values[v] - r) > CLOSE * (1.0 + abs(r)):
                raise InvalidArgument(owner, "reward", f"one of {self.values.tolist()}", r)
            changed["rewards"] = added(self.rewards, (s, a, o, v))
        if not self.known:
            changed["transitions"] = added(self.transitions, (s, a, o, y))
        changed["strategy"] = added(self.strategy, (s, self.last + 1, o) if self.history else (s, o))
        return unchecked(self, **changed)

    def restart(self) -> DirichletGame:
        """The belief at the start of an episode: there is no last joint action."""
        return unchecked(self, last=-1)

    # Reading ---------------------------------------------------------------------------------------------------------

    def strategy_mean(self) -> Floats:
        """The predictive probability of each action of the other, shaped as `strategy`."""
        return shares(self.strategy)

    def greedy_q(self, state: int) -> Floats:
        """Action values of the mean game against the predictive strategy, (A,)."""
        return mean_values(self.urns, self._context(state))

    def lookahead_q(self, state: int, depth: int, leaf: str = "zero") -> Floats:
        """The discounted value of each action over `depth` steps and `leaf` beyond, (A,), if later actions are best."""
        state, depth = check_ahead("DirichletGame", state, self.n_states, depth, leaf)
        return lookahead("DirichletGame", self.urns, self.tree_shape, state, self.last, depth, leaf)

    def value_draws(self, state: int, samples: int, rng: Generator) -> tuple[Floats, Floats]:
        """Optimal action values in drawn games against drawn strategies, (n, A), and their weights, (n,)."""
        samples = integer("DirichletGame", "samples", samples, 1)
        q = solved(*drawn_models(self.urns, samples, rng), self.gamma)
        return np.asarray(q[:, self._context(state)]), np.full(samples, 1.0 / samples)

    def _context(self, state: int) -> int:
        return self.urns.context(integer("DirichletGame", "state", state, 0, self.n_states - 1), self.last)

    @cached_property
    def urns(self) -> Urns:
        """The belief as urns."""
        S, A, B, _ = self.transitions.shape
        J = A * B
        worth: Any
        if self.values is None:
            pays, worth = np.ones((S, J, 1)), self.rewards.reshape(S, J, -1, 1)
        else:
            pays, worth = self.rewards.reshape(S, J, -1), self.values
        worth = np.broadcast_to(worth, (S, J, S, pays.shape[2]))
        counts = (self.transitions.reshape(S, J, S), pays, worth, self.strategy.reshape(-1, B))
        moves, pays, worth, theirs = map(np.ascontiguousarray, counts)
        return all_frozen(Urns(moves, pays, worth, theirs, not self.known, self.values is not None, self.gamma))

    @cached_property
    def tree_shape(self) -> TreeShape:
        """The parts of belief trees that no datum changes."""
        return shape_of(self.urns)

    traits: ClassVar[Traits] = Traits(depends_on_data=("urns",))
