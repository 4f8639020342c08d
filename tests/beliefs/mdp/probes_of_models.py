"""Probes of beliefs about the models of finite MDPs."""

from __future__ import annotations

from typing import Any

import numpy as np
from draws import one_of
from numpy.random import Generator

from bayesrl.beliefs.mdp.dirichlet_mdp import DirichletMDP
from bayesrl.beliefs.mdp.dirichlet_mixture import DirichletMixture
from bayesrl.beliefs.mdp.sparse_dirichlet import SparseDirichletMDP
from bayesrl.beliefs.mdp.unknown_rewards import UnknownRewards
from bayesrl.checks import Floats
from bayesrl.core import Transition
from bayesrl.testing import probe_for


class DirichletProbe:
    """Truths are models; data are transitions from random state-action pairs; quantities are probabilities."""

    def draw(self, belief: DirichletMDP, rng: Generator) -> Any:
        return belief.sample_mdp(rng)

    def datum(self, belief: DirichletMDP, theta: Any, rng: Generator) -> Transition:
        s, a, k = self.outcome(belief, theta.prob, rng)
        o = belief.outcomes
        return Transition(s, a, float(o.reward[s, a, k]), int(o.succ[s, a, k]))

    def outcome(self, belief: DirichletMDP, prob: Floats, rng: Generator) -> tuple[int, int, int]:
        """A random pair (s, a) that is not terminal, and an outcome of it."""
        o = belief.outcomes
        open_states = np.flatnonzero(~o.terminal)
        s = int(open_states[rng.integers(len(open_states))])
        a = int(rng.integers(o.n_actions))
        return s, a, one_of(prob[o.group[s, a]], rng)

    def read(self, belief: DirichletMDP, theta: Any) -> Floats:
        return np.asarray(theta.prob[belief.outcomes.valid])

    def expect(self, belief: DirichletMDP) -> Floats:
        return np.asarray(belief.mean_mdp().prob[belief.outcomes.valid])


class SparseProbe:
    """The same, and what a drawn row says about its total count: those seen, and alpha for each possible outcome."""

    draw, datum, outcome = DirichletProbe.draw, DirichletProbe.datum, DirichletProbe.outcome
    read, expect = DirichletProbe.read, DirichletProbe.expect

    def counts(self, belief: SparseDirichletMDP, rows: Floats) -> Floats:
        """The total count of each group, (G,), if these rows (G, K) have been drawn."""
        return np.asarray(belief.seen_counts.sum(axis=1) + belief.concentration * (rows > 0.0).sum(axis=1))


class UnknownRewardsProbe:
    """Truths are pairs: probabilities, and the reward belief's own truth."""

    def draw(self, belief: UnknownRewards, rng: Generator) -> Any:
        return belief.transitions.sample_mdp(rng), probe_for(belief.rewards).draw(belief.rewards, rng)

    def datum(self, belief: UnknownRewards, theta: Any, rng: Generator) -> Transition:
        s, a, k = DirichletProbe().outcome(belief.transitions, theta[0].prob, rng)
        probe: Any = probe_for(belief.rewards)
        r = probe.paid(belief.rewards, theta[1], belief.cell(s, a, k), rng)
        return Transition(s, a, r, int(belief.outcomes.succ[s, a, k]))

    def read(self, belief: UnknownRewards, theta: Any) -> Floats:
        inner = probe_for(belief.rewards)
        first = DirichletProbe().read(belief.transitions, theta[0])
        return np.concatenate([first, inner.read(belief.rewards, theta[1])])

    def expect(self, belief: UnknownRewards) -> Floats:
        inner = probe_for(belief.rewards)
        return np.concatenate([DirichletProbe().expect(belief.transitions), inner.expect(belief.rewards)])


probe_for.register(DirichletMDP, lambda belief: DirichletProbe())
probe_for.register(DirichletMixture, lambda belief: DirichletProbe())
probe_for.register(SparseDirichletMDP, lambda belief: SparseProbe())
probe_for.register(UnknownRewards, lambda belief: UnknownRewardsProbe())
