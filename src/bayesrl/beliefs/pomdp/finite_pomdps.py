"""A prior over finitely many POMDPs (Atrash and Pineau 2009, Doshi and others 2008; survey §4.9).

One of N models is the true one, and its state is hidden. Each model has its own filter b_i. An action and its
observation multiply the weight of a model by the probability that its filter gave them. The agents that ask oracles
draw models and hold them in this belief; finite_mdps.py does the same for MDPs.

Paper to code: w_i P_i(o | b_i, a) is `filtered_models` and `update`; the filter of one model is that of
pomdp_filter.py. Deviations: the end of an episode is evidence too, as in the filter.
Cost: update O(N S k) for k outcomes of a step; mean_pomdp O(N S^2 A); simulate and as_pomdp O(N^2 S^2 A) at first.
Claims: weights, filters, evidence and predictive equal sums over all models and hidden paths.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Annotated

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from bayesrl.beliefs._one_of_many import OneOfMany
from bayesrl.beliefs._problems import Draws, unknown_part
from bayesrl.beliefs.log import Log, transitions
from bayesrl.beliefs.pomdp.pomdp_filter import POMDPFilter, Tables, filtered, predicted, tables_of
from bayesrl.checks import DEEPEST, Floats, array, frozen, generator, integer, rows_sum_to_one, truth
from bayesrl.core import Transition
from bayesrl.errors import ImpossibleEvidence
from bayesrl.kernels.simulators.hidden_model import HiddenModel
from bayesrl.models.pomdp import TabularPOMDP
from bayesrl.parameters import unchecked, value
from bayesrl.registry import register


def _example() -> FinitePOMDPs:
    R, end = [[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]], [[0.0, 0.0, 1.0]] * 2
    moves = (
        [[[0.7, 0.2, 0.1], [0.2, 0.5, 0.3]], [[0.3, 0.5, 0.2], [0.1, 0.6, 0.3]], end],
        [[[0.1, 0.6, 0.3], [0.8, 0.1, 0.1]], [[0.6, 0.2, 0.2], [0.3, 0.3, 0.4]], end],
    )
    observed = (
        [[[0.8, 0.2], [0.3, 0.7]], [[0.4, 0.6], [0.9, 0.1]], [[0.5, 0.5], [0.1, 0.9]]],
        [[[0.3, 0.7], [0.6, 0.4]], [[0.9, 0.1], [0.2, 0.8]], [[0.5, 0.5], [0.7, 0.3]]],
    )
    models = (TabularPOMDP.from_dense(P, O, R, 0.9, [0.6, 0.4, 0.0], [2]) for P, O in zip(moves, observed, strict=True))
    return FinitePOMDPs(tuple(models), np.array([0.4, 0.6]))


def prior_for(problem: object, models: Draws = 20, rng: Generator | None = None) -> FinitePOMDPs:
    """Models drawn from the counts that the world leaves unknown."""
    prior, rng = unknown_part("finite-pomdps", problem), generator("finite-pomdps", rng)
    return FinitePOMDPs(tuple(prior.sample_pomdp(rng) for _ in range(models)))


@register(
    "finite-pomdps",
    kind="belief",
    survey="4.9",
    paper="atrash09",
    example=_example,
    prior_for=prior_for,
    evidence=(
        "tests/beliefs/pomdp/test_finite_pomdps.py::test_equals_the_sum_over_models_and_hidden_paths",
        "tests/beliefs/pomdp/test_finite_pomdps.py::test_mean_and_drawn_models",
        "tests/beliefs/test_laws.py::test_belief_laws",
    ),
)
@value
class FinitePOMDPs(OneOfMany):
    """A POMDP that is one of finitely many, with a weight and a filter for each.

    Examples
    --------
    Listening is right with probability .85 or .6. The same side is heard twice, which is likelier in the first model.

    >>> import bayesrl as b
    >>> stay, R = [[[1, 0]], [[0, 1]]], [[-1.0], [-1.0]]
    >>> hear = lambda p: [[[p, 1 - p]], [[1 - p, p]]]
    >>> belief = FinitePOMDPs(tuple(b.TabularPOMDP.from_dense(stay, hear(p), R, gamma=0.95) for p in (0.85, 0.6)))
    >>> belief = belief.update(b.Transition(-1, 0, -1.0, 0)).update(b.Transition(0, 0, -1.0, 0))
    >>> belief.posterior().round(3), belief.per_model().round(2).tolist()
    (array([0.589, 0.411]), [[0.97, 0.03], [0.69, 0.31]])
    """

    models: Annotated[
        tuple[TabularPOMDP, ...],
        "N POMDPs with the same numbers of states, actions and observations, discount and terminal states.",
    ] = field(repr=False)
    weights: Annotated[ArrayLike | None, "Prior probability of each model, (N,); None if all are equally probable."] = (
        None
    )
    log_joint: Floats = field(init=False, repr=False)
    """Log of prior weight times the probability of what was seen, shape (N,)."""
    now: Floats = field(init=False, repr=False)
    """Each model's filter, shape (N, S); zero in a model that cannot explain what was seen."""

    def __post_init__(self) -> None:
        def form(m: TabularPOMDP) -> tuple[object, ...]:
            return m.n_states, m.n_actions, m.n_observations, m.gamma, m.terminal.tolist()

        self._begin(TabularPOMDP, form, "states, actions, observations, discount and terminal states")
        object.__setattr__(self, "now", self._starts)

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Transition, rng: Generator | None = None) -> FinitePOMDPs:
        """The posterior after an action and its observation."""
        owner = "FinitePOMDPs.update"
        a = integer(owner, "action", datum.action, 0, self.n_actions - 1)
        o = integer(owner, "next_observation", datum.next_observation, 0, self.n_observations - 1)
        ended = truth(owner, "terminated", datum.terminated)
        now, log_p = filtered_models(self.now, a, o, ended, self.tables)
        joint = self.log_joint + log_p
        if joint.max() == -np.inf:
            seen = f"observation {o} after action {a}" + (" with the end of the episode" if ended else "")
            raise ImpossibleEvidence("FinitePOMDPs", seen, "no model with positive weight allows it")
        return unchecked(self, log_joint=frozen(joint), now=now)

    def update_many(self, log: Log, rng: Generator | None = None) -> FinitePOMDPs:
        """The posterior after a log of transitions. It restarts after each end of an episode, as an agent does."""
        new = self
        for datum in transitions("FinitePOMDPs.update_many", log, "action", "next_observation"):
            new = new.update(datum)
            new = new.restart() if datum.ends_episode else new
        return new

    def restart(self) -> FinitePOMDPs:
        """The belief at the start of a new episode. Weights and evidence are kept."""
        return unchecked(self, now=self._starts)

    def reweighted(self, weights: ArrayLike) -> FinitePOMDPs:
        """The same filters and evidence, but other posterior weights (N,): those after an oracle's answer."""
        owner = "FinitePOMDPs.reweighted"
        w = rows_sum_to_one(owner, "weights", array(owner, "weights", weights, (len(self.models),), low=0.0), weights)
        with np.errstate(divide="ignore"):
            return unchecked(self, log_joint=frozen(np.log(w) + self.log_evidence()))

    def certain(self, state: int) -> FinitePOMDPs:
        """The same weights and evidence, but every model knows the state now: an oracle has told it."""
        point = np.eye(self.n_states)[integer("FinitePOMDPs.certain", "state", state, 0, self.n_states - 1)]
        return unchecked(self, now=frozen(np.tile(point, (len(self.models), 1))))

    @cached_property
    def tables(self) -> tuple[Tables, ...]:
        """The models as compiled code reads them."""
        return tuple(map(tables_of, self.models))

    @cached_property
    def _starts(self) -> Floats:
        return frozen(np.array([m.start for m in self.models]))

    # Capabilities ----------------------------------------------------------------------------------------------------

    @property
    def n_observations(self) -> int:
        """Z."""
        return self.models[0].n_observations

    def per_model(self) -> Floats:
        """Probability of each state now under each model, (N, S); zero in a model that cannot explain what was seen."""
        return self.now

    def states(self) -> Floats:
        """Probability of each state now, (S,)."""
        return np.asarray(self.posterior() @ self.now)

    def predictive(self, action: int) -> Floats:
        """Probability of each observation after an action, (Z,)."""
        a = integer("FinitePOMDPs.predictive", "action", action, 0, self.n_actions - 1)
        pairs = zip(self.now, self.tables, strict=True)
        return np.asarray(self.posterior() @ [predicted(b, a, self.n_observations, *t) for b, t in pairs])

    def reward_range(self) -> tuple[float, float]:
        """The smallest and the largest reward of a possible step in any of the models."""
        low, high = zip(*(m.reward_range for m in self.models), strict=True)
        return min(low), max(high)

    def mean_pomdp(self) -> TabularPOMDP:
        """The model of posterior means. Its start is the belief over the state now.

        If the models pay differently, it pays the mean of their expected rewards r(s, a).
        """
        w, first = self.posterior(), self.models[0]
        P, O, r = (np.tensordot(w, each, 1) for each in zip(*(m.dense() for m in self.models), strict=True))
        same = all(np.array_equal(m.rewards, first.rewards) for m in self.models)
        ends = np.flatnonzero(first.terminal).tolist()
        return TabularPOMDP.from_dense(P, O, first.rewards if same else r, self.gamma, self.states(), ends)

    def as_pomdp(self) -> TabularPOMDP:
        """The same problem as one POMDP, whose state i S + s is model i in state s. Its start is the belief now."""
        return self._pairs.pomdp.starting((self.posterior()[:, None] * self.now).ravel())

    def simulate(self, depth: int) -> HiddenModel:
        """The belief for compiled searches, which draw a model and its state at the root."""
        integer("FinitePOMDPs.simulate", "depth", depth, 0, DEEPEST)
        pairs = unchecked(self._pairs, now=frozen((self.posterior()[:, None] * self.now).ravel()))
        return pairs.simulate(depth)

    @cached_property
    def _pairs(self) -> POMDPFilter:
        """The filter of the POMDP whose state is a pair of a model and its state."""
        N, (S, A, Z) = len(self.models), self.models[0].seen.shape
        ndim = max(m.rewards.ndim for m in self.models)
        P, R = np.zeros((N, S, A, N, S)), np.zeros((N, S, A, N, S, Z)[: (0, 0, 3, 5, 6)[ndim]])
        for i, m in enumerate(self.models):
            P[i, :, :, i] = m.dense()[0]
            same = m.rewards.reshape(m.rewards.shape + (1,) * (ndim - m.rewards.ndim))
            R[(i,) if ndim == 2 else (i, slice(None), slice(None), i)] = same
        seen, ends = np.concatenate([m.seen for m in self.models]), np.tile(self.models[0].terminal, N)
        shape = (N * S, A, N * S, Z)
        pomdp = TabularPOMDP.from_dense(
            P.reshape(shape[:3]), seen, R.reshape(shape[:ndim]), self.gamma, None, np.flatnonzero(ends).tolist()
        )
        return POMDPFilter(pomdp)

    def sample_pomdp(self, rng: Generator) -> TabularPOMDP:
        """A model drawn from the posterior. Its start is certain: a state drawn from its filter."""
        rng = generator("FinitePOMDPs.sample_pomdp", rng)
        i = int(rng.choice(len(self.models), p=self.posterior()))
        point = np.zeros(self.n_states)
        point[rng.choice(self.n_states, p=self.now[i])] = 1.0
        return self.models[i].starting(point)


def filtered_models(
    now: Floats, action: int, observation: int, ended: bool, tables: tuple[Tables, ...]
) -> tuple[Floats, Floats]:
    """The filters (N, S) of N models after a step, and the log probabilities (N,) that they gave to what was seen.

    A model that cannot explain it gets log probability -inf, and zeros for its filter.
    """
    steps = [filtered(b, action, observation, ended, *t) for b, t in zip(now, tables, strict=True)]
    return frozen(np.array([b for b, _ in steps])), frozen(np.array([log_p for _, log_p in steps]))
