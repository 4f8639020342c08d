"""The model in a thing: the thing itself, or the model of a world (a filter, a belief) that has one.

Only this file asks whether a thing is a model; the others call its functions.
"""

from __future__ import annotations

from typing import NoReturn

from bayesrl.capabilities import offers, reasons
from bayesrl.errors import InvalidArgument
from bayesrl.models.mdp import TabularMDP
from bayesrl.models.outcomes import Outcomes
from bayesrl.models.pomdp import TabularPOMDP
from bayesrl.problems import Family, HasMDP, HasOutcomes, HasPOMDP

Problem = TabularMDP | HasMDP
"""The problems that a solver takes."""
POMDPProblem = TabularPOMDP | HasPOMDP
"""The problems that a solver of POMDPs takes."""


def find_mdp(thing: object) -> TabularMDP | None:
    """The MDP of a thing: itself, or its `mdp`; None if it has none."""
    mdp = thing.mdp if not isinstance(thing, TabularMDP) and offers(thing, HasMDP) else thing
    return mdp if isinstance(mdp, TabularMDP) else None


def find_pomdp(thing: object) -> TabularPOMDP | None:
    """The POMDP of a thing: itself, or its `pomdp`; None if it has none."""
    if isinstance(thing, TabularMDP):  # the usual case
        return None
    pomdp = thing.pomdp if not isinstance(thing, TabularPOMDP) and offers(thing, HasPOMDP) else thing
    return pomdp if isinstance(pomdp, TabularPOMDP) else None


def find_outcomes(thing: object) -> Outcomes | None:
    """The listed outcomes of a thing: itself, its `outcomes` (a family), or those of its MDP; None if it has none."""
    found = thing.outcomes if not isinstance(thing, Outcomes) and offers(thing, HasOutcomes) else thing
    if not isinstance(found, Outcomes) and (mdp := find_mdp(thing)) is not None:
        found = mdp.outcomes
    return found if isinstance(found, Outcomes) else None


def mdp_of(problem: object, owner: str = "solve", name: str = "problem") -> TabularMDP:
    """The MDP of a problem: itself, or a world's `.mdp`. An error names the argument of the owner."""
    mdp = find_mdp(problem)
    if mdp is None:
        _refuse(owner, name, problem, "a TabularMDP or a world that has one")
    return mdp


def pomdp_of(problem: object, owner: str) -> TabularPOMDP:
    """The POMDP of a problem: itself, or the `.pomdp` of a world or a filter."""
    pomdp = find_pomdp(problem)
    if pomdp is None:
        _refuse(owner, "problem", problem, "a TabularPOMDP, or a world or filter that has one")
    return pomdp


def _refuse(owner: str, name: str, problem: object, expected: str) -> NoReturn:
    family = (
        "A family of worlds has no table of its own: draw a world from it first." if offers(problem, Family) else ""
    )
    raise InvalidArgument(owner, name, expected, type(problem).__name__, reasons(problem, ("mdp",)) or family)
