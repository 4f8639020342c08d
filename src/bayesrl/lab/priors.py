"""From the words on the command line to a belief: `prior_for(world, "flat:1/9")`.

A prior is NAME or NAME:CONCENTRATION, the concentration a decimal or a fraction, 1 if left out:

    flat:1/9         one Dirichlet for each (s, a) over all states, every count 1/9
    structured:0.5   the world's own outcomes and groups with unknown probabilities, every count 0.5

A family of worlds has the two priors of its literature: `accurate` (the counts it is drawn from) and `inaccurate` (ones
over all states). A bandit, fixed or drawn, has one named prior of its own (`default_prior`).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from bayesrl.beliefs.dirichlet import DirichletMDP
from bayesrl.core import Family
from bayesrl.errors import InvalidArgument, UnknownName

OF_WORLDS: dict[str, Callable[[Any, float], DirichletMDP]] = {
    "flat": DirichletMDP.flat,
    "structured": DirichletMDP.structured,
}
OF_FAMILIES: dict[str, Callable[[Any], DirichletMDP]] = {
    "accurate": lambda family: DirichletMDP(family.outcomes, family.alpha, family.gamma),
    "inaccurate": DirichletMDP.flat,
}


def prior_for(world: Any, spec: str | None = None) -> Any:
    """The prior of that name for this world or family; by default the one the literature gives it.

    >>> from bayesrl.registry import make_world
    >>> prior_for(make_world("chain-tied"), "structured:1/2").alpha
    array([[0.5, 0.5]])
    """
    if not hasattr(world, "prior"):
        raise InvalidArgument("prior", "world", "a world or a family with a prior of its own", world)
    if not isinstance(spec, str | None):
        raise InvalidArgument("prior", "spec", "NAME or NAME:CONCENTRATION", spec)
    name, colon, amount = (world.prior if spec is None else spec).partition(":")
    if hasattr(world, "default_prior"):
        if colon or name != world.prior:
            raise UnknownName("prior of this world", name + colon + amount, [world.prior])
        return world.default_prior()
    if isinstance(world, Family):
        if name not in OF_FAMILIES:
            raise UnknownName("prior of a family of worlds", name, OF_FAMILIES)
        if colon:
            raise InvalidArgument("prior", name, "given without a concentration", amount)
        return OF_FAMILIES[name](world)
    if name not in OF_WORLDS:
        raise UnknownName("prior", name, OF_WORLDS)
    return OF_WORLDS[name](world, _concentration(amount) if colon else 1.0)


def _concentration(text: str) -> float:
    try:
        amount = float(Fraction(text))
    except (ValueError, ZeroDivisionError, OverflowError):
        amount = 0.0
    if amount <= 0.0:
        raise InvalidArgument("prior", "concentration", "a positive number or fraction", text)
    return amount
