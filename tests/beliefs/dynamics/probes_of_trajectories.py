"""A probe of beliefs about hidden trajectories."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs.dynamics._trajectories import Walk
from bayesrl.beliefs.dynamics.gp_pomdp import GPPOMDP
from bayesrl.checks import Floats
from bayesrl.core import Transition
from bayesrl.testing import probe_for


class Trajectory:
    """A particle that goes on by itself: its functions are drawn as they are needed."""

    def __init__(self, belief: GPPOMDP, rng: Generator, room: int = 100) -> None:
        chosen = rng.choice(belief.particles, 1, p=belief._weights)
        self.walk = Walk(belief._model, belief.history, belief.sample, chosen, room)
        self.seen: Floats | None = None
        if not belief.history.running:
            self.walk.begin(rng.standard_normal((1, len(belief._model.start))))
            self.seen = self.look(rng)

    def look(self, rng: Generator) -> Floats:
        """An observation of the present state."""
        mean, sd = self.walk.sensed()
        z = np.asarray(mean[0] + sd[0] * rng.standard_normal(mean.shape[1]))
        self.walk.observe(z)
        return z

    def step(self, rng: Generator) -> Transition:
        """A step with a random action."""
        action, before = rng.integers(-1, 2, size=1).astype(np.float64), self.seen
        reward = self.paid(action, rng) if self.walk.model.learns_reward else None
        self.walk.step(action, rng.standard_normal(self.walk.state.shape), reward=reward)
        self.seen = self.look(rng)
        return Transition(before, action, reward or 0.0, self.seen)

    def paid(self, action: Floats, rng: Generator) -> float:
        """The learned reward of an action now."""
        mean, sd = self.walk.paid(action)
        return float(mean[0] + sd[0] * rng.standard_normal())


class TrajectoryProbe:
    """For hidden trajectories: the truth moves, and a datum is its next step. The quantities are the state now.

    Its own tests check calibration and the martingale, with more particles.
    """

    approximate = moving = True
    data = 4

    def draw(self, belief: GPPOMDP, rng: Generator) -> Trajectory:
        return Trajectory(belief, rng)

    def datum(self, belief: GPPOMDP, theta: Trajectory, rng: Generator) -> Transition:
        return theta.step(rng)

    def read(self, belief: GPPOMDP, theta: Trajectory) -> Floats:
        return np.array(theta.walk.state[0])

    def expect(self, belief: GPPOMDP) -> Floats:
        return belief.state_moments()[0]


probe_for.register(GPPOMDP, lambda belief: TrajectoryProbe())
