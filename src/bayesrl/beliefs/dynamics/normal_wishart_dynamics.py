"""Dynamics with noise of unknown mean and covariance (Ross, Chaib-draa, Pineau 2008; survey §4.8).

The next state is s' = g_T(s, a, v) and the observation z = g_O(s', a, w). The functions are known; the noises v and w
are normal, and their means and covariances are unknown: a drift, a bias of the sensor, and how far both can be trusted.
Use it where the physics is known and the noise is not.

State seen: v = `inverse`(s, a, s') is a datum of its Normal-Wishart belief. The update is exact and uses no rng.
State hidden: particles hold a state and the statistics of v and w (Rao-Blackwellised). `update`, for each particle:
1. draw v from its Student predictive, set s' = g_T(s, a, v), and add v to the statistics (`drawn`);
2. solve z = g_O(s', a, w) for w, multiply the weight by the predictive density of w times |dw/dz|, and add w to the
   statistics (`density`);
3. resample systematically if the effective number of particles is below `resample` times their number.
The evidence is the product of the mean weights. A missing observation (None) skips 2. `restart` keeps the statistics,
and the next update draws new states from the start.

Evidence: the next observation only. The observation before a step, the reward and the ends of episodes are not used.
Deviations: the papers' resampling is not known to us; ours is systematic, at half the effective number. No covariance
is ever sampled. Parameters that live in particles lose their ancestors in long runs: `ancestors` counts those left.
Cost: O(N d^3) for an update. Claims: equal to conjugate formulas if the state is seen; moments and evidence of the
hidden form equal a Kalman filter on a grid of both precisions, with an error of N^-1/2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import field
from typing import Annotated, Any, cast

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs._problems import own_prior
from bayesrl.beliefs.dynamics._particles import (
    Noise,
    Sample,
    add,
    check_inverse,
    density,
    drawn,
    noise_of,
    normal_points,
    pick,
    remove,
    rows_of,
    solved,
    start_of,
    started,
    systematic,
)
from bayesrl.beliefs.dynamics.normal_wishart import NormalWishart, repeated
from bayesrl.beliefs.dynamics.vectors import vector
from bayesrl.beliefs.log import Log, transitions
from bayesrl.checks import Floats, array, called, frozen, generator, integer
from bayesrl.core import Transition
from bayesrl.errors import ImpossibleEvidence, Incompatible, InvalidArgument
from bayesrl.parameters import DISCOUNT, PROBABILITY, AtLeast, unchecked, value
from bayesrl.registry import register

OWNER = "NormalWishartDynamics"


def prior_for(problem: object) -> NormalWishartDynamics:
    """The usual prior of a problem that has one of this kind."""
    return own_prior("normal-wishart-dynamics", problem, NormalWishartDynamics)


@register(
    "normal-wishart-dynamics",
    kind="belief",
    survey="4.8",
    paper="ross08icra",
    example=lambda: NormalWishartDynamics(
        add, NormalWishart(np.array([0.3, 0.0]), 2.0, 6.0, np.eye(2)), inverse=remove
    ),
    prior_for=prior_for,
    reading="The survey; the papers' resampling is not known to us, and ours is systematic.",
    evidence=(
        "tests/beliefs/dynamics/test_normal_wishart_dynamics.py::test_hidden_system_equals_a_kalman_filter_on_a_grid",
        "tests/beliefs/dynamics/test_normal_wishart_dynamics.py::test_seen_states_are_conjugate",
        "tests/beliefs/test_laws.py::test_belief_laws",
    ),
)
@value
class NormalWishartDynamics:
    """Known dynamics and sensor with normal noises of unknown mean and covariance; states are seen, or hidden.

    The functions take rows of states and noises, (n, d), and one action, (e,); `inverse_observation` takes one
    observation, (d,).

    Examples
    --------
    >>> import bayesrl as b
    >>> noise = b.beliefs.NormalWishart(0.0, strength=1.0, degrees=4.0, scatter=1.0)
    >>> belief = NormalWishartDynamics(lambda s, a, v: s + a + v, noise, inverse=lambda s, a, y: y - s - a)
    >>> drift, covariance = belief.update(b.Transition(0.0, 1.0, 0.0, 1.5)).noise_moments()
    >>> drift.tolist(), covariance.tolist()
    ([0.25], [[0.375]])
    """

    transition: Annotated[Callable[..., Any], "The next states g_T(s, a, v), (n, d)."]
    noise: Annotated[
        Noise | float, "Belief about v; or the covariance matrix of a known v, or the deviation of its coordinates."
    ]
    inverse: Annotated[Callable[..., Any] | None, "v of (s, a, s'), (n, d); needed if states are seen."] = None
    observation: Annotated[Callable[..., Any] | None, "Observations g_O(s, a, w), (n, d); needed by `draw`."] = None
    inverse_observation: Annotated[
        Callable[..., Any] | None, "w, (n, d), and log |dw/dz|, (n,), of (s, a, z); needed if states are hidden."
    ] = None
    sensor: Annotated[Noise | float | None, "The same as `noise` for w; None: states are seen."] = None
    state: Annotated[tuple[Any, Any] | None, "Mean and covariance of the first state; needed if it is hidden."] = None
    particles: Annotated[int, AtLeast(1), "Particles, N."] = 1000
    reward: Annotated[Callable[..., Any] | None, "Rewards r(s, a), (n,), for planners."] = None
    gamma: Annotated[float, DISCOUNT, "Discount."] = 0.95
    resample: Annotated[float, PROBABILITY, "Share of N below which the effective number leads to resampling."] = 0.5
    sample: Sample | None = field(init=False, repr=False)
    """None before the first update, and if states are seen."""
    sizes: tuple[int, int] = field(init=False, repr=False)
    """Lengths of actions and of observations; 0 before the first update."""
    log_probability: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("transition", "inverse", "observation", "inverse_observation", "reward"):
            given = getattr(self, name)
            if not callable(given) and (given is not None or name == "transition"):
                raise InvalidArgument(OWNER, name, "a function of rows", given)
        needed = "inverse_observation" if self.hidden else "inverse"
        if getattr(self, needed) is None:
            raise InvalidArgument(OWNER, needed, f"given, since states are {'hidden' if self.hidden else 'seen'}", None)
        fields: dict[str, Any] = {"sample": None, "sizes": (0, 0), "log_probability": 0.0}
        d = 1
        if self.hidden:
            fields["state"] = start_of(OWNER, self.state)
            d = len(fields["state"][0])
            fields["sensor"] = noise_of(OWNER, "sensor", self.sensor, d)
        fields["noise"] = noise_of(OWNER, "noise", self.noise, d)
        for name, new in fields.items():
            object.__setattr__(self, name, new)

    @property
    def hidden(self) -> bool:
        """Whether states are hidden."""
        return self.sensor is not None

    @property
    def _start(self) -> tuple[Floats, Floats]:
        return cast(tuple[Floats, Floats], self.state)

    @property
    def unsupported(self) -> dict[str, str]:
        """The members that this belief does not allow, with the reason."""
        asked = ("expected_reward", "expected_rewards") if self.reward is None else ()
        missing = dict.fromkeys(asked, "It was given no 'reward'.")
        if self.hidden:
            missing.setdefault("expected_rewards", "Its states are hidden.")
        if not self.hidden:
            named = ("state_moments", "sensor_moments", "sample_sensor", "effective", "ancestors", "thinned")
            missing |= dict.fromkeys(named, "Its states are seen.")
        elif self.observation is None:
            missing["draw"] = "It was given no 'observation'."
        return missing

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Transition, rng: Generator | None = None) -> NormalWishartDynamics:
        """The posterior after a transition. An observation that is None is missing."""
        owner = f"{OWNER}.update"
        a = vector(owner, "action", datum.action, self.sizes[0] or None)
        y = datum.next_observation
        z = None if y is None else vector(owner, "next_observation", y, self.sizes[1] or None)
        if self.hidden:
            return self._filtered(a, z, generator(owner, rng))
        if z is None or datum.observation is None:
            return self
        s = vector(owner, "observation", datum.observation, len(z))[None]
        found = called(OWNER, "inverse", self.inverse, s, a, z[None])
        v, log_jacobian = solved(OWNER, "inverse", found, cast(Noise, self.noise), 1)
        if self.sizes[1] == 0:
            check_inverse(OWNER, "inverse", self._rows("transition", (1, len(z)), s, a, v), z)
        log_p, sizes = self.log_probability + float(log_jacobian[0]), (len(a), len(z))
        if not isinstance(self.noise, NormalWishart):
            log_p += float(density(self._sample().noise, v)[0][0])
            return unchecked(self, sizes=sizes, log_probability=log_p)
        new = self.noise.update(v[0])
        log_p += new.log_evidence() - self.noise.log_evidence()
        return unchecked(self, noise=new, sizes=sizes, log_probability=log_p)

    def update_many(self, log: Log, rng: Generator | None = None) -> NormalWishartDynamics:
        """The posterior after a log of transitions. It restarts after each end of an episode, as an agent does."""
        new = self
        for datum in transitions(f"{OWNER}.update_many", log, "observation", "action", "next_observation"):
            new = new.update(datum, rng)
            new = new.restart() if datum.ends_episode else new
        return new

    def restart(self) -> NormalWishartDynamics:
        """The belief at the start of a new episode: the state is that of the start, the statistics are kept."""
        return self if self.sample is None else unchecked(self, sample=self.sample._replace(states=None))

    def _filtered(self, a: Floats, z: Floats | None, rng: Generator) -> NormalWishartDynamics:
        """One step of the particle filter."""
        old, sizes, log_p = self._sample(), (len(a), self.sizes[1]), 0.0
        n = len(old.weights)
        s = started(self._start, n, rng) if old.states is None else old.states
        v, noise = drawn(old.noise, n, rng)
        s = self._rows("transition", s.shape, s, a, v)
        new = Sample(frozen(s), old.weights, noise, old.sensor, old.origin)
        if z is not None:
            w, log_jacobian = self._sensed(s, a, z)
            log_density, sensor = density(old.sensor, w)
            with np.errstate(divide="ignore", invalid="ignore"):
                log_w = np.log(old.weights) + log_density + log_jacobian
            log_w[np.isnan(log_w)] = -np.inf  # so far away that the density cannot be computed
            top = float(log_w.max())
            if top == -np.inf:
                raise ImpossibleEvidence(OWNER, f"observation {z.tolist()}", f"it is so under each of {n} particles")
            weights = np.exp(log_w - top)
            total = float(weights.sum())
            sizes, log_p = (len(a), len(z)), top + math.log(total)
            new = new._replace(weights=frozen(weights / total), sensor=sensor)
        if new.weights @ new.weights * n * self.resample > 1.0:
            new = new.chosen(systematic(new.weights, n, rng))
        return unchecked(self, sample=new, sizes=sizes, log_probability=self.log_probability + log_p)

    def _sensed(self, s: Floats, a: Floats, z: Floats) -> tuple[Floats, Floats]:
        """The noise w that explains z in each state, (n, d), and log |dw/dz|, (n,)."""
        name = "inverse_observation"
        found = called(OWNER, name, self.inverse_observation, s, a, z)
        w, log_jacobian = solved(OWNER, name, found, cast(Noise, self.sensor), len(s), pair=True)
        if self.sizes[1] == 0 and self.observation is not None and log_jacobian.max() > -np.inf:
            one = [int(np.argmax(log_jacobian))]
            check_inverse(OWNER, name, self._rows("observation", (1, None), s[one], a, w[one]), z)
        return w, log_jacobian

    def _sample(self) -> Sample:
        """The particles. At the prior all are alike; if states are seen, one holds the statistics of v."""
        if self.sample is not None:
            return self.sample
        n = self.particles if self.hidden else 1
        noise, sensor = (repeated(x, n) if isinstance(x, NormalWishart) else x for x in (self.noise, self.sensor))
        return Sample(None, frozen(np.full(n, 1.0 / n)), cast(Any, noise), cast(Any, sensor), frozen(np.arange(n)))

    def _rows(self, name: str, shape: tuple[int | None, ...], *given: Floats) -> Floats:
        """The result of one of the functions, of this shape."""
        return rows_of(OWNER, name, called(OWNER, name, getattr(self, name), *given), shape)

    # Questions -------------------------------------------------------------------------------------------------------

    def log_evidence(self) -> float:
        """The log density of the observations, an estimate if states are hidden.

        If states are seen, it is the density of v; `inverse` may give a pair, v and log |dv/ds'|, for that of states.
        """
        return self.log_probability

    def state_moments(self) -> tuple[Floats, Floats]:
        """Mean, (d,), and covariance, (d, d), of the hidden state."""
        sample = self._particles()
        if sample.states is None:
            return self._start
        s, p = sample.states, sample.weights
        mean = p @ s
        return mean, (s - mean).T @ ((s - mean) * p[:, None])

    def noise_moments(self) -> tuple[Floats, Floats]:
        """Expected mean, (d,), and expected covariance, (d, d), of v."""
        sample = self._sample()
        return sample.moments(f"{OWNER}.noise_moments", sample.noise)

    def sensor_moments(self) -> tuple[Floats, Floats]:
        """Expected mean, (d,), and expected covariance, (d, d), of w."""
        sample = self._particles()
        return sample.moments(f"{OWNER}.sensor_moments", sample.sensor)

    def sample_noise(self, rng: Generator) -> tuple[Floats, Floats]:
        """A mean, (d,), and a precision, (d, d), of v, drawn from the belief."""
        rng = generator(f"{OWNER}.sample_noise", rng)
        if self.sample is None and isinstance(self.noise, NormalWishart):
            return self.noise.sample(rng)
        return self._sample().model(self._sample().noise, rng)

    def sample_sensor(self, rng: Generator) -> tuple[Floats, Floats]:
        """A mean, (d,), and a precision, (d, d), of w, drawn from the belief."""
        sample = self._particles()
        return sample.model(sample.sensor, generator(f"{OWNER}.sample_sensor", rng))

    @property
    def effective(self) -> float:
        """The effective number of particles, 1 / sum of squared weights."""
        p = self._particles().weights
        return float(1.0 / (p @ p))

    @property
    def ancestors(self) -> int:
        """How many particles of the prior have descendants. Where few are left, moments of the noises are poor."""
        return len(np.unique(self._particles().origin))

    def _particles(self) -> Sample:
        """The particles; an error if states are seen."""
        if not self.hidden:
            raise InvalidArgument(OWNER, "sensor", "given for this question: states are seen", None)
        return self._sample()

    # Planning --------------------------------------------------------------------------------------------------------

    def draw(self, observation: Any, action: Any, rng: Generator, n: int = 1) -> Floats:
        """Next observations drawn from the predictive distribution, each under its own model, (n, d).

        If states are hidden, the observation is not used.
        """
        owner = f"{OWNER}.draw"
        rng, n = generator(owner, rng), integer(owner, "n", n, 1)
        a = vector(owner, "action", action, self.sizes[0] or None)
        sample = self._sample()
        some = sample.chosen(pick(sample.weights, n, rng))
        if not self.hidden:
            s = np.repeat(vector(owner, "observation", observation, self.sizes[1] or None)[None], n, axis=0)
        else:
            s = started(self._start, n, rng) if some.states is None else some.states
        s = self._rows("transition", s.shape, s, a, drawn(some.noise, n, rng)[0])
        if not self.hidden:
            return s
        return self._rows("observation", (n, self.sizes[1] or None), s, a, drawn(some.sensor, n, rng)[0])

    def expected_reward(self, observation: Any, action: Any) -> float:
        """The expected reward of an action now.

        If states are hidden, it is averaged over the particles; at the start of an episode over points of a
        Gauss-Hermite rule.
        """
        owner = f"{OWNER}.expected_reward"
        if self.reward is None:
            raise Incompatible(owner, OWNER, ["reward"])
        a = vector(owner, "action", action, self.sizes[0] or None)
        if not self.hidden:
            s, p = vector(owner, "observation", observation, self.sizes[1] or None)[None], np.ones(1)
        elif self.sample is None or self.sample.states is None:
            s, p = normal_points(*self._start)
        else:
            s, p = self.sample.states, self.sample.weights
        return float(p @ self._rows("reward", (len(s),), s, a))

    def expected_rewards(self, observations: Any, action: Any) -> Floats:
        """The reward of an action in several states that are seen, (n, d): (n,)."""
        owner = f"{OWNER}.expected_rewards"
        if "expected_rewards" in self.unsupported:
            raise Incompatible(owner, OWNER, ["reward"], self.unsupported["expected_rewards"])
        s = array(owner, "observations", observations, (None, self.sizes[1] or None), moderate=True)
        return self._rows("reward", (len(s),), s, vector(owner, "action", action, self.sizes[0] or None))

    def thinned(self, particles: int, rng: Generator) -> NormalWishartDynamics:
        """The same belief with at most this many particles, drawn by their weights."""
        n, rng = integer(f"{OWNER}.thinned", "particles", particles, 1), generator(f"{OWNER}.thinned", rng)
        if not self.hidden or n >= self.particles:
            return self
        few = None if self.sample is None else self.sample.chosen(systematic(self.sample.weights, n, rng))
        return unchecked(self, particles=n, sample=few)
