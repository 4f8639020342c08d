"""How beliefs are made for a problem: the parameters that several of them share, and the refusal of a problem.

A belief that agents act on says in its registration how it is made (`prior_for=`): a function of a problem and of
parameters with defaults. The function asks for what it needs by `needed`, which refuses a problem that lacks it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeVar

from bayesrl.capabilities import lacking, offers, reasons
from bayesrl.errors import Incompatible, InvalidArgument
from bayesrl.parameters import Above, AtLeast
from bayesrl.problems import HasPOMDP, LeavesUnknown, MakesPrior, Simulable, TakesQueries, name_of

if TYPE_CHECKING:
    from bayesrl.beliefs.pomdp.dirichlet_pomdp import DirichletPOMDP
    from bayesrl.models.pomdp import TabularPOMDP

C = TypeVar("C")

Concentration = Annotated[float, Above(0), "Prior count of every outcome."]
Particles = Annotated[int, AtLeast(1), "Number of particles."]
Draws = Annotated[int, AtLeast(1), "Number of models, which are drawn and equally probable."]


def needed(prior: str, problem: object, capability: type[C], hint: str = "") -> C:
    """The problem, if it offers what this prior is made from; else raise `Incompatible` with what is missing."""
    missing = lacking(problem, capability)
    if missing:
        hint = reasons(problem, missing) or hint
        raise Incompatible(f"The prior {prior!r}", name_of(problem), missing, hint, kind="problem")
    return problem  # type: ignore[return-value]  # which `lacking` has checked


def own_prior(prior: str, problem: object, kind: type[C]) -> C:
    """The usual prior of a problem that makes one of this kind."""
    usual = needed(prior, problem, MakesPrior).default_prior()
    if not isinstance(usual, kind):
        expected = f"one whose usual prior is a {kind.__name__}"
        raise InvalidArgument(f"The prior {prior!r}", "problem", expected, name_of(problem))
    return usual


# Hidden states -------------------------------------------------------------------------------------------------------


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
