"""Priors by name, as on the command line: `prior_for(world, "flat:1/9")`.

A prior is NAME or NAME:CONCENTRATION; the concentration is a decimal or a fraction:

    flat:1/9         one Dirichlet for each (s, a) over all states, every count 1/9; default 1
    structured:0.5   the world's own outcomes and groups with unknown probabilities, every count 0.5; default 1
    sparse:0.2       for each (s, a) a Dirichlet over an unknown subset of the states (a support of size k has weight
                     k^-2), every count 0.2; default 0.2, the prior of the published grid results

If the state is hidden, a prior is NAME or NAME:NUMBER; `counts` of the world says what is unknown:

    known            the model is known, the state is filtered
    known:5000       the same by 5000 particles, in a world that is too large for a table; default 1000
    exact            all hyper-states (a state and counts); their number grows with every step
    bounded:30       rows are counted up to this total; default 20 more than the largest total of the world's counts
    particle:500     a sample of 500 hyper-states; default 1000

A world of vectors names a belief, and has its arguments among its `defaults`: `normal-wishart-dynamics`, ...

A family of worlds has the two priors of its literature: `accurate` (the counts that worlds are drawn from) and
`inaccurate` (a count of 1 for every state). A bandit or a family of bandits has one named prior (`default_prior`).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

from bayesrl.beliefs.hidden._dirichlet_pomdp import DirichletPOMDP
from bayesrl.beliefs.tabular.dirichlet_mdp import DirichletMDP
from bayesrl.beliefs.tabular.sparse_dirichlet import SparseDirichletMDP
from bayesrl.core import Family, World
from bayesrl.errors import InvalidArgument, UnknownName
from bayesrl.models.pomdp import TabularPOMDP
from bayesrl.registry import make

OF_WORLDS: dict[str, Callable[[Any, float], Any]] = {
    "flat": DirichletMDP.flat,
    "structured": DirichletMDP.structured,
    "sparse": SparseDirichletMDP.flat,
}
USUAL = {"flat": 1.0, "structured": 1.0, "sparse": 0.2}
"""The default concentration."""
OF_HIDDEN = ("known", "exact", "bounded", "particle")
"""Priors of worlds whose state is hidden."""
PARTICLES = 1000
"""The default number of particles of a known world without a table."""
MORE = 20
"""The default bound of counts is the largest total of the prior and this many."""
OF_FAMILIES: dict[str, Callable[[Any], DirichletMDP]] = {
    "accurate": lambda family: DirichletMDP(family.outcomes, family.alpha, family.gamma),
    "inaccurate": DirichletMDP.flat,
}


@runtime_checkable
class LeavesUnknown(Protocol):
    """A world whose state is hidden, with a model that may be known or not."""

    @property
    def pomdp(self) -> TabularPOMDP:
        """The true model."""

    def counts(self) -> DirichletPOMDP:
        """The counts of what its Bayes-adaptive set-up leaves unknown."""


def prior_for(world: World | Family, spec: str | None = None) -> Any:
    """The prior of that name for this world or family; the default is that of the literature.

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
    if name in (suggested := getattr(world, "defaults", {})):
        if colon:
            raise InvalidArgument("prior", name, "given without a concentration", amount)
        return make(name, **suggested[name])
    if isinstance(world, Family):
        if name not in OF_FAMILIES:
            raise UnknownName("prior of a family of worlds", name, OF_FAMILIES)
        if colon:
            raise InvalidArgument("prior", name, "given without a concentration", amount)
        return OF_FAMILIES[name](world)
    if isinstance(world, LeavesUnknown) or (getattr(world, "hidden", False) and hasattr(world, "simulator")):
        return _hidden(world, name, _whole(name, amount) if colon else None)
    if name not in OF_WORLDS:
        raise UnknownName("prior", name, OF_WORLDS)
    return OF_WORLDS[name](world, _concentration(amount) if colon else USUAL[name])


def _hidden(world: World, name: str, size: int | None) -> Any:
    """A prior of a world whose state is hidden."""
    from bayesrl import beliefs

    if name not in OF_HIDDEN:
        raise UnknownName("prior of a world with a hidden state", name, OF_HIDDEN)
    if not isinstance(world, LeavesUnknown):
        if name != "known":
            raise InvalidArgument("prior", "spec", "known or known:PARTICLES in a world without a table", name)
        return beliefs.POMDPParticles(world, particles=PARTICLES if size is None else size, rescue=True)
    if size is not None and name in ("known", "exact"):
        raise InvalidArgument("prior", name, "given without a number", size)
    if name == "known":
        return beliefs.POMDPFilter(world.pomdp, getattr(world, "preferred", None), getattr(world, "legal", None))
    counts = world.counts()
    if name == "exact":
        return beliefs.ExactBAPOMDP(counts)
    if name == "particle":
        return beliefs.ParticleBAPOMDP(counts) if size is None else beliefs.ParticleBAPOMDP(counts, particles=size)
    largest = max(float(x.sum(axis=1).max()) for x in (counts.phi, counts.psi))
    return beliefs.BoundedBAPOMDP(counts, bound=largest + MORE if size is None else size)


def _whole(name: str, text: str) -> int:
    if not (text.isdecimal() and int(text) > 0):
        raise InvalidArgument("prior", name, "followed by a whole number of at least 1", text)
    return int(text)


def same_prior(a: str, b: str) -> bool:
    """Whether two specifications mean the same prior: flat and flat:1 do, and sparse:1/5 and sparse.

    >>> same_prior("sparse", "sparse:1/5"), same_prior("flat", "structured")
    (True, False)
    """
    return _meaning(a) == _meaning(b)


def _meaning(spec: str) -> tuple[str, float | str]:
    name, colon, amount = spec.partition(":")
    try:
        return name, _concentration(amount) if colon else USUAL.get(name, "")
    except InvalidArgument:
        return name, amount


def _concentration(text: str) -> float:
    try:
        amount = float(Fraction(text))
    except (ValueError, ZeroDivisionError, OverflowError):
        amount = 0.0
    if amount <= 0.0:
        raise InvalidArgument("prior", "concentration", "a positive number or fraction", text)
    return amount
