"""Arguments that suit a method in a world: data of the laboratory, as the set-ups of the literature are.

`suggestions_for(world)` is a mapping: under the name of a method its arguments, and under the name of a package those
of all its methods. "gradient" holds the policy, the features phi(s) and the covariance k_s of states; "continuous" the
actions among which planners choose; a belief's name the prior of the world. What a user gives replaces a suggestion.

A user's world may state suggestions of its own, in an attribute `defaults`; then these hold and no others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bayesrl.capabilities import offers
from bayesrl.problems import Registered, StatesArguments, name_of

Arguments = Mapping[str, Mapping[str, Any]]

ENDLESS_TIGER: Arguments = {"pomcp": {"exploration": "auto"}}
"""Rollouts open doors, so returns vary by hundreds. The range of one reward, 110, is too small a constant for them."""
OF_POMDPS: Mapping[str, Arguments] = {"tiger": ENDLESS_TIGER, "tiger-tied": ENDLESS_TIGER}
"""By the name of a `POMDPWorld` that states no arguments of its own."""


def suggestions_for(world: object) -> Arguments:
    """The arguments that suit methods in this world, by the names of methods and packages.

    >>> from bayesrl.registry import make_world
    >>> suggestions_for(make_world("tiger"))
    {'pomcp': {'exploration': 'auto'}}
    >>> sorted(suggestions_for(make_world("random-walk")))
    ['gpsarsa', 'gradient']
    """
    if offers(world, StatesArguments):
        return OF_POMDPS.get(name_of(world), {}) if world.defaults is None else world.defaults
    if offers(world, Registered):
        from bayesrl.lab.literature.suggestions_by_world import BY_WORLD

        make = BY_WORLD.get(world.registered)
        return {} if make is None else make(world)
    return {}
