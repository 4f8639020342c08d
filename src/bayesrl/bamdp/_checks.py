"""Checks of observations, transitions and beliefs that planners of this chapter share."""

from __future__ import annotations

from typing import Protocol

from bayesrl.capabilities import HasMeanMDP, ListsStates, SharesSupport, offers
from bayesrl.checks import integer, number
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.models.mdp import model_of
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
