"""Gaussian-process dynamics (Dallaire, Besse, Ross and Chaib-draa 2009; Girard et al. 2003; survey §4.8).

Each coordinate of the next state is a Gaussian process of the state and the action, s'_i = g_i(s, a) + N(0, noise^2).
The processes are independent, and their prior mean is the state itself or zero. The reward is known, or it is one more
process, r = g_R(s, a) + noise. Use it where nobody wrote the dynamics down and data are few: hundreds, not millions.

Where the state is uncertain, s ~ N(mu, S), the next state is not normal. `predict_uncertain` gives its exact first two
moments for Gaussian covariances. Several steps ahead there are two ways, `propagate`: "moments" takes the next state
for normal and goes on with its moments; "samples" draws paths, and each path learns what it has drawn, so that it
follows one function from end to end. (Moments forget that it is the same function at every step.)

Paper to code: eqs of `_gp_moments.py`; the growing Cholesky factor of `observations.py`; `_gp_arrays.py` compiled.
Deviations: hyper-parameters maximise the evidence of each coordinate (`fit`) from several starts. Coordinates with the
same covariance and noise share one factor, which changes no value. Transitions are data whether or not an episode ends.
Cost: O(n^2) for a transition and for a prediction, O(n^2 F) to O(n^3) for moments, for each distinct covariance.
Claims: predictions, evidence and moments equal dense conditioning and quadrature; paths have the law of one function.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from bayesrl.beliefs._problems import own_prior
from bayesrl.beliefs.covariances import Covariance, Gaussian
from bayesrl.beliefs.dynamics._gp_arrays import Processes
from bayesrl.beliefs.dynamics._gp_moments import Group, Share, moments, shares
from bayesrl.beliefs.dynamics._gp_tree import grown
from bayesrl.beliefs.dynamics.gp_paths import (
    Path,
    normal,
    path_of_moments,
    path_of_samples,
    processes,
    sampled_paths,
)
from bayesrl.beliefs.dynamics.vectors import vector
from bayesrl.beliefs.values.gaussian import nonnegative
from bayesrl.beliefs.values.gp_regression import GPRegression
from bayesrl.beliefs.values.observations import Observations, Rows
from bayesrl.checks import Floats, Ints, array, generator, integer, number, returned, sequence
from bayesrl.core import Transition
from bayesrl.errors import Incompatible, InvalidArgument
from bayesrl.parameters import DISCOUNT, unchecked, value
from bayesrl.registry import register
from bayesrl.traits import Traits

WANTED = "a covariance, such as covariances.Gaussian(scale=1.0), or one for each coordinate"


def prior_for(problem: object) -> GPDynamics:
    """The usual prior of a problem that has one of this kind."""
    return own_prior("gp-dynamics", problem, GPDynamics)


@register(
    "gp-dynamics",
    kind="belief",
    survey="4.8",
    paper="dallaire09",
    example=lambda: GPDynamics([Gaussian(scale=1.0), Gaussian(scale=2.0, variance=0.5)], noise=0.3),
    prior_for=prior_for,
    evidence=(
        "tests/beliefs/dynamics/test_gp_dynamics.py::test_equal_to_dense_conditioning",
        "tests/beliefs/dynamics/test_gp_dynamics.py::test_moments_equal_quadrature",
        "tests/beliefs/dynamics/test_gp_dynamics.py::test_paths_follow_one_function",
    ),
)
@value
class GPDynamics:
    """Dynamics with one Gaussian process for each coordinate of the next state, learned from transitions.

    Examples
    --------
    >>> belief = GPDynamics(Gaussian(scale=[2.0, 2.0]), noise=0.05)
    >>> log = [Transition([x], [u], 0.0, [0.9 * x + u]) for x in (-1.0, 0.0, 1.0) for u in (-0.5, 0.0, 0.5)]
    >>> belief = belief.update_many(log)
    >>> mean, variance = belief.predictive([0.5], [0.2])
    >>> mean.round(2).tolist(), variance.round(3).tolist()  # .65
    ([0.65], [0.004])
    >>> mean, covariance, with_input = belief.predict_uncertain([0.5], [[0.04]], [0.2])
    >>> covariance.round(3).tolist(), with_input.round(3).tolist()  # .9^2 * .04 and more; near .9 * .04
    ([[0.035]], [[0.035]])
    """

    covariance: Annotated[Any, "Prior covariance on rows (state, action): one, or one for each coordinate."]
    noise: Annotated[
        Any, "Standard deviation of a coordinate: one number, or one for each; that of a learned reward comes last."
    ] = 0.1
    mean: Annotated[Literal["state", "zero"], "Prior mean of the next state: the state, or zero."] = "state"
    reward: Annotated[
        Any,
        "r(s, a) as a function of states (n, d) and an action (e,), which returns (n,); or the covariance of a process "
        "that learns it; None: not known.",
    ] = None
    gamma: Annotated[float, DISCOUNT, "Discount."] = 0.95
    propagate: Annotated[Literal["moments", "samples"], "How `predict_path` goes on from uncertain states."] = "moments"
    data: tuple[Observations, ...] = field(init=False, default=(), repr=False)
    """The data: one factor for each distinct covariance and noise."""

    traits: ClassVar[Traits] = Traits(grows=("data",))

    def __post_init__(self) -> None:
        alone = isinstance(self.covariance, Covariance)
        covariances = (self.covariance,) if alone else sequence("GPDynamics", "covariance", self.covariance, WANTED)
        if not covariances or not all(isinstance(one, Covariance) for one in covariances):
            raise InvalidArgument("GPDynamics", "covariance", WANTED, self.covariance)
        if self.reward is not None and not callable(self.reward):
            raise InvalidArgument("GPDynamics", "reward", "a function r(states, action) or a covariance", self.reward)
        noise = array("GPDynamics", "noise", self.noise, low=0.0, above=True, moderate=True)
        processes = len(covariances) + self.learns_reward
        if noise.ndim > 1 or (noise.ndim == 1 and (noise.size != processes if not alone else noise.size < processes)):
            expected = "one number, or one for each" + (" coordinate" if alone else f" of {processes} processes")
            raise InvalidArgument("GPDynamics", "noise", expected, self.noise)
        object.__setattr__(self, "covariance", self.covariance if alone else covariances)
        object.__setattr__(self, "noise", float(noise) if noise.ndim == 0 else noise)

    def check_grown(self) -> None:
        """Refuse fields that do not belong together."""
        data = self.data
        fits = isinstance(data, tuple) and all(isinstance(one, Observations) and one.y.ndim == 2 for one in data)
        if fits and data:
            d = unchecked(self, data=()).sizes[0] or self.sizes[0] or 0
            fits = d >= 1 and [len(columns) for _, _, columns in self._shares(d)] == [one.y.shape[1] for one in data]
            fits = fits and len({one.points.shape for one in data}) == 1 and data[0].points.shape[1] > d
        if not fits:
            raise InvalidArgument("GPDynamics", "data", "observations of every coordinate", data)

    # The processes ---------------------------------------------------------------------------------------------------

    @property
    def learns_reward(self) -> bool:
        """Whether the reward is one more process."""
        return isinstance(self.reward, Covariance)

    @property
    def unsupported(self) -> dict[str, str]:
        """The members for which it lacks a reward or Gaussian covariances, with the reason."""
        said = {} if self.is_gaussian else {"grow_tree": "Compiled trees need Gaussian covariances."}
        if self.reward is None:
            said |= dict.fromkeys(("expected_reward", "expected_rewards"), "It was given no reward.")
        return said

    @property
    def sizes(self) -> tuple[int | None, int | None]:
        """Coordinates of a state and of an action; None: not known yet."""
        if self.data:
            d = sum(one.y.shape[1] for one in self.data) - self.learns_reward
            return d, self.data[0].points.shape[1] - d
        if not isinstance(self.covariance, Covariance):
            return len(self.covariance), None
        return (None if np.ndim(self.noise) == 0 else len(self.noise) - self.learns_reward), None

    def _shares(self, d: int) -> list[Share]:
        priors = [self.covariance] * d if isinstance(self.covariance, Covariance) else list(self.covariance)
        return shares([*priors, self.reward] if self.learns_reward else priors, self.noise)

    def groups(self, d: int, dims: int) -> list[Group]:
        """Processes that share a factor, of d coordinates on rows (state, action) of `dims`."""
        made = self._shares(d)
        data = self.data or [Observations(dims, len(columns)) for _, _, columns in made]
        return [Group(k, one, tuple(columns), s) for one, (k, s, columns) in zip(data, made, strict=True)]

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Transition, rng: Generator | None = None) -> GPDynamics:
        """The posterior after a transition."""
        return self._learn("GPDynamics.update", [datum])

    def update_many(self, log: Iterable[Transition], rng: Generator | None = None) -> GPDynamics:
        """The posterior after several transitions, in any order."""
        owner = "GPDynamics.update_many"
        steps = [log] if isinstance(log, Transition) else sequence(owner, "log", log, "transitions")
        return self._learn(owner, steps) if steps else self

    def _learn(self, owner: str, steps: Sequence[Transition]) -> GPDynamics:
        (d, e), S, A, Y = self.sizes, [], [], []
        for step in steps:
            if not isinstance(step, Transition):
                raise InvalidArgument(owner, "datum", "a Transition", step)
            S.append(vector(owner, "observation", step.observation, d))
            A.append(vector(owner, "action", step.action, e))
            d, e = len(S[0]), len(A[0])
            Y.append(vector(owner, "next_observation", step.next_observation, d))
            if self.mean == "state":
                Y[-1] = Y[-1] - S[-1]
            if self.learns_reward:
                Y[-1] = np.append(Y[-1], number(owner, "reward", step.reward, moderate=True))
        return self._with(owner, np.hstack([S, A]), np.array(Y), len(S[0]))

    def _with(self, owner: str, X: Floats, Y: Floats, d: int) -> GPDynamics:
        """The posterior after rows (state, action) and targets of all processes."""
        new = []
        for prior, data, columns, noise in self.groups(d, X.shape[1]):
            n, m = len(data), len(X)
            rows = Rows(np.ones(m), n + np.arange(m), np.arange(m + 1))
            new.append(data.add(owner, prior, X, rows, Y[:, columns], noise**2 * np.eye(m)))
        return unchecked(self, data=tuple(new))

    def log_evidence(self) -> float:
        """Logarithm of the density of the next states, and of the rewards if they are learned."""
        return float(sum(one.log_evidence() for one in self.data))

    def fit(self, rng: Generator, starts: int = 5) -> GPDynamics:
        """The same data under hyper-parameters that maximise the evidence, for each process by itself."""
        if not self.data:
            raise InvalidArgument("GPDynamics.fit", "self", "a belief with data", self)
        d, e = self.sizes
        assert d is not None
        assert e is not None
        X, groups = self.data[0].points, self.groups(d, d + e)
        targets = {p: (one, one.data.y[:, i]) for one in groups for i, p in enumerate(one.columns)}
        fitted = []
        for p in range(len(targets)):
            one, y = targets[p]
            fitted.append(GPRegression(one.prior, one.noise).update_many((X, y)).fit(rng, starts))
        reward = fitted[-1].prior_covariance if self.learns_reward else self.reward
        noise = np.array([one.noise for one in fitted])
        new = GPDynamics(
            [one.prior_covariance for one in fitted[:d]], noise, self.mean, reward, self.gamma, self.propagate
        )
        return new._with("GPDynamics.fit", X, np.column_stack([targets[p][1] for p in range(len(targets))]), d)

    # Predictions -----------------------------------------------------------------------------------------------------

    def predictive(self, state: ArrayLike, action: ArrayLike, latent: bool = False) -> tuple[Floats, Floats]:
        """Means and variances of the next state's coordinates, each (d,); for rows of states (n, d) each (n, d).

        `latent` leaves out the noise: the variances are those of g(s, a).
        """
        owner = "GPDynamics.predictive"
        S, A = self.inputs(owner, state, action)
        mean, variance = self._predicted(owner, S, A, latent)
        d = S.shape[1]
        shape = np.shape(state) if np.ndim(state) == 2 else (d,)
        return (mean[:, :d] + S * (self.mean == "state")).reshape(shape), variance[:, :d].reshape(shape)

    def inputs(self, owner: str, state: ArrayLike, action: ArrayLike) -> tuple[Floats, Floats]:
        """States as rows (n, d), and the action."""
        d, e = self.sizes
        several = np.ndim(np.asarray(state, object)) == 2
        S = (
            array(owner, "state", state, (None, d), moderate=True)
            if several
            else vector(owner, "state", state, d)[None]
        )
        return S, vector(owner, "action", action, e)

    def _predicted(self, owner: str, S: Floats, a: Floats, latent: bool = False) -> tuple[Floats, Floats]:
        """Means, without the prior's, and variances of all processes, each (n, P)."""
        Z = np.hstack([S, np.repeat(a[None], len(S), axis=0)])
        P = S.shape[1] + self.learns_reward
        mean, variance = np.zeros((len(S), P)), np.zeros((len(S), P))
        for prior, data, columns, noise in self.groups(S.shape[1], Z.shape[1]):
            k, U = prior.variances(Z), data.project(prior, Z)
            mean[:, columns] = U.T @ data.w
            left = nonnegative(owner, k - np.sum(U * U, axis=0), k)
            variance[:, columns] = (left if latent else left + noise**2)[:, None]
        return mean, variance

    def draw(self, observation: ArrayLike, action: ArrayLike, rng: Generator, n: int = 1) -> Floats:
        """Next states drawn from the predictive, each under its own function, (n, d)."""
        mean, variance = self.predictive(observation, action)
        z = generator("GPDynamics.draw", rng).standard_normal((integer("GPDynamics.draw", "n", n, 1), len(mean)))
        return np.asarray(mean + np.sqrt(variance) * z)

    def expected_reward(self, observation: ArrayLike, action: ArrayLike) -> float:
        """The reward of an action, known or expected."""
        return float(self.expected_rewards(np.atleast_1d(np.asarray(observation))[None], action)[0])

    def expected_rewards(self, observations: ArrayLike, action: ArrayLike) -> Floats:
        """The same in several states, (n, d): (n,)."""
        owner = "GPDynamics.expected_reward"
        if self.reward is None:
            raise Incompatible(owner, "this one", ["reward"], "Give `reward` to GPDynamics.")
        S, a = self.inputs(owner, observations, action)
        if self.learns_reward:
            return self._predicted(owner, S, a)[0][:, -1]
        return returned(owner, "reward", self.reward, (len(S),), S, a)

    def grow_tree(self, observation: ArrayLike, actions: Floats, width: int, seeds: tuple[Ints, ...]) -> list[Floats]:
        """The observations of each level of a forward search's tree, in which every path learns what it draws."""
        s, a = self.inputs("GPDynamics.grow_tree", observation, actions[0])
        return grown(self.arrays(s.shape[1], len(a), len(seeds)), s[0], actions, width, seeds)

    # Uncertain states ------------------------------------------------------------------------------------------------

    def predict_uncertain(
        self, mean: ArrayLike, covariance: ArrayLike, action: ArrayLike
    ) -> tuple[Floats, Floats, Floats]:
        """Moments of the next state if the state is N(mean, covariance): mean (d,), covariance (d, d), noise included.

        The third is the covariance of the state (rows) with the next state (columns), (d, d).
        """
        owner = "GPDynamics.predict_uncertain"
        self._only_gaussian(owner)
        rows, a = self.inputs(owner, mean, action)
        s, S = normal(owner, rows[0], covariance)
        d, dims = len(s), len(s) + len(a)
        wide = np.zeros((dims, dims))
        wide[:d, :d] = S
        m, V, C = moments(owner, self.groups(d, dims), np.append(s, a), wide, d)
        m, V, C = m[:d], V[:d, :d], C[:, :d]
        if self.mean == "zero":
            return m, V, C
        return m + s, V + S + C + C.T, C + S

    def predict_path(
        self,
        state: ArrayLike,
        actions: ArrayLike,
        covariance: ArrayLike | None = None,
        paths: int = 200,
        rng: Generator | None = None,
    ) -> Path:
        """Where actions (T, e) lead from a state, or from N(state, covariance), by `propagate`; samples need `rng`."""
        if self.propagate == "moments":
            return path_of_moments(self, state, actions, covariance)
        return path_of_samples(sampled_paths(self, state, actions, covariance, paths, rng))

    def sample_paths(
        self,
        state: ArrayLike,
        actions: ArrayLike,
        rng: Generator,
        paths: int = 200,
        covariance: ArrayLike | None = None,
    ) -> Floats:
        """Paths drawn from a state, or from N(state, covariance), each under one function: (paths, T + 1, d)."""
        return sampled_paths(self, state, actions, covariance, paths, rng)

    def arrays(self, d: int, e: int, room: int) -> Processes:
        """A copy for compiled code, with room for more data, about states of d and actions of e coordinates."""
        self._only_gaussian("GPDynamics.arrays")
        return processes(self.groups(d, d + e), d + e, room, self.mean == "state")

    @property
    def is_gaussian(self) -> bool:
        """Whether all covariances are Gaussian, so that moments are closed and the belief has `arrays`."""
        return all(isinstance(prior, Gaussian) for prior, _, _ in self._shares(self.sizes[0] or 1))

    def _only_gaussian(self, owner: str) -> None:
        if not self.is_gaussian:
            hint = 'Samples work with every covariance: propagate="samples", or sample_paths.'
            raise Incompatible(owner, "this one", ["expectation"], hint, "covariance")
