"""Settings: the set-up in which the literature runs a world.

A world is dynamics only. A `Setting` holds the prior of the agent, the length of a run, the number of runs, and the
names of the world in published figures. Each registered world has one; a user's world has the default setting unless it
defines another.

A prior is written as in `bayesrl run --prior`, NAME[:CONCENTRATION]:

    flat:1/9       one Dirichlet for each (s, a) over all states, every count 1/9
    structured:1   the world's own outcomes and groups with unknown probabilities, every count 1

`bayesrl.lab.priors.prior_for` builds it. The concentration is a decimal or a fraction; the default is 1.
"""

from __future__ import annotations

from typing import Annotated, Any, Protocol

from bayesrl.capabilities import offers
from bayesrl.parameters import AtLeast, declared
from bayesrl.problems import StatesLength, StatesPrior
from bayesrl.registry import make_world
from bayesrl.renamed import with_old_words


@declared
class Setting:
    """The set-up in which a world is usually run.

    Examples
    --------
    >>> setting_of("double-loop").prior, setting_of("double-loop").steps
    ('flat:1/9', 1000)
    """

    prior: Annotated[str, "The default prior of an agent."] = "flat:1"
    steps: Annotated[int, AtLeast(1), "Length of a run."] = 1000
    runs: Annotated[int | None, AtLeast(1), "Number of runs, if the literature states it."] = None
    figures: Annotated[tuple[str, ...], "Names of this world in published figures."] = ()
    optimum: Annotated[
        float | None, "Expected undiscounted total of the best policy over that many steps, if known."
    ] = None


class HasSetting(Protocol):
    """A world or a family with a setting."""

    @property
    def setting(self) -> Setting:
        """The setting."""


class StatesRuns(Protocol):
    """A world or a family that says how many runs the literature makes."""

    @property
    def runs(self) -> int | None:
        """The number of runs."""


class NamedInFigures(Protocol):
    """A world or a family that says how published figures call it."""

    @property
    def figures(self) -> tuple[str, ...]:
        """Its names there."""


@with_old_words
class Published:
    """A world or a family with a setting, whose entries are also attributes of the world."""

    setting: Setting

    @property
    def prior(self) -> str:
        """The usual prior."""
        return self.setting.prior

    @property
    def steps(self) -> int:
        """The usual length of a run."""
        return self.setting.steps

    @property
    def runs(self) -> int | None:
        """The published number of runs, if there is one."""
        return self.setting.runs

    @property
    def figures(self) -> tuple[str, ...]:
        """Names of the world in published figures."""
        return self.setting.figures

    @property
    def declared_optimum(self) -> float | None:
        """The best total over `steps` steps, if known."""
        return self.setting.optimum


def setting_of(world: object) -> Setting:
    """The setting of a world or family, or of the registered one of that name."""
    place = make_world(world) if isinstance(world, str) else world
    if offers(place, HasSetting) and isinstance(place.setting, Setting):
        return place.setting
    told: dict[str, Any] = {}
    if offers(place, StatesPrior):
        told["prior"] = place.prior
    if offers(place, StatesLength):
        told["steps"] = place.steps
    if offers(place, StatesRuns):
        told["runs"] = place.runs
    if offers(place, NamedInFigures):
        told["figures"] = place.figures
    return Setting(**told)
