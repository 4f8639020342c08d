"""What the greedy planners of this family share: the mean model's values, kept warm, and a stated rule for ties."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs.tabular.dirichlet_mdp import DirichletMDP
from bayesrl.checks import Floats, integer, number
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.models.solution import model_of
from bayesrl.models.solve import solve
from bayesrl.models.solvers._episodic import collapse, policy_to_the_end

TIES = ("first", "random")

SLACK = 1e-9
"""Action values closer than this, relative to their size, are ties: solvers are accurate to about as much."""


def state_in(owner: str, belief: Any, observation: Any) -> int:
    """The observed state, one of the belief's."""
    return integer(owner, "observation", observation, 0, belief.n_states - 1)


def step_in(owner: str, n_states: int, n_actions: int, seen: Transition) -> tuple[int, int, float, int | None]:
    """(s, a, r, s') of a transition, s' being None where the episode has come to its end."""
    s = integer(owner, "state", seen.state, 0, n_states - 1)
    a = integer(owner, "action", seen.action, 0, n_actions - 1)
    r = number(owner, "reward", seen.reward)
    return s, a, r, None if seen.terminated else integer(owner, "next_state", seen.next_state, 0, n_states - 1)


def must_end(owner: str, belief: Any) -> None:
    """Refuse a discount of 1 where the mean model does not end from everywhere: it has no values."""
    model = belief.mean_mdp()
    if model.gamma == 1.0:
        try:
            policy_to_the_end(collapse(model_of(model, None)).model)
        except InvalidArgument as wrong:
            raise InvalidArgument(owner, "belief", wrong.expected, wrong.got, wrong.hint) from None


def draws_must_end(owner: str, belief: Any) -> None:
    """The same for models that are drawn: those of a Dirichlet lead where its mean does; of others nothing is known."""
    if isinstance(getattr(belief, "transitions", belief), DirichletMDP):
        must_end(owner, belief)


def mean_model_q(belief: Any, warm: Floats | None, bonus: Floats | None = None) -> tuple[Floats, Floats]:
    """(q[s, a], values[s]) of the mean model, solved from the values of the step before."""
    solution = solve(belief.mean_mdp(), initial=warm, bonus=bonus)
    return solution.q, solution.values


def best_action(q: Floats, ties: str, rng: Generator) -> int:
    """The greedy action; among ties the first, or one at random."""
    best = np.flatnonzero(q >= q.max() - SLACK * (1.0 + np.abs(q).max()))
    return int(best[0] if ties == "first" or len(best) == 1 else best[int(rng.random() * len(best))])
