"""The sources of beliefs over hidden states: the table of a world, or the counts that it leaves unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayesrl.beliefs._problems import needed
from bayesrl.capabilities import offers
from bayesrl.errors import InvalidArgument
from bayesrl.problems import HasPOMDP, LeavesUnknown, Simulable, TakesQueries, name_of

if TYPE_CHECKING:
    from bayesrl.beliefs.pomdp.dirichlet_pomdp import DirichletPOMDP
    from bayesrl.models.pomdp import TabularPOMDP


def table_of(prior: str, problem: object) -> TabularPOMDP:
    """The POMDP of a problem whose observations are those of the POMDP."""
    refuse_oracle(prior, problem)
    return needed(prior, problem, HasPOMDP).pomdp


def unknown_part(prior: str, problem: object) -> DirichletPOMDP:
    """The counts of what such a problem leaves unknown."""
    refuse_oracle(prior, problem)
    hint = "Its model is known: the prior is known or known:PARTICLES." if offers(problem, Simulable) else ""
    return needed(prior, problem, LeavesUnknown, hint).model_prior()


def refuse_oracle(prior: str, problem: object) -> None:
    """Refuse a world with an oracle, whose answers are a part of the observations."""
    if offers(problem, TakesQueries):
        hint = "The agents medusa, action-oracle and bayes-risk ask oracles."
        raise InvalidArgument(f"The prior {prior!r}", "problem", "a world without an oracle", name_of(problem), hint)
