"""The exact filter of a known POMDP (Kaelbling, Littman, Cassandra 1998, section 3.3; survey §2.3).

The belief is the probability b(s) of each hidden state, given all actions and observations of the episode. It is a
sufficient statistic of them: planners need nothing else. Use it if the model is known and its states can be listed.

Paper to code: SE(b, a, o) is `filtered`: b'(s') is proportional to Omega(o|s', a) sum_s T(s'|s, a) b(s).
Deviations: the end of an episode is evidence too. The state reached is terminal if and only if the transition says
`terminated`. Rewards and the observation before the step are not evidence.
Cost: an update takes O(S k), where k is the number of possible outcomes of a step; states of probability zero cost
nothing. Claims: filter, evidence and predictive equal sums over all hidden paths.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, cast

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from bayesrl.beliefs._problems import refuse_oracle
from bayesrl.beliefs.log import Log, transitions
from bayesrl.capabilities import offers
from bayesrl.checks import DEEPEST, Bools, Floats, all_frozen, choices, frozen, generator, integer, truth
from bayesrl.core import Transition
from bayesrl.errors import ImpossibleEvidence, Incompatible, InvalidArgument
from bayesrl.kernels.arrays import B1, F1, F3, I3
from bayesrl.kernels.jit import njit
from bayesrl.kernels.simulators.hidden_model import HiddenModel, cumulative, rooted
from bayesrl.kernels.simulators.urn import INDEX
from bayesrl.models.pomdp import TabularPOMDP
from bayesrl.parameters import AtLeast, Shape, unchecked, value
from bayesrl.problems import HasPOMDP, legal_of, preferred_of
from bayesrl.registry import register

if TYPE_CHECKING:
    from bayesrl.beliefs.pomdp.pomdp_particles import POMDPParticles


def _example() -> POMDPFilter:
    P = [
        [[0.7, 0.2, 0.1], [0.2, 0.5, 0.3]],
        [[0.3, 0.5, 0.2], [0.1, 0.6, 0.3]],
        [[0.0, 0.0, 1.0], [0.0, 0.0, 1.0]],
    ]
    O = [[[0.8, 0.2], [0.3, 0.7]], [[0.4, 0.6], [0.9, 0.1]], [[0.5, 0.5], [0.1, 0.9]]]
    R = [[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]]
    pomdp = TabularPOMDP.from_dense(P, O, R, 0.9, start=[0.6, 0.4, 0.0], terminal=[2])
    return POMDPFilter(pomdp, preferred=[[True, True], [False, True], [True, True]])


def known(
    problem: object,
    particles: Annotated[int | None, AtLeast(1), "States in a sample, where the model is no table; None: 1000."] = None,
) -> POMDPFilter | POMDPParticles:
    """The known model; the state is filtered. Where the model is no table, a sample of states is kept."""
    refuse_oracle("known", problem)
    if not offers(problem, HasPOMDP):
        from bayesrl.beliefs.pomdp.pomdp_particles import prior_for

        return prior_for(problem) if particles is None else prior_for(problem, particles)
    if particles is not None:
        hint = "The prior 'pomdp-particles' samples the states of any known model."
        raise InvalidArgument("The prior 'known'", "particles", "left out where the model is a table", particles, hint)
    return POMDPFilter(problem.pomdp, preferred_of(problem), legal_of(problem))


@register(
    "pomdp-filter",
    kind="belief",
    survey="2.3",
    paper="kaelbling98",
    example=_example,
    prior_for={"known": known},
    evidence=(
        "tests/beliefs/pomdp/test_pomdp_filter.py::test_equals_the_sum_over_hidden_paths",
        "tests/beliefs/test_laws.py::test_belief_laws",
    ),
)
@value
class POMDPFilter:
    """The probability of each hidden state of a known POMDP.

    Examples
    --------
    Two doors, and a tiger behind one of them. Listening is right with probability .85.

    >>> import bayesrl as b
    >>> O = [[[0.85, 0.15]], [[0.15, 0.85]]]
    >>> tiger = b.TabularPOMDP.from_dense([[[1, 0]], [[0, 1]]], O, [[-1.0], [-1.0]], gamma=0.95)
    >>> belief = POMDPFilter(tiger).update(b.Transition(-1, 0, -1.0, 0))
    >>> belief.states().round(2), belief.predictive(0).round(3)
    (array([0.85, 0.15]), array([0.745, 0.255]))
    """

    pomdp: Annotated[TabularPOMDP, "The known model. Its `start` is the belief at the start of an episode."]
    preferred: Annotated[
        ArrayLike | None, Shape("(S, A)"), "Which actions a rollout prefers in each state; None: it has no preference."
    ] = field(default=None, repr=False)
    legal: Annotated[
        ArrayLike | None, Shape("(S, A)"), "Which actions a search may try in each state, if the past tells; None: all."
    ] = field(default=None, repr=False)
    now: Floats = field(init=False, repr=False)
    """Probability of each state now, shape (S,)."""
    log_probability: float = field(init=False, repr=False)
    """Log probability of all observations and ends of episodes so far."""

    def __post_init__(self) -> None:
        if not isinstance(self.pomdp, TabularPOMDP):
            hint = "A world with a hidden state has it as `pomdp`."
            raise InvalidArgument("POMDPFilter", "pomdp", "a TabularPOMDP", self.pomdp, hint)
        shape = (self.n_states, self.n_actions)
        object.__setattr__(self, "legal", choices("POMDPFilter", "legal", self.legal, shape))
        object.__setattr__(self, "preferred", choices("POMDPFilter", "preferred", self.preferred, shape, self.legal))
        object.__setattr__(self, "now", self.pomdp.start)
        object.__setattr__(self, "log_probability", 0.0)

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Transition, rng: Generator | None = None) -> POMDPFilter:
        """The posterior after an action and its observation."""
        owner, (last_action, last_sign) = "POMDPFilter.update", self._sizes
        a = integer(owner, "action", datum.action, 0, last_action)
        o = integer(owner, "next_observation", datum.next_observation, 0, last_sign)
        ended = truth(owner, "terminated", datum.terminated)
        after, log_p = filtered(self.now, a, o, ended, *self._tables)
        if log_p == -np.inf:
            raise self._impossible(a, o, ended)
        return unchecked(self, now=frozen(after), log_probability=self.log_probability + log_p)

    def _impossible(self, a: int, o: int, ended: bool) -> ImpossibleEvidence:
        seen = f"observation {o} after action {a}" + (" with the end of the episode" if ended else "")
        if self.pomdp.terminal[self.now > 0.0].all():
            why = "the episode has ended; restart() begins the next one"
        elif filtered(self.now, a, o, not ended, *self._tables)[1] > -np.inf:
            why = "it is possible only if the episode goes on" if ended else "it is possible only at its end"
        else:
            why = "no state that can be reached now shows it"
        return ImpossibleEvidence("POMDPFilter", seen, why)

    def update_many(self, log: Log, rng: Generator | None = None) -> POMDPFilter:
        """The posterior after a log of transitions. It restarts after each end of an episode, as an agent does."""
        new = self
        for datum in transitions("POMDPFilter.update_many", log, "action", "next_observation"):
            new = new.update(datum)
            new = new.restart() if datum.ends_episode else new
        return new

    def restart(self) -> POMDPFilter:
        """The belief at the start of a new episode. The evidence is kept."""
        return unchecked(self, now=self.pomdp.start)

    @cached_property
    def _sizes(self) -> tuple[int, int]:
        """The largest action and the largest observation."""
        return self.n_actions - 1, self.n_observations - 1

    @cached_property
    def _tables(self) -> Tables:
        return tables_of(self.pomdp)

    # Capabilities ----------------------------------------------------------------------------------------------------

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

    @property
    def gamma(self) -> float:
        """Discount."""
        return self.pomdp.gamma

    def states(self) -> Floats:
        """Probability of each state now, (S,)."""
        return self.now

    def predictive(self, action: int) -> Floats:
        """Probability of each observation after an action, (Z,)."""
        a = integer("POMDPFilter.predictive", "action", action, 0, self.n_actions - 1)
        return predicted(self.now, a, self.n_observations, *self._tables)

    def log_evidence(self) -> float:
        """Log probability of all observations and ends of episodes, given the actions."""
        return self.log_probability

    @property
    def unsupported(self) -> dict[str, str]:
        """The members that this filter does not have, with the reason."""
        if self.preferred is None:
            return {"preferred_actions": "Give the filter `preferred`, the actions that rollouts prefer."}
        return {}

    def preferred_actions(self) -> Bools:
        """Which actions a rollout prefers in each state, (S, A)."""
        if self.preferred is None:
            raise Incompatible("preferred_actions", "POMDPFilter", ["preferred"])
        return cast(Bools, self.preferred)

    def simulate(self, depth: int) -> HiddenModel:
        """The belief for compiled searches, which draw a state from it at the root."""
        integer("POMDPFilter.simulate", "depth", depth, 0, DEEPEST)
        return rooted(self._hidden_model, self.now)

    @cached_property
    def _hidden_model(self) -> HiddenModel:
        """The model, without a belief over its state."""
        pomdp, o, z = self.pomdp, self.pomdp.mdp.outcomes, self.pomdp.observed
        paid = np.where(o.terminal.reshape(-1, *[1] * (pomdp.rewards.ndim - 1)), 0.0, pomdp.rewards)
        moves = (o.succ.astype(INDEX), o.group.astype(INDEX), o.size.astype(INDEX), cumulative(pomdp.mdp.prob))
        observed = (
            z.observation.astype(INDEX),
            z.group.astype(INDEX),
            z.size.astype(INDEX),
            cumulative(pomdp.observation_prob),
        )
        reward: Any = np.ascontiguousarray(paid.reshape(paid.shape + (1,) * (4 - paid.ndim)))
        legal: Any = np.zeros((0, pomdp.n_actions), np.bool_) if self.legal is None else self.legal
        m = HiddenModel(np.zeros(0, np.int64), np.zeros((1, 0)), *moves, *observed, reward, o.terminal, legal)
        return all_frozen(m)

    def reward_range(self) -> tuple[float, float]:
        """The smallest and the largest reward of a possible step by a legal action."""
        return self._rewards

    @cached_property
    def _rewards(self) -> tuple[float, float]:
        return self.pomdp.reward_range if self.legal is None else self.pomdp.reward_range_of(cast(Bools, self.legal))

    def mean_pomdp(self) -> TabularPOMDP:
        """The known model. Its start is the belief over the state now."""
        return self.pomdp.starting(self.now)

    def sample_pomdp(self, rng: Generator) -> TabularPOMDP:
        """The known model. Its start is certain: a state drawn from the belief."""
        below = np.cumsum(self.now)
        u = generator("POMDPFilter.sample_pomdp", rng).random() * below[-1]
        point = np.zeros(self.n_states)
        point[np.searchsorted(below, u, side="right")] = 1.0
        return self.pomdp.starting(point)


# The filter ----------------------------------------------------------------------------------------------------------


class Tables(NamedTuple):
    """A POMDP as compiled code reads it. Padding has probability zero."""

    succ: I3  # (S, A, K) next state of outcome k
    prob: F3  # (S, A, K) its probability
    terminal: B1  # (S,)
    observation: I3  # (S, A, L) observation l after reaching s' by a
    observation_prob: F3  # (S, A, L) its probability


def tables_of(pomdp: TabularPOMDP) -> Tables:
    """A POMDP as compiled code reads it."""
    mdp, observed = pomdp.mdp, pomdp.observed
    prob, observation_prob = mdp.prob[mdp.group], pomdp.observation_prob[observed.group]
    return Tables(mdp.succ, frozen(prob), pomdp.terminal, observed.observation, frozen(observation_prob))


@njit
def reached(b: F1, a: int, succ: I3, prob: F3) -> F1:
    """The distribution of the next state, sum_s T(s'|s, a) b(s), (S,)."""
    after = np.zeros(len(b))
    for s in range(len(b)):
        if b[s] > 0.0:
            for k in range(succ.shape[2]):
                after[succ[s, a, k]] += b[s] * prob[s, a, k]
    return after


@njit
def filtered(
    b: F1, a: int, o: int, ended: bool, succ: I3, prob: F3, terminal: B1, observation: I3, observation_prob: F3
) -> tuple[F1, float]:
    """SE(b, a, o), given whether the episode ended, and the log probability of both."""
    after, total = reached(b, a, succ, prob), 0.0
    for y in range(len(b)):
        if after[y] > 0.0:
            likelihood = 0.0
            if terminal[y] == ended:
                for k in range(observation.shape[2]):
                    if observation[y, a, k] == o:
                        likelihood += observation_prob[y, a, k]
            after[y] *= likelihood
            total += after[y]
    if total > 0.0:
        return after / total, np.log(total)
    return after, -np.inf


@njit
def predicted(b: F1, a: int, Z: int, succ: I3, prob: F3, terminal: B1, observation: I3, observation_prob: F3) -> F1:
    """The distribution of the observation after action a, (Z,)."""
    after, seen = reached(b, a, succ, prob), np.zeros(Z)
    for y in range(len(b)):
        if after[y] > 0.0:
            for k in range(observation.shape[2]):
                seen[observation[y, a, k]] += after[y] * observation_prob[y, a, k]
    return seen
