"""A finite world whose state is hidden: a known POMDP that can be acted in.

At a reset nothing is seen: the observation is NOTHING. Each step draws exactly two random numbers, one for the next
state and one for the observation, so methods that are compared on the same stream stay aligned. A reset draws one; a
certain start draws none.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from bayesrl._explained import explain_failures
from bayesrl.checks import Floats, array, choices, generator, integer, number, sequence
from bayesrl.core import WorldStep
from bayesrl.errors import InvalidArgument
from bayesrl.models.pomdp import NOTHING, TabularPOMDP
from bayesrl.parameters import Shape, value
from bayesrl.worlds.settings import Published, Setting
from bayesrl.worlds.tabular import cumulative

if TYPE_CHECKING:
    from bayesrl.beliefs.pomdp.dirichlet_pomdp import DirichletPOMDP

KNOWN = Setting("known", steps=100)
"""The usual setting of a hidden world: the model is known, the state is not."""
LARGE = 100_000
"""Triples (s, a, o) beyond which the fast informed bound takes too long."""


@explain_failures
@value
class POMDPWorld(Published):
    """A known POMDP as a world.

    Examples
    --------
    >>> P, O = [[[1, 0]], [[0, 1]]], [[[0.9, 0.1]], [[0.2, 0.8]]]
    >>> world = POMDPWorld("mine", TabularPOMDP.from_dense(P, O, [[0.0], [1.0]], gamma=0.5))
    >>> world.reset(np.random.default_rng(0))
    (1, -1)
    >>> world.step(1, 0, np.random.default_rng(0))
    WorldStep(state=1, observation=1, reward=1.0, terminated=False)
    """

    name: Annotated[str, "Name of the world."]
    pomdp: Annotated[TabularPOMDP, "The dynamics, what is seen, and what is paid."] = field(repr=False)
    setting: Annotated[Setting, "How the world is usually run."] = field(default=KNOWN, repr=False)
    states: Annotated[tuple[str, ...], "Names of the states."] = field(default=(), repr=False)
    actions: Annotated[tuple[str, ...], "Names of the actions."] = ()
    observations: Annotated[tuple[str, ...], "Names of the observations."] = ()
    bracket: Annotated[
        tuple[float, float] | None, "Bounds of the optimal value of the start; None: they are computed."
    ] = field(default=None, repr=False)
    transition_counts: Annotated[
        Floats | None,
        "Prior counts of the groups of transitions, zeros for a known group; None: all are known.",
    ] = field(default=None, repr=False)
    observation_counts: Annotated[Floats | None, "The same for the groups of what is seen."] = field(
        default=None, repr=False
    )
    preferred: Annotated[
        ArrayLike | None,
        Shape("(S, A)"),
        "Which actions rollouts prefer in each state; None: no preference.",
    ] = field(default=None, repr=False)
    legal: Annotated[
        ArrayLike | None,
        Shape("(S, A)"),
        "The actions that a search may try in each state, if the history tells which; None: all.",
    ] = field(default=None, repr=False)
    defaults: Annotated[
        Mapping[str, Mapping[str, Any]] | None,
        "Arguments that suit methods in this world, by their names; None: those of the laboratory, if it has any.",
    ] = field(default=None, repr=False)

    hidden: ClassVar[bool] = True

    def __post_init__(self) -> None:
        owner = "POMDPWorld"
        if not isinstance(self.pomdp, TabularPOMDP):
            raise InvalidArgument(owner, "pomdp", "a TabularPOMDP", type(self.pomdp).__name__)
        if not isinstance(self.setting, Setting):
            raise InvalidArgument(owner, "setting", "a Setting", self.setting)
        if not isinstance(self.defaults, Mapping | None):
            raise InvalidArgument(owner, "defaults", "a mapping from methods to arguments", self.defaults)
        named = {"states": self.n_states, "actions": self.n_actions, "observations": self.n_observations}
        for which, n in named.items():
            given = sequence(owner, which, getattr(self, which), f"{n} names")
            if len(given) not in (0, n):
                raise InvalidArgument(owner, which, f"{n} names", given)
            object.__setattr__(self, which, given)
        if self.bracket is not None:
            low, high = (number(owner, "bracket", x) for x in sequence(owner, "bracket", self.bracket, "two numbers"))
            if low > high:
                raise InvalidArgument(owner, "bracket", "two numbers in ascending order", self.bracket)
        shapes = {"transition_counts": self.pomdp.mdp.prob, "observation_counts": self.pomdp.observation_prob}
        for which, prob in shapes.items():
            if (counts := getattr(self, which)) is not None:
                object.__setattr__(self, which, array(owner, which, counts, prob.shape, low=0.0))
        shape = (self.n_states, self.n_actions)
        object.__setattr__(self, "legal", choices(owner, "legal", self.legal, shape))
        object.__setattr__(self, "preferred", choices(owner, "preferred", self.preferred, shape, self.legal))

    @classmethod
    def from_file(
        cls, path: str | os.PathLike[str], gamma: float | None = None, terminal: Sequence[str | int] | str | int = ()
    ) -> POMDPWorld:
        """The POMDP of a `.pomdp` file as a world. `gamma` is another discount than the file's.

        `terminal` is one state, or several, that end an episode: names or numbers.
        """
        from bayesrl.models.pomdp_file import read_pomdp

        ends = (terminal,) if isinstance(terminal, str | int) else terminal
        pomdp = read_pomdp(Path(path) if isinstance(path, str) else path, ends)
        if gamma is not None:
            pomdp = replace(pomdp, mdp=replace(pomdp.mdp, gamma=gamma))
        names = pomdp.state_names, pomdp.action_names, pomdp.observation_names
        return cls(Path(path).stem, pomdp, KNOWN, *names, defaults={})

    # A world ---------------------------------------------------------------------------------------------------------

    def reset(self, rng: Generator) -> tuple[int, int]:
        """The first state of an episode. Nothing is seen of it."""
        row, states = self._first
        generator(self.name, rng)
        return (states[0] if len(states) == 1 else states[bisect_right(row, rng.random())]), NOTHING

    def step(self, state: int, action: int, rng: Generator) -> WorldStep:
        """The next state, the observation, the reward, and whether the episode has ended."""
        S, A = self._shape
        s = integer(self.name, "state", state, 0, S - 1)
        a = integer(self.name, "action", action, 0, A - 1)
        row, after = self._moves.get(s * A + a) or self._move(s, a)
        try:
            shown, steps = after[bisect_right(row, rng.random())]
            return steps[bisect_right(shown, rng.random())]
        except AttributeError:
            generator(self.name, rng)
            raise

    @cached_property
    def _shape(self) -> tuple[int, int]:
        return self.n_states, self.n_actions

    @cached_property
    def _first(self) -> tuple[list[float], list[int]]:
        states = np.flatnonzero(self.pomdp.start)
        return cumulative(self.pomdp.start[states]), states.tolist()

    @cached_property
    def _moves(self) -> dict[int, tuple[list[float], list[tuple[list[float], list[WorldStep]]]]]:
        return {}  # filled when a pair is first used; all rows of a large model would not fit into memory

    def _move(self, s: int, a: int) -> tuple[list[float], list[tuple[list[float], list[WorldStep]]]]:
        """Cumulative probabilities of the next states of (s, a); for each, those of its observations, and the steps."""
        p = self.pomdp.mdp.prob[self.pomdp.mdp.group[s, a]]
        possible = np.flatnonzero(p)
        after = [self._shown(s, a, y) for y in self.pomdp.mdp.succ[s, a, possible].tolist()]
        made = self._moves[s * self.n_actions + a] = cumulative(p[possible]), after
        return made

    def _shown(self, s: int, a: int, y: int) -> tuple[list[float], list[WorldStep]]:
        observed, ends = self.pomdp.observed, bool(self.pomdp.terminal[y])
        p = self.pomdp.observation_prob[observed.group[y, a]]
        possible = np.flatnonzero(p)
        seen = observed.observation[y, a, possible].tolist()
        return cumulative(p[possible]), [WorldStep(y, o, self.pomdp.reward(s, a, y, o), ends) for o in seen]

    # Properties ------------------------------------------------------------------------------------------------------

    @cached_property
    def value(self) -> tuple[float, float]:
        """Bounds of the optimal value of the start: the declared ones, or simple ones.

        The simple ones are the value of the best action if it is always taken, and the fast informed bound, or in
        large worlds the value if states were seen. With discount 1 an action that never ends an episode does not count.
        """
        if self.bracket is not None:
            return self.bracket
        from bayesrl.models.pomdp_solvers.bounds import fast_informed_bound, qmdp_bound
        from bayesrl.models.solve import evaluate_policy

        low, start, pomdp = -np.inf, self.pomdp.start, self.pomdp
        for a in range(self.n_actions):
            try:
                low = max(low, float(start @ evaluate_policy(pomdp.mdp, np.full(self.n_states, a))))
            except InvalidArgument:
                continue
        many = self.n_states * self.n_actions * self.n_observations > LARGE
        return low, float((qmdp_bound(pomdp) if many else fast_informed_bound(pomdp)).dot(start).max())

    @property
    def gamma(self) -> float:
        """Discount."""
        return self.pomdp.gamma

    @property
    def n_states(self) -> int:
        """S."""
        return self.pomdp.n_states

    @property
    def n_actions(self) -> int:
        """A."""
        return self.pomdp.n_actions

    @property
    def n_observations(self) -> int:
        """Z."""
        return self.pomdp.n_observations

    def model_prior(self) -> DirichletPOMDP:
        """The Dirichlet prior over models: of what the world's Bayes-adaptive set-up leaves unknown.

        Without declared counts, one for each outcome and each observation that is possible; what is certain is known.
        """
        from bayesrl.beliefs.pomdp.dirichlet_pomdp import DirichletPOMDP

        phi, psi = self.transition_counts, self.observation_counts
        if phi is None and psi is None:
            phi, psi = (
                np.where((prob > 0.0).sum(axis=1, keepdims=True) > 1, prob > 0.0, 0.0)
                for prob in (self.pomdp.mdp.prob, self.pomdp.observation_prob)
            )
        known = (None if counts is None else ~counts.any(axis=1) for counts in (phi, psi))
        return DirichletPOMDP.structured(self.pomdp, phi, psi, *known)

    @property
    def ends(self) -> bool:
        """Whether an episode can end."""
        return bool(self.pomdp.terminal.any())
