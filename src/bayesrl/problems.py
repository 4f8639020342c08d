"""Problems: small protocols, one for each thing that a world or a family of worlds may offer and somebody asks for.

A `World` has two functions, `reset` and `step` (`core.py`). What else a world can tell (its MDP, a map, names of its
actions, a compiled simulator, ...) stands here, as what a belief can tell stands in `capabilities.py`. Functions name
the protocols as types, and ask for them by the same `offers`:

    def plot_map(world: HasLayout) -> Figure: ...
    if offers(world, HasMDP):
        solution = solve(world.mdp)

A world offers something by having its members; it need not inherit from anything. If a world has a member that it
cannot answer, it lists the member in `unsupported`, a mapping from names to reasons. Nobody asks a world by `getattr`,
`hasattr` or `isinstance`: `tests/test_structure.py` checks it.

The functions at the end answer the questions that many places ask: `name_of(world)`, `is_hidden(world)`, ...

Arrays state their shapes: S states, A actions, Z observations.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from bayesrl.capabilities import offers

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import Generator
    from numpy.typing import NDArray

    from bayesrl.beliefs.pomdp.dirichlet_pomdp import DirichletPOMDP
    from bayesrl.core import World
    from bayesrl.models.mdp import TabularMDP
    from bayesrl.models.outcomes import Outcomes
    from bayesrl.models.pomdp import TabularPOMDP

    Floats = NDArray[np.float64]
    Ints = NDArray[np.integer[Any]]
    Bools = NDArray[np.bool_]


# What is run ---------------------------------------------------------------------------------------------------------


@runtime_checkable
class Family(Protocol):
    """A distribution over worlds; `run` draws one for each run."""

    def draw(self, rng: Generator) -> World:
        """Draw a world."""


@runtime_checkable
class Limited(Protocol):
    """A world whose episodes are cut off after a number of steps, unless `run` is told otherwise."""

    @property
    def horizon(self) -> int | None:
        """The most steps of an episode; None: no limit."""


@runtime_checkable
class Copies(Protocol):
    """A world with internal state, such as an environment of another library. Parallel runs need copies of it."""

    def fresh(self) -> World:
        """A new copy of the same world."""


@runtime_checkable
class Named(Protocol):
    """A world with a name, for messages and tables."""

    @property
    def name(self) -> str:
        """The name."""


@runtime_checkable
class Registered(Protocol):
    """A world of the library whose class has one name."""

    @property
    def registered(self) -> str:
        """The name: that in the registry, or for classes of several registered worlds that of the class."""


@runtime_checkable
class Hides(Protocol):
    """A world that says whether its state is hidden from the agent."""

    @property
    def hidden(self) -> bool:
        """Whether the agent does not observe the true state."""


@runtime_checkable
class Ends(Protocol):
    """A world that says whether its episodes can end."""

    @property
    def ends(self) -> bool:
        """Whether an episode can end, other than by its horizon."""


@runtime_checkable
class HasDiscount(Protocol):
    """A world with a discount."""

    @property
    def gamma(self) -> float:
        """Discount, in [0, 1]."""


@runtime_checkable
class GymnasiumEnvironment(Protocol):
    """An environment of Gymnasium, which is not a world: `adapters.gymnasium.GymWorld` makes one of it."""

    observation_space: Any


# States, actions and observations ------------------------------------------------------------------------------------


@runtime_checkable
class NumbersStates(Protocol):
    """A world whose states are numbered from 0."""

    @property
    def n_states(self) -> int:
        """S."""


@runtime_checkable
class NumbersActions(Protocol):
    """A world whose actions are numbered from 0."""

    @property
    def n_actions(self) -> int:
        """A."""


@runtime_checkable
class NumbersObservations(Protocol):
    """A world with numbered observations, which are not its states. Before the first step nothing is seen (-1)."""

    @property
    def n_observations(self) -> int:
        """Z."""


@runtime_checkable
class NamesActions(Protocol):
    """A world with names for its numbered actions."""

    @property
    def actions(self) -> tuple[str, ...]:
        """The names; empty if there are none."""


@runtime_checkable
class HasLayout(Protocol):
    """A world whose states may lie on a map."""

    @property
    def layout(self) -> Ints | None:
        """States on a map, (panels, rows, columns), -1 for a wall; None: there is no map."""


@runtime_checkable
class HasFeatures(Protocol):
    """A world with known features.

    Two shapes have two meanings. (S, d) are features of states in which rewards are linear, for inverse reinforcement
    learning. (S, A, d) are features of states and actions in which a policy's preferences are linear. Whoever wants
    the former asks `state_features`.
    """

    @property
    def features(self) -> Floats:
        """Features of the states, (S, d), or of states and actions, (S, A, d)."""


@runtime_checkable
class PrefersInStates(Protocol):
    """A world that may say which actions are worth a try in a state, for rollouts."""

    @property
    def preferred(self) -> Bools | None:
        """Whether an action is preferred in a state, (S, A); no rows if states are not listed; None: no preference."""


@runtime_checkable
class LegalInStates(Protocol):
    """A world that may say which actions a search may try in a state."""

    @property
    def legal(self) -> Bools | None:
        """Whether an action may be tried in a state, (S, A); None: all may."""


# Models --------------------------------------------------------------------------------------------------------------


@runtime_checkable
class HasMDP(Protocol):
    """A world with a known MDP."""

    @property
    def mdp(self) -> TabularMDP:
        """The MDP."""


@runtime_checkable
class HasPOMDP(Protocol):
    """A world with a known POMDP."""

    @property
    def pomdp(self) -> TabularPOMDP:
        """The POMDP."""


@runtime_checkable
class HasOutcomes(HasDiscount, Protocol):
    """A family (or a model) whose possible outcomes are known: what can happen in some world of the family."""

    @property
    def outcomes(self) -> Outcomes:
        """The possible outcomes of each action in each state, and their groups."""


@runtime_checkable
class HasOutcomeCounts(HasOutcomes, Protocol):
    """A family whose worlds have rows drawn from Dirichlet distributions."""

    @property
    def alpha(self) -> Floats:
        """The Dirichlet counts of the outcomes, (G, K)."""


@runtime_checkable
class LeavesUnknown(HasPOMDP, Protocol):
    """A world with a POMDP that a Bayes-adaptive agent knows in part."""

    def model_prior(self) -> DirichletPOMDP:
        """The Dirichlet prior over models: what the Bayes-adaptive set-up of this world leaves unknown."""


@runtime_checkable
class Simulable(Protocol):
    """A world without a table whose steps are compiled, for searches and particles."""

    def simulator(self) -> Any:
        """The compiled steps: arrays on which `root` and `step` of `simulator.py` are implemented."""


@runtime_checkable
class WeighsObservations(Protocol):
    """A world that can tell the probability of an observation."""

    def observation_probability(self, next_state: Any, action: Any, observation: Any) -> Any:
        """The probability of an observation after an action that led to a state.

        A `Simulable` world takes an array of states, and returns an array.
        """


@runtime_checkable
class BoundsRewards(Protocol):
    """A world that can tell the range of its rewards."""

    def reward_range(self) -> tuple[float, float]:
        """The smallest and the largest reward of a step."""


# How it is usually run -----------------------------------------------------------------------------------------------


@runtime_checkable
class StatesPrior(Protocol):
    """A world or a family that names its usual prior."""

    @property
    def prior(self) -> str:
        """The usual prior, as in `bayesrl run --prior`."""


@runtime_checkable
class StatesLength(Protocol):
    """A world or a family that says how long it is usually run."""

    @property
    def steps(self) -> int:
        """The usual number of steps of a run."""


@runtime_checkable
class MakesPrior(StatesPrior, Protocol):
    """A world or a family that makes its usual prior itself."""

    def default_prior(self) -> Any:
        """The belief that `prior` names."""


@runtime_checkable
class StatesArguments(Protocol):
    """A world that may state which arguments suit methods in it.

    For the worlds of the library these are data of the laboratory (`lab/literature/suggestions.py`).
    """

    @property
    def defaults(self) -> Mapping[str, Mapping[str, Any]] | None:
        """Arguments of a method under its name; arguments of all methods of a package under the package's name.

        None: the laboratory's.
        """


# Questions of one part of the library --------------------------------------------------------------------------------


@runtime_checkable
class TakesQueries(Protocol):
    """A world in which an agent may ask an oracle."""

    @property
    def query(self) -> str:
        """The kind of answer that is asked for: action, state or confirmation."""


@runtime_checkable
class ChoosesSeveral(NumbersActions, HasDiscount, Protocol):
    """A bandit of which several arms are chosen at once."""

    @property
    def suggestions(self) -> int:
        """Number of arms that are chosen at once, M."""

    @property
    def feedback(self) -> str:
        """Whether every chosen arm's reward is seen ("semi"), or only their sum ("full")."""


