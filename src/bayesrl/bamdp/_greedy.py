"""The common parts of greedy planners: values of the mean model, a rule for ties, checks of states and discounts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Protocol

from numpy.random import Generator

from bayesrl.beliefs.choices import Ties as Ties
from bayesrl.beliefs.choices import best_action as best_action
from bayesrl.capabilities import HasMeanMDP, ListsStates, SharesSupport, offers
from bayesrl.checks import Floats, integer, number
from bayesrl.core import Decision, Transition
from bayesrl.errors import InvalidArgument
from bayesrl.models.solution import model_of
from bayesrl.models.solve import solve
from bayesrl.models.solvers.episodic import collapse, policy_to_the_end


class SharesMeanSupport(HasMeanMDP, SharesSupport, Protocol):
    """A belief that knows whether its drawn models have the support of its mean model."""


def state_in(owner: str, belief: ListsStates, observation: object) -> int:
    """The observed state, which must be one of the belief's."""
    return integer(owner, "observation", observation, 0, belief.n_states - 1)


def step_in(owner: str, n_states: int, n_actions: int, seen: Transition) -> tuple[int, int, float, int | None]:
    """(s, a, r, s') of a transition; s' is None if the episode has ended."""
    s = integer(owner, "state", seen.state, 0, n_states - 1)
    a = integer(owner, "action", seen.action, 0, n_actions - 1)
    r = number(owner, "reward", seen.reward, moderate=True)
    return s, a, r, None if seen.terminated else integer(owner, "next_state", seen.next_state, 0, n_states - 1)


def must_end(owner: str, belief: HasMeanMDP) -> None:
    """Refuse a discount of 1 if the mean model need not end; it then has no values."""
    if belief.gamma == 1.0:
        try:
            policy_to_the_end(collapse(model_of(belief.mean_mdp(), None)).model)
        except InvalidArgument as wrong:
            raise InvalidArgument(owner, "belief", wrong.expected, wrong.got, wrong.hint) from None


def draws_must_end(owner: str, belief: ListsStates) -> None:
    """Do the same for drawn models that have the support of the mean model; others cannot be checked."""
    if belief.gamma == 1.0 and offers(belief, SharesMeanSupport) and belief.same_support:
        must_end(owner, belief)


def mean_model_q(belief: HasMeanMDP, warm: Floats | None, bonus: Floats | None = None) -> tuple[Floats, Floats]:
    """(q[s, a], values[s]) of the mean model; the solve starts from the values `warm` of the last step."""
    solution = solve(belief.mean_mdp(), initial=warm, bonus=bonus)
    return solution.q, solution.values


class OnMeanModel(ABC):
    """A planner that chooses among the mean model's values in the present state."""

    __slots__ = ()
    needs: ClassVar[tuple[type, ...]] = (HasMeanMDP,)

    def check(self, belief: HasMeanMDP) -> None:
        """Raise an error if the discount is 1 and the model need not end."""
        must_end(type(self).__name__, belief)

    def start(self) -> Floats | None:
        """No values yet."""
        return None

    def plan(
        self,
        belief: HasMeanMDP,
        observation: int,
        memory: Floats | None,
        rng: Generator,
        last: Transition | None = None,
    ) -> Decision:
        """Solve the mean model, from the values of the last step on, and choose among the actions."""
        s = state_in(type(self).__name__, belief, observation)
        q, values = mean_model_q(belief, memory)
        action, more = self.choose(q[s], values, rng)
        return Decision(action, values, {"q": q[s], **more})

    @abstractmethod
    def choose(self, q: Floats, values: Floats, rng: Generator) -> tuple[int, dict[str, Any]]:
        """An action by its value `q`, (A,), and what else to report; `values` are those of all states, (S,)."""
