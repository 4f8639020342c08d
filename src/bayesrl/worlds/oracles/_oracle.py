"""The common parts of the three oracles: the world inside, the price of a question, and the oracle's best action.

Actions of the world inside keep their numbers; questions are further actions. An observation is a tuple: what is seen,
then what the oracle says. Each entry is NOTHING, -1, if there is none. A question of the second and the third oracle
takes a step of time, in which nothing else happens.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs.pomdp.dirichlet_pomdp import DirichletPOMDP
from bayesrl.beliefs.pomdp.pomdp_filter import Tables, filtered, tables_of
from bayesrl.checks import array, generator, integer, rows_sum_to_one
from bayesrl.core import WorldStep
from bayesrl.errors import InvalidArgument
from bayesrl.kernels.ties import first_best
from bayesrl.models.pomdp import NOTHING, TabularPOMDP
from bayesrl.models.pomdp_solvers.pbvi import PBVI
from bayesrl.registry import make_world
from bayesrl.renamed import with_old_words
from bayesrl.worlds.hidden import POMDPWorld
from bayesrl.worlds.settings import Published, Setting


@with_old_words
class Oracle(Published):
    """A world whose state is hidden, and questions about it."""

    world: str | POMDPWorld
    """The world inside, or its name."""
    cost: float

    query: ClassVar[str]
    """The kind of answer that is asked for: "state", "action" or "confirmation"."""
    hidden: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self.inside  # noqa: B018 (it is checked)

    @cached_property
    def inside(self) -> POMDPWorld:
        """The world inside."""
        found = make_world(self.world) if isinstance(self.world, str) else self.world
        if not isinstance(found, POMDPWorld):
            hint = "Oracles are asked about worlds such as tiger."
            raise InvalidArgument(type(self).__name__, "world", "a world with a listed hidden state", self.world, hint)
        return found

    @property
    def setting(self) -> Setting:  # type: ignore[override]  # a field elsewhere
        """The setting of the world inside."""
        return self.inside.setting

    @property
    def pomdp(self) -> TabularPOMDP:
        """The model of the world inside, which takes no questions."""
        return self.inside.pomdp

    def model_prior(self) -> DirichletPOMDP:
        """The prior over models of the world inside."""
        return self.inside.model_prior()

    @property
    def gamma(self) -> float:
        """Discount."""
        return self.inside.gamma

    @property
    def n_observations(self) -> int:
        """Z, the number of observations of the world inside."""
        return self.inside.n_observations


class Watched(NamedTuple):
    """The state of a world with an oracle that filters."""

    state: int
    """The state of the world inside."""
    belief: tuple[float, ...]
    """The oracle's probability of each state, given all actions and observations of the episode."""


class Advisor(Oracle):
    """An oracle that knows the model, but not the state: it filters what is seen, and knows the best action."""

    def reset(self, rng: Generator) -> tuple[Watched, tuple[int, int]]:
        """The first state of an episode, with the oracle's belief. Nothing is seen, and nothing said."""
        state, seen = self.inside.reset(rng)
        return Watched(state, self._start), (seen, NOTHING)

    def advised(self, state: Any) -> int:
        """The best action of the true model at the oracle's belief; of equal actions the first."""
        return first_best(self._q(np.asarray(self._watched(state).belief)))

    def _answered(self, state: Any, action: Any, answer: Callable[[Any], int], rng: Generator) -> WorldStep:
        """A step, or the answer to a question: an action of at least A."""
        now, a = self._watched(state), action
        if a >= self.inside.n_actions:
            generator(type(self).__name__, rng).random(2)  # as many numbers as a step draws
            return WorldStep(now, (NOTHING, answer(now)), -self.cost, False)
        after, seen, reward, terminated = self.inside.step(now.state, a, rng)
        belief, _ = filtered(np.asarray(now.belief), a, seen, terminated, *self._tables)
        return WorldStep(Watched(after, tuple(belief.tolist())), (seen, NOTHING), reward, terminated)

    def _watched(self, state: Any) -> Watched:
        owner, S = type(self).__name__, self.inside.n_states
        if not isinstance(state, tuple) or len(state) != 2:
            raise InvalidArgument(owner, "state", "a pair (state, belief of the oracle)", state)
        if type(state) is Watched and type(state.belief) is tuple and len(state.belief) == S:  # which we made
            return state
        belief = array(owner, "belief", state[1], (S,), low=0.0)
        rows_sum_to_one(owner, "belief", belief)
        return Watched(integer(owner, "state", state[0], 0, S - 1), tuple(belief.tolist()))

    @cached_property
    def _start(self) -> tuple[float, ...]:
        return tuple(self.pomdp.start.tolist())

    @cached_property
    def _tables(self) -> Tables:
        return tables_of(self.pomdp)

    @cached_property
    def _q(self) -> Callable[[Any], Any]:
        """The action values of the true model, given a belief over its states."""
        return PBVI().solve(self.pomdp, np.random.default_rng(0)).q
