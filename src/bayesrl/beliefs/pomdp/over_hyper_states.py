"""The common parts of the four beliefs over hyper-states: their readings, and the example that the laws use."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs.log import Log, transitions
from bayesrl.beliefs.pomdp._hyper_samples import check_hyper_states, mean_rows, observations_after
from bayesrl.beliefs.pomdp.dirichlet_pomdp import DirichletPOMDP
from bayesrl.beliefs.pomdp.hyper_states import (
    FRESH,
    Branches,
    HyperStates,
    Rows,
    again,
    grown,
    nothing_seen,
    rows_of,
)
from bayesrl.checks import DEEPEST, Floats, Ints, all_frozen, generator, integer, truth
from bayesrl.core import Transition
from bayesrl.errors import ImpossibleEvidence, InvalidArgument
from bayesrl.kernels.simulators.hyper_urn import HyperUrn, Priors, hyper_urn, priors
from bayesrl.models.outcomes import Outcomes
from bayesrl.models.pomdp import ObservationOutcomes, TabularPOMDP
from bayesrl.parameters import unchecked
from bayesrl.traits import Traits


class OverHyperStates:
    """A belief that is a mixture of weighted hyper-states. Its subclasses override none of these methods."""

    model_prior: DirichletPOMDP
    hyper: HyperStates
    log_probability: float
    traits: ClassVar[Traits] = Traits(grows=("hyper",))

    def _begin(self) -> None:
        """Check the prior, and start from it."""
        if not isinstance(self.model_prior, DirichletPOMDP):
            hint = "DirichletPOMDP.from_dense makes one of arrays; a world with a hidden state has `model_prior()`."
            raise InvalidArgument(type(self).__name__, "model_prior", "a DirichletPOMDP", self.model_prior, hint)
        object.__setattr__(self, "hyper", nothing_seen())
        object.__setattr__(self, "log_probability", 0.0)

    def check_grown(self) -> None:
        """Refuse hyper-states that do not belong to the prior."""
        check_hyper_states(type(self).__name__, self.rows, self.hyper)
        all_frozen(self.hyper)

    @cached_property
    def rows(self) -> Rows:
        """The arrays that all hyper-states share. Posteriors keep them."""
        return rows_of(self.model_prior, getattr(self, "bound", np.inf))

    # Learning --------------------------------------------------------------------------------------------------------

    def _read(self, datum: Transition) -> tuple[int, int, bool]:
        """The action, the observation, and whether a terminal state was reached."""
        owner = f"{type(self).__name__}.update"
        a = integer(owner, "action", datum.action, 0, self.n_actions - 1)
        o = integer(owner, "next_observation", datum.next_observation, 0, self.n_observations - 1)
        return a, o, truth(owner, "terminated", datum.terminated)

    def _with(self, branches: Branches, probability: float) -> Self:
        """The belief of these branches, after something that had this probability."""
        hyper = all_frozen(grown(self.hyper, branches, len(self.rows.mix)))
        return unchecked(self, hyper=hyper, log_probability=self.log_probability + float(np.log(probability)))

    def _impossible(self, seen: tuple[int, int, bool], why: str) -> ImpossibleEvidence:
        a, o, ended = seen
        what = f"observation {o} after action {a}" + (" with the end of the episode" if ended else "")
        return ImpossibleEvidence(type(self).__name__, what, why)

    def update_many(self, log: Log, rng: Generator | None = None) -> Self:
        """The posterior after a log of transitions. It restarts after each end of an episode, as an agent does."""
        new: Any = self
        for datum in transitions(f"{type(self).__name__}.update_many", log, "action", "next_observation"):
            new = new.update(datum, rng)
            new = new.restart() if datum.ends_episode else new
        made: Self = new
        return made

    def _again(self) -> Self:
        """The same counts at the start of a new episode; equal ones merge."""
        return unchecked(self, hyper=all_frozen(again(self.rows, self.hyper)))

    # Sizes -----------------------------------------------------------------------------------------------------------

    @property
    def n_states(self) -> int:
        """S."""
        return self.model_prior.n_states

    @property
    def n_actions(self) -> int:
        """A."""
        return self.model_prior.n_actions

    @property
    def n_observations(self) -> int:
        """Z."""
        return self.model_prior.n_observations

    @property
    def gamma(self) -> float:
        """Discount."""
        return self.model_prior.gamma

    def reward_range(self) -> tuple[float, float]:
        """The smallest and the largest reward of a step."""
        return self.model_prior.reward_range()

    @property
    def n_hyper_states(self) -> int:
        """The number of hyper-states with positive weight."""
        n = int((self.hyper.weight > 0.0).sum())
        return n * int((self.model_prior.start > 0.0).sum()) if self._fresh else n

    @property
    def _fresh(self) -> bool:
        """Whether an episode has not begun, so that every hyper-state stands for the start."""
        return bool(self.hyper.state[0] == FRESH)

    # States and observations -----------------------------------------------------------------------------------------

    def states(self) -> Floats:
        """Probability of each state now, (S,)."""
        if self._fresh:
            return self.model_prior.start
        return np.asarray(np.bincount(self.hyper.state, self.hyper.weight, self.n_states), np.float64)

    def predictive(self, action: int) -> Floats:
        """Probability of each observation after an action, (Z,)."""
        a = integer(f"{type(self).__name__}.predictive", "action", action, 0, self.n_actions - 1)
        return observations_after(self.rows, self.hyper, a, self.n_observations)

    def log_evidence(self) -> float:
        """Log probability of all observations and ends of episodes so far, given the actions."""
        return self.log_probability

    # Models ----------------------------------------------------------------------------------------------------------

    def mean_pomdp(self) -> TabularPOMDP:
        """The model of posterior means. Its start is the belief over the state now."""
        prior, mean = self.model_prior, mean_rows(self.rows, self.hyper)
        (G, K), L = prior.phi.shape, prior.psi.shape[1]
        return prior.model(mean[:G, :K], mean[G + 1 :, :L], np.array(self.states()))

    def sample_pomdp(self, rng: Generator) -> TabularPOMDP:
        """A model drawn with a state, which is its start: a hyper-state by its weight, then rows from its counts."""
        generator(f"{type(self).__name__}.sample_pomdp", rng)
        i = pick(self.hyper.weight, rng)
        s = pick(self.model_prior.start, rng) if self._fresh else int(self.hyper.state[i])
        point = np.zeros(self.n_states)
        point[s] = 1.0
        return self.model_prior.drawn(*self.counts_of(i), rng, point)

    def hyper_states(self) -> list[tuple[float, int, Floats, Floats]]:
        """The mixture as (weight, s, phi, psi), where phi[s, a, s'] and psi[s', a, o] are counts.

        Known rows hold probabilities. Counts of outcomes with the same next state are added up.
        """
        listed, o, observed = [], self.model_prior.outcomes, self.model_prior.observed
        for i in np.flatnonzero(self.hyper.weight).tolist():
            phi, psi = self.counts_of(i)
            dense = (
                tabled(o.succ, phi[o.group], self.n_states),
                tabled(observed.observation, psi[observed.group], self.n_observations),
            )
            w, s = float(self.hyper.weight[i]), int(self.hyper.state[i])
            first: Mapping[int, float] = {s: 1.0} if s != FRESH else dict(enumerate(self.model_prior.start.tolist()))
            listed += [(w * p, s, *dense) for s, p in first.items() if p > 0.0]
        return listed

    def counts_of(self, i: int) -> tuple[Floats, Floats]:
        """The counts of hyper-state i by groups: phi (G, K) and psi (H, L)."""
        G, W = len(self.model_prior.phi), self.rows.alpha.shape[1]
        own = slice(self.hyper.first[i], self.hyper.first[i + 1])
        if own.start == own.stop:
            return self.model_prior.phi, self.model_prior.psi
        phi, psi = np.array(self.model_prior.phi), np.array(self.model_prior.psi)
        row, k = np.divmod(self.hyper.cell[own], W)
        moves = row < G
        phi[row[moves], k[moves]] += self.hyper.times[own][moves]
        psi[row[~moves] - G - 1, k[~moves]] += self.hyper.times[own][~moves]
        return phi, psi

    def simulate(self, depth: int) -> HyperUrn:
        """The belief for compiled searches, which draw a hyper-state at the root and outcomes from its urns."""
        integer(f"{type(self).__name__}.simulate", "depth", depth, 0, DEEPEST)
        h = self.hyper
        return hyper_urn(self._urns, h.weight, h.state, h.first, h.cell, h.times, self.rows.bound, depth)

    @cached_property
    def _urns(self) -> Priors:
        """The priors that the urns of this belief and of all its posteriors share."""
        m = self.rows
        made = priors(m.start, m.succ, m.move, m.observation, m.show, m.alpha, m.size, m.learnt, m.reward, m.terminal)
        return all_frozen(made)

    def compiled_hyper_states(self) -> tuple[Rows, HyperStates]:
        """The mixture as compiled searches read it (`hyper_states.py`)."""
        return self.rows, self.hyper


def pick(p: Floats, rng: Generator) -> int:
    """An index, with probability proportional to p."""
    below = np.cumsum(p)
    return int(np.searchsorted(below, rng.random() * below[-1], side="right"))


def tabled(target: Ints, rows: Floats, n: int) -> Floats:
    """Entries (S, A, K) added up by their targets, (S, A, n)."""
    S, A, K = target.shape
    cells = np.repeat(np.arange(S * A) * n, K) + target.ravel()
    return np.asarray(np.bincount(cells, rows.ravel(), S * A * n), np.float64).reshape(S, A, n)


def example_prior() -> DirichletPOMDP:
    """Two states, and an end. Looking has one unknown accuracy in both states; trying ends with another probability.

    All kinds of rows are in it: looking stays for certain, trying is tied, and what is seen after trying is known. The
    number of hyper-states grows linearly with the number of steps.
    """
    succ = np.array([[[0, 0], [1, 2]], [[1, 0], [0, 2]], [[2, 0], [2, 2]]])
    observation = np.array([[[0, 1], [0, 1]], [[1, 0], [0, 1]], [[0, 1], [0, 1]]])
    group, start, ends = np.array([[0, 1]] * 3), np.array([0.8, 0.2, 0.0]), np.array([False, False, True])
    outcomes = Outcomes(succ, np.zeros((3, 2, 2)), group, np.array([1, 2]), np.zeros(1), start, ends)
    paid = np.array([[-1.0, 2.0], [-1.0, -2.0], [0.0, 0.0]])
    phi, psi = np.array([[1.0, 0.0], [2.0, 1.0]]), np.array([[2.5, 1.0], [0.5, 0.5]])
    observed = ObservationOutcomes(observation, group, np.array([2, 2]), 2)
    return DirichletPOMDP(outcomes, phi, observed, psi, paid, 0.9, [True, False], [False, True])
