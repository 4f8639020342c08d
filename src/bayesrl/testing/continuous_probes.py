"""What the laws must know of beliefs about continuous dynamics; `bayesrl.testing` registers these when imported."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs.continuous.gp_dynamics import GPDynamics
from bayesrl.checks import Floats
from bayesrl.core import Transition
from bayesrl.testing.probes import Probe, probe_for


class GPDynamicsProbe:
    """A truth is what follows three pairs of a state (two coordinates) and an action. Data start at these pairs."""

    states = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, -1.0]])
    actions = np.array([[0.0], [1.0], [-1.0]])

    def draw(self, belief: GPDynamics, rng: Generator) -> Floats:  # noqa: D102
        Z = np.hstack([self.states, self.actions])
        drawn = np.zeros((3, 2)) if belief.mean == "zero" else self.states.copy()
        for prior, data, columns, _ in belief.groups(2, 3):
            U = data.project(prior, Z)
            root = np.linalg.cholesky(prior.matrix(Z, Z) - U.T @ U + 1e-12 * np.eye(3))
            drawn[:, columns] += U.T @ data.w + root @ rng.standard_normal((3, len(columns)))
        return drawn

    def datum(self, belief: GPDynamics, theta: Floats, rng: Generator) -> Transition:  # noqa: D102
        i = int(rng.integers(3))
        return Transition(self.states[i], self.actions[i], 0.0, rng.normal(theta[i], belief.noise))

    def read(self, belief: GPDynamics, theta: Floats) -> Floats:  # noqa: D102
        return theta.ravel()

    def expect(self, belief: GPDynamics) -> Floats:  # noqa: D102
        return np.concatenate([belief.predictive(s, a)[0] for s, a in zip(self.states, self.actions, strict=True)])


PROBES: dict[type, Probe] = {GPDynamics: GPDynamicsProbe()}
for kind, probe in PROBES.items():
    probe_for.register(kind, lambda belief, probe=probe: probe)
