"""The infinite POMDP: a hierarchical Dirichlet process over hidden states (Doshi-Velez 2009; survey §4.10).

The number of hidden states is unknown. beta ~ GEM(stick) says how common each of infinitely many states is, x_0 ~ beta,
T(.|x, a) ~ DP(row, beta), Omega(.|x', a) ~ Dirichlet(concentration). Finitely many steps visit finitely many states. A
chain of the sampler is a sequence of visited states and a model of them, with one state more for all the others.

Paper to code: beam sampling is `_beam.sweep`: u is `slices`, breaking the rest `extended`, forward sums and draws
backwards `paths`, tables, beta and rows `parameters`. Filters and weights between sweeps are `_chains.appended`.
Left open by the survey, and ours: rewards have a Dirichlet(concentration) row over `rewards` for each (x, a), with x
the state before the step, and are evidence. x_0 has a slice variable too, as beta has infinitely many states. `update`
makes `sweeps` sweeps if it is given `rng`, so that agents, which never call `refresh`, have chains that move. In a
drawn model the rest is one state with the mean of the prior: row beta, uniform observations.
Deviations: states are never terminal. The end of an episode is not evidence; it begins another sequence.
Cost: a sweep of a chain with K states O(T K^2). Claims: which states are equal follows the posterior (every
seating of the Chinese restaurant franchise is enumerated), each step of a sweep its conditional distribution; Geweke's
joint test; calibration. The paper's numbers of states, as recalled: tiger 2.1, shuttle 2.1, network 4.4, gridworld
7.4; they are not compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from bayesrl.beliefs._problems import table_of
from bayesrl.beliefs.pomdp._beam import Rates, Sizes
from bayesrl.beliefs.pomdp.chains import Chains, appended, begun, check_chains, refreshed, restarted, weights
from bayesrl.checks import Floats, Ints, array, frozen, generator, integer, number
from bayesrl.core import Transition
from bayesrl.errors import ImpossibleEvidence, Incompatible, InvalidArgument
from bayesrl.models.pomdp import TabularPOMDP
from bayesrl.parameters import DISCOUNT, Above, AtLeast, Shape, unchecked, value
from bayesrl.registry import register
from bayesrl.traits import Traits

OWNER = "InfinitePOMDP"


def prior_for(problem: object, chains: Annotated[int, AtLeast(1), "Chains of the sampler."] = 20) -> InfinitePOMDP:
    """The actions and observations of a POMDP, and its possible rewards."""
    pomdp = table_of("infinite-pomdp", problem)
    rewards = np.unique(pomdp.rewards)
    return InfinitePOMDP(pomdp.n_actions, pomdp.n_observations, chains=chains, rewards=rewards, gamma=pomdp.gamma)


@register(
    "infinite-pomdp",
    kind="belief",
    survey="4.10",
    paper="doshi09",
    example=lambda: InfinitePOMDP(2, 3, chains=4, rewards=(0.0, 1.0)),
    prior_for=prior_for,
    evidence=(
        "tests/beliefs/pomdp/test_infinite_pomdp.py::test_equal_states_follow_the_posterior",
        "tests/beliefs/pomdp/test_infinite_pomdp.py::test_geweke",
        "tests/beliefs/pomdp/test_infinite_pomdp.py::test_predictive_follows_the_posterior",
        "tests/beliefs/pomdp/test_calibration_of_chains.py::test_calibration",
        "tests/beliefs/test_laws.py::test_belief_laws",
    ),
)
@value
class InfinitePOMDP:
    """A POMDP with an unknown number of hidden states.

    Examples
    --------
    Two observations that alternate need two states.

    >>> import bayesrl as b
    >>> from numpy.random import default_rng
    >>> rng, belief = default_rng(0), InfinitePOMDP(1, 2, concentration=0.1)
    >>> for t in range(20):
    ...     belief = belief.update(b.Transition(-1, 0, 0.0, t % 2))
    >>> belief = belief.refresh(rng, sweeps=50)
    >>> belief.trajectories.shape, belief.predictive(0).round(1).tolist()
    ((20, 21), [0.8, 0.2])
    """

    n_actions: Annotated[int, AtLeast(1), "A."]
    n_observations: Annotated[int, AtLeast(1), "Z."]
    row: Annotated[float, Above(0), "Concentration of each row of transitions around beta."] = 1.0
    stick: Annotated[float, Above(0), "Concentration of beta; the more, the more states."] = 1.0
    concentration: Annotated[float, Above(0), "Prior count of each observation, and of each reward."] = 1.0
    chains: Annotated[int, AtLeast(1), "Chains of the sampler."] = 20
    rewards: Annotated[ArrayLike | None, Shape("(n,)"), "The possible rewards; None: rewards are not looked at."] = None
    gamma: Annotated[float, DISCOUNT, "Discount of the models that are drawn."] = 0.95
    sweeps: Annotated[int, AtLeast(0), "Sweeps of each `update` that is given `rng`."] = 1
    data: Chains = field(init=False, repr=False)
    """The chains, and what was seen."""

    traits: ClassVar[Traits] = Traits(grows=("data",))

    def __post_init__(self) -> None:
        if self.rewards is not None:
            paid = array(OWNER, "rewards", self.rewards, (None,), moderate=True)
            if len(np.unique(paid)) < max(len(paid), 1):
                raise InvalidArgument(OWNER, "rewards", "different numbers, at least one", self.rewards)
            object.__setattr__(self, "rewards", frozen(paid))
        if "data" not in vars(self):  # else a file holds it
            object.__setattr__(self, "data", begun(self._sizes, self.chains))

    def check_grown(self) -> None:
        """Refuse chains that do not fit, when a file is read."""
        check_chains(OWNER, self.data, self._sizes, self.chains)

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Transition, rng: Generator | None = None) -> InfinitePOMDP:
        """The chains after an action and its observation: each filters it. With `rng`, `sweeps` sweeps follow."""
        owner = f"{OWNER}.update"
        a = integer(owner, "action", datum.action, 0, self.n_actions - 1)
        o = integer(owner, "next_observation", datum.next_observation, 0, self.n_observations - 1)
        new = unchecked(self, data=appended(self.data, (a, a, self._reward(datum.reward), a, o)))
        return new if rng is None or self.sweeps == 0 else new.refresh(rng, self.sweeps)

    def restart(self) -> InfinitePOMDP:
        """The belief at the start of a new sequence: x_0 ~ beta again. Everything else stays."""
        return unchecked(self, data=restarted(self.data))

    def refresh(self, rng: Generator, sweeps: int = 1) -> InfinitePOMDP:
        """The belief after further sweeps of all chains, which then have the same weight."""
        owner = f"{OWNER}.refresh"
        rng, sweeps = generator(owner, rng), integer(owner, "sweeps", sweeps, 1)
        prior = Rates(float(self.row), float(self.stick), float(self.concentration))
        return unchecked(self, data=refreshed(owner, self.data, self._sizes, prior, rng, sweeps))

    def _reward(self, reward: object) -> int:
        """The index of a reward among those listed."""
        if self.rewards is None:
            return 0
        r = number(f"{OWNER}.update", "reward", reward)
        found = np.flatnonzero(self.rewards == r)
        if not len(found):
            known = ", ".join(f"{v:g}" for v in np.asarray(self.rewards))
            raise ImpossibleEvidence(OWNER, f"reward {r:g}", f"rewards are one of {known}")
        return int(found[0])

    @property
    def _sizes(self) -> Sizes:
        A = self.n_actions
        return Sizes(A, A, 1 if self.rewards is None else np.size(self.rewards), A, self.n_observations)

    # Capabilities ----------------------------------------------------------------------------------------------------

    @property
    def unsupported(self) -> Mapping[str, str]:
        """Without rewards there is nothing to plan for."""
        return (
            {} if self.rewards is not None else {"sample_pomdp": "It has no rewards: list their values as 'rewards'."}
        )

    @property
    def trajectories(self) -> Ints:
        """The hidden states of each chain, (chains, T+1); after restarts, those of all sequences one after the other.

        A sequence of L steps has L + 1 states. Numbers mean the same state within a chain only.
        """
        return np.array([chain.x for chain in self.data.chains])

    def predictive(self, action: int) -> Floats:
        """Probability of each observation after an action, (Z,)."""
        a = integer(f"{OWNER}.predictive", "action", action, 0, self.n_actions - 1)
        shown = [now @ model.moves[:, a] @ model.after[:, a] for _, model, now in self.data.chains]
        return np.asarray(weights(self.data) @ np.array(shown))

    def sample_pomdp(self, rng: Generator) -> TabularPOMDP:
        """The model of a chain. Its last state is the rest, and its start is certain: a state drawn from the chain's.

        Its rewards are the expected ones of each state and action.
        """
        if self.rewards is None:
            raise Incompatible(f"{OWNER}.sample_pomdp", OWNER, ["rewards"], self.unsupported["sample_pomdp"])
        rng = generator(f"{OWNER}.sample_pomdp", rng)
        _, model, now = self.data.chains[int(rng.choice(self.chains, p=weights(self.data)))]
        start = int(rng.choice(len(now), p=now))
        paid = model.before @ np.asarray(self.rewards)
        return TabularPOMDP.from_dense(model.moves, model.after, paid, self.gamma, start)