@runtime_checkable
class TellsGaps(Protocol):
    """A world that can tell what an action loses."""

    def gap(self, state: Any, action: Any) -> float:
        """The mean reward of the best action in a state minus that of this action."""


@runtime_checkable
class HasGaps(HasMDP, Protocol):
    """A world with a known MDP and the loss of each action in it."""

    @property
    def gaps(self) -> Floats:
        """V*(s) - Q*(s, a), (S, A)."""


@runtime_checkable
class HasAverageReward(Protocol):
    """A world without ends whose best average reward is known."""

    @property
    def average_reward(self) -> Any:
        """The largest average reward; in lockstep one for each replicate."""


# Answers to common questions -----------------------------------------------------------------------------------------


def name_of(world: object) -> str:
    """The name of a world; if it has none, the name of its class."""
    return world.name if offers(world, Named) else type(world).__name__


def is_hidden(world: object) -> bool:
    """Whether the state is hidden. It is not if the world says nothing."""
    return bool(world.hidden) if offers(world, Hides) else False


def may_end(world: object) -> bool:
    """Whether an episode can end. It can if the world says nothing."""
    return world.ends if offers(world, Ends) else True


def layout_of(world: object) -> Ints | None:
    """The map of a world, (panels, rows, columns); None: there is no map."""
    return world.layout if offers(world, HasLayout) else None


def state_features(world: object) -> Floats | None:
    """Features (S, d) of states, in which rewards are linear; None: the world has none, or has them of pairs only."""
    features = world.features if offers(world, HasFeatures) else None
    return features if features is not None and features.ndim == 2 else None


def preferred_of(world: object) -> Bools | None:
    """Which actions a world prefers in each state, (S, A); None: it does not say."""
    return world.preferred if offers(world, PrefersInStates) else None


def legal_of(world: object) -> Bools | None:
    """Which actions a search may try in each state, (S, A); None: all."""
    return world.legal if offers(world, LegalInStates) else None


def action_names(world: object, n_actions: int) -> tuple[str, ...]:
    """The names of numbered actions: the world's, or else their numbers."""
    named: object = world.actions if offers(world, NamesActions) else ()
    if isinstance(named, tuple) and len(named) == n_actions:  # a world of vectors has bounds there, or a number
        return named
    return tuple(map(str, range(n_actions)))


def discount_of(world: object) -> float:
    """The discount of a world; 1 if it says nothing."""
    return world.gamma if offers(world, HasDiscount) else 1.0
