"""The common parts of all agents of this chapter: act by a policy, gather a batch of paths, improve the policy.

The mind holds the present policy and the paths of the batch so far. Scores are computed when an episode ends, under the
policy that acted. The policy is that suggested for the world unless it is given.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import KW_ONLY
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesrl.checks import Floats
from bayesrl.core import Decision, Transition
from bayesrl.errors import InvalidArgument
from bayesrl.gradient import _settings as declares
from bayesrl.gradient._improve import Improved, LineSearch, ParametricPolicy
from bayesrl.gradient._paths import Path, demand_policy, path_of
from bayesrl.gradient.bayesian_gradient import Gradient
from bayesrl.gradient.fisher import RunningInformation, Unit, information
from bayesrl.parameters import shared
from bayesrl.problems import may_end


class Learning(NamedTuple):
    """The mind of a policy-gradient agent."""

    policy: ParametricPolicy
    paths: tuple[Path, ...] = ()
    """The finished episodes of this batch."""
    episode: tuple[Transition, ...] = ()
    """The episode under way."""
    information: RunningInformation = RunningInformation()
    updates: int = 0
    gradient: Gradient | None = None
    """The last estimate."""
    search: LineSearch | None = None
    stopped: bool = False
    """Whether the policy stays as it is from now on."""


@shared
class PolicyGradient(ABC):
    """An agent that improves a policy after every batch of episodes."""

    _: KW_ONLY
    gamma: declares.Gamma = 1.0
    updates: declares.Updates = None
    tolerance: declares.Tolerance = 0.0
    policy: declares.Policy = None

    bootstraps: ClassVar[bool] = False
    """Whether an episode that is cut off goes on in the agent's model."""

    def __post_init__(self) -> None:
        check_policy(type(self).__name__, self.policy)

    @property
    @abstractmethod
    def batch_size(self) -> int:
        """Episodes of an update."""

    @property
    @abstractmethod
    def fisher(self) -> tuple[Unit, float, float]:
        """How the information is estimated: its unit, the discount of steps, and the weight that old estimates keep."""

    @abstractmethod
    def _improve(self, mind: Learning, paths: tuple[Path, ...], G: Floats) -> Improved:
        """The gradient from a batch of paths, and the policy that follows."""

    def start(self) -> Learning:
        """The given policy, before any episode."""
        return Learning(self._given_policy())

    def _given_policy(self) -> ParametricPolicy:
        policy: ParametricPolicy | None = self.policy
        if policy is None:
            hint = "For a world that has one, agent_for(method, world) gives it."
            raise InvalidArgument(type(self).__name__, "policy", "given", None, hint)
        return policy

    def check_world(self, world: object, horizon: int | None) -> None:
        """Refuse a world without ends whose episodes are not cut off, or whose values would be infinite."""
        self._given_policy()
        if may_end(world):
            return
        owner = type(self).__name__
        if self.gamma == 1.0 and (self.bootstraps or horizon is None):
            raise InvalidArgument(owner, "gamma", "less than 1 where episodes do not end", self.gamma)
        if horizon is None:
            hint = "The policy is improved at the ends of episodes."
            raise InvalidArgument(owner, "horizon", "given where episodes do not end", horizon, hint)

    def act(self, mind: Learning, observation: Any, rng: Generator) -> Decision:
        """Draw an action from the present policy."""
        return Decision(mind.policy.sample(observation, rng), mind, {"updates": mind.updates})

    def learn(self, mind: Learning, transition: Transition, rng: Generator) -> Learning:
        """Keep the transition; at the end of a batch of episodes, improve the policy."""
        if mind.stopped:
            return mind
        steps = (*mind.episode, transition)
        if not transition.ends_episode:
            return mind._replace(episode=steps)
        paths = (*mind.paths, path_of(type(self).__name__, steps, mind.policy))
        if len(paths) < self.batch_size:
            return mind._replace(paths=paths, episode=())
        unit, gamma, decay = self.fisher
        known = mind.information.after(information(paths, mind.policy, unit, gamma), decay)
        policy, gradient, search = self._improve(mind, paths, known.mean)
        small = float(np.linalg.norm(gradient.mean)) < self.tolerance
        done = mind.updates + 1
        return Learning(
            policy=mind.policy if small else policy,
            information=known,
            updates=done,
            gradient=gradient,
            search=search,
            stopped=small or (self.updates is not None and done >= self.updates),
        )


@shared
class LearnsFromPaths(PolicyGradient):
    """An agent whose estimate takes each path as a whole."""

    paths: declares.Paths = 10
    _: KW_ONLY
    unit: declares.PathUnit = "steps"
    decay: declares.Decay = 0.9

    @property
    def batch_size(self) -> int:
        """M."""
        return self.paths

    @property
    def fisher(self) -> tuple[Unit, float, float]:
        """The information of whole paths, so that steps are not discounted."""
        return self.unit, 1.0, self.decay


@shared
class MonteCarlo(LearnsFromPaths):
    """An agent without error bars: the steps that it takes."""

    _: KW_ONLY
    rate: declares.Rate = 0.02
    direction: declares.Direction = "plain"
    length: declares.PlainLength = "fixed"
    half_life: declares.HalfLife = None


@shared
class LearnsFromPairs(PolicyGradient):
    """An agent with a critic of pairs (s, a)."""

    episodes: declares.Paths = 5
    _: KW_ONLY
    unit: declares.PairUnit = "pairs"
    decay: declares.Decay = 0.9
    gamma: declares.Gamma = 0.99

    bootstraps: ClassVar[bool] = True

    @property
    def batch_size(self) -> int:
        """Episodes of an update."""
        return self.episodes

    @property
    def fisher(self) -> tuple[Unit, float, float]:
        """The information of discounted pairs."""
        return self.unit, self.gamma, self.decay


def check_policy(owner: str, policy: object, *names: str) -> None:
    """Refuse a policy that cannot be improved."""
    if policy is not None:
        demand_policy(owner, policy, "score", "parameters", "with_parameters", *names)


def scores_and_returns(paths: tuple[Path, ...], gamma: float) -> tuple[Floats, Floats]:
    """The scores (M, n) and discounted returns (M,) of paths."""
    return np.array([path.scores.sum(axis=0) for path in paths]), np.array([path.gain(gamma) for path in paths])
