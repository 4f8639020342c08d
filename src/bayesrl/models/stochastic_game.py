"""Known games of two players: joint actions move a common state, and pay each player."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from bayesrl._explained import explain_failures
from bayesrl.checks import Floats, array, frozen, integer, rows_sum_to_one
from bayesrl.errors import InvalidArgument
from bayesrl.models.mdp import TabularMDP
from bayesrl.parameters import AtLeast, Shape, Within, value


@explain_failures
@value
class StochasticGame:
    """A known game: A actions of the first player, B of the second, and S states that both see.

    Examples
    --------
    >>> game = StochasticGame.stage([[10.0, 0.0], [0.0, 2.0]], gamma=0.9)
    >>> game.n_states, game.n_actions, game.n_others
    (1, 2, 2)
    >>> game.against([[0.5, 0.5]]).mean_reward.tolist()
    [[5.0, 1.0]]
    """

    P: Annotated[Floats, AtLeast(0), Shape("(S, A, B, S)"), "Probability of each next state."]
    R: Annotated[
        Floats, Shape("(S, A, B)"), "What a joint action pays the first player; (S, A, B, S) with next states."
    ]
    gamma: Annotated[float, Within(0.0, 1.0, open_high=True), "Discount."]
    R_other: Annotated[Floats | None, Shape("(S, A, B)"), "What it pays the second player; None: the same."] = None
    start: Annotated[int, AtLeast(0), "First state."] = 0

    def __post_init__(self) -> None:
        P = array("StochasticGame", "P", self.P, (None, None, None, None), low=0.0)
        S, A, B, n = P.shape
        if n != S:
            raise InvalidArgument("StochasticGame", "P", "of shape (S, A, B, S)", P)
        object.__setattr__(self, "P", rows_sum_to_one("StochasticGame", "P", P, self.P))
        for name in ("R", "R_other"):
            R = getattr(self, name)
            if R is not None and R.shape not in ((S, A, B), (S, A, B, S)):
                raise InvalidArgument("StochasticGame", name, f"of shape ({S}, {A}, {B}) or ({S}, {A}, {B}, {S})", R)
        integer("StochasticGame", "start", self.start, 0, S - 1)
        object.__setattr__(self, "gamma", float(self.gamma))

    @classmethod
    def stage(cls, payoff: ArrayLike, gamma: float, other: ArrayLike | None = None) -> StochasticGame:
        """The repeated game of one state with these payoffs, (A, B); `other` are those of the second player."""
        paid = array("StochasticGame", "payoff", payoff, (None, None))
        theirs = None if other is None else array("StochasticGame", "other", other, paid.shape)[None]
        return cls(np.ones((1, *paid.shape, 1)), paid[None], gamma, theirs)

    @property
    def n_states(self) -> int:
        """S."""
        return int(self.P.shape[0])

    @property
    def n_actions(self) -> int:
        """A, the actions of the first player."""
        return int(self.P.shape[1])

    @property
    def n_others(self) -> int:
        """B, the actions of the second player."""
        return int(self.P.shape[2])

    def rewards(self, player: int = 0) -> Floats:
        """The rewards of a player for joint actions, (S, A, B, S)."""
        second = integer("StochasticGame", "player", player, 0, 1) == 1 and self.R_other is not None
        R: Any = self.R_other if second else self.R
        return np.broadcast_to(R if R.ndim == 4 else R[..., None], self.P.shape)

    def swapped(self) -> StochasticGame:
        """The same game as the second player sees it: its own action comes first."""
        theirs = self.R if self.R_other is None else self.R_other
        mine = None if self.R_other is None else self.R.swapaxes(1, 2)
        return StochasticGame(self.P.swapaxes(1, 2), theirs.swapaxes(1, 2), self.gamma, mine, self.start)

    def against(self, strategy: ArrayLike) -> TabularMDP:
        """The first player's MDP if the second plays each action with these probabilities, (S, B) or (B,)."""
        x = check_strategy("StochasticGame", "strategy", strategy, self.n_states, self.n_others)
        P = np.einsum("sb,saby->say", x, self.P)
        paid = np.einsum("sb,saby,saby->say", x, self.P, self.rewards())
        R = np.divide(paid, P, out=np.zeros_like(P), where=P > 0.0)
        return TabularMDP.from_dense(P / P.sum(axis=2, keepdims=True), R, self.gamma, self.start)


def check_strategy(owner: str, name: str, given: Any, S: int, B: int) -> Floats:
    """Probabilities of the other's actions in each state, (S, B), from that or from (B,)."""
    x = array(owner, name, given, low=0.0)
    if x.shape not in ((S, B), (B,)):
        raise InvalidArgument(owner, name, f"of shape ({S}, {B}) or ({B},)", x)
    x = rows_sum_to_one(owner, name, x, given)
    return frozen(np.broadcast_to(x, (S, B)).copy())
