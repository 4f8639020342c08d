"""Bayesian actor-critic (Ghavamzadeh and Engel 2007; survey §5.3).

The critic is GPTD on pairs z = (s, a) with prior covariance k = k_s + k_F, where k_F = u(z)'G^-1u(z') and G is the
information under the unnormalised discounted weighting of pairs (ERRATA 32). The gradient is the integral of
g(z) Q(z), with g that weighting times the score, so it is Gaussian too. Its integrals are closed: that of g k(., z_t)
is the score u(z_t), and the double integral is G. With U the scores of the visited pairs

    mean U alpha,   covariance G - U C U',   natural gradient G^-1 U alpha,

where alpha = H'(H K H' + Sigma)^-1 r and C = H'(H K H' + Sigma)^-1 H. With the engine's factor L this is
Q = L^-1 H U', mean Q'w, covariance G - Q'Q. In whitened scores the natural gradient is the posterior mean of the
weights of u.

Choices: the last reward of a truncated episode has no successor pair and is left out. A threshold gives sparse GPTD on
a dictionary of pairs. It must be small beside the prior variance of scores, u'G^-1u, which is rank G / T on average in
episodes of T steps; otherwise pairs that differ in their actions alone are not told apart, and the gradient is lost. A
part of a score outside the range of G is left out. Cost: O(N^3) for N transitions, O(m^2 N) with m pairs in the
dictionary. Claims: the two integrals; squared error below REINFORCE's; calibrated.
"""

from collections.abc import Iterable
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import block_diag, solve_triangular

from bayesrl.beliefs.covariances import Covariance, Discrete, Linear
from bayesrl.beliefs.values.dictionary import Dictionary
from bayesrl.beliefs.values.observations import Observations, Rows
from bayesrl.beliefs.values.recursion import Weights, differences, noise_of_rows
from bayesrl.beliefs.values.trajectory import Noise, check_noise, deviations
from bayesrl.checks import Floats, number
from bayesrl.core import DifferentiablePolicy, Transition
from bayesrl.errors import InvalidArgument
from bayesrl.gradient import _settings as declares
from bayesrl.gradient._critic import Pairs, StatePlusScore, pairs_of
from bayesrl.gradient._improve import Improved, improve
from bayesrl.gradient._learner import Learning, LearnsFromPairs, check_policy
from bayesrl.gradient._paths import Path, paths_of
from bayesrl.gradient.bayesian_gradient import Gradient, Whitened
from bayesrl.models.policy import SoftmaxPolicy
from bayesrl.parameters import AtLeast, declared
from bayesrl.registry import register

BATCH = 512
"""Transitions that are added to the exact critic at once, about."""


def bac(
    transitions: Iterable[Transition],
    policy: DifferentiablePolicy,
    information: ArrayLike,
    covariance: Covariance,
    noise: float = 1.0,
    gamma: float = 0.99,
    threshold: float | None = None,
) -> Gradient:
    """The posterior of the policy gradient from the transitions of episodes.

    `information` is G by "pairs", shape (n, n); `covariance` is k_s, on states; `noise` is the standard deviation of a
    return, or a function of states. With a `threshold` the critic is sparse.

    >>> from bayesrl.gradient import fisher_information
    >>> policy = SoftmaxPolicy.tabular(1, 2)
    >>> steps = [Transition(0, 0, 1.0, 0, terminated=True), Transition(0, 1, 3.0, 0, terminated=True)]
    >>> G = fisher_information(steps, policy)
    >>> bac(steps, policy, G, Discrete(variance=100.0)).mean.round(3).tolist()
    [-0.333, 0.333]
    """
    gamma = number("bac", "gamma", gamma, 0.0, 1.0)
    check_noise("bac", noise)
    if not isinstance(covariance, Covariance):
        raise InvalidArgument("bac", "covariance", "a covariance of states, such as covariances.Discrete()", covariance)
    if threshold is not None:
        threshold = number("bac", "threshold", threshold, 0.0)
    return critic_gradient(paths_of("bac", transitions, policy), information, covariance, noise, gamma, threshold)


def critic_gradient(
    paths: Iterable[Path], G: ArrayLike, k_s: Covariance, noise: Noise, gamma: float, threshold: float | None
) -> Gradient:
    """The same from paths."""
    made = pairs_of("bac", list(paths))
    white = Whitened.by("bac", G, made[0].scores.shape[1])
    made = [pairs._replace(scores=pairs.scores @ white.root) for pairs in made]
    prior = StatePlusScore(k_s, Linear(), made[0].states.shape[1])
    if threshold is None:
        return white.gradient(*_exact(made, prior, noise, gamma))
    return white.gradient(*_sparse(made, prior, noise, gamma, threshold))


def _exact(made: list[Pairs], prior: StatePlusScore, noise: Noise, gamma: float) -> tuple[Floats, Floats]:
    """Mean (r,) and covariance (r, r) of the weights of whitened scores."""
    data = Observations(prior.dims + made[0].scores.shape[1])
    batch: list[Pairs] = []
    for i, pairs in enumerate(made):
        batch.append(pairs)
        if i == len(made) - 1 or sum(len(one.rewards) for one in batch) >= BATCH:
            data = _add(data, batch, prior, noise, gamma)
            batch = []
    Q = data.whiten(data.points[:, prior.dims :])
    return Q.T @ data.w, np.eye(Q.shape[1]) - Q.T @ Q


def _add(data: Observations, batch: list[Pairs], prior: StatePlusScore, noise: Noise, gamma: float) -> Observations:
    """Observations with the transitions of more episodes: rows (1, -gamma), or (1) at an end."""
    weight, index, count, Sigma = [], [], [], []
    first = len(data.points)
    for states, _, rewards in batch:
        m = len(rewards)
        rows = np.column_stack([np.arange(m), np.arange(m) + 1]).ravel()
        kept = rows < len(states)  # an end has no successor
        weight.append(np.tile([1.0, -gamma], m)[kept])
        index.append(first + rows[kept])
        count.append(kept.reshape(m, 2).sum(axis=1))
        v, c = noise_of_rows(deviations("bac", noise, states) ** 2, m, gamma, fresh=True)
        Sigma.append(np.diag(v) - np.diag(c[1:], 1) - np.diag(c[1:], -1))
        first += len(states)
    X = np.concatenate([np.hstack([one.states, one.scores]) for one in batch])
    starts = np.append(0, np.cumsum(np.concatenate(count)))
    rows_of = Rows(np.concatenate(weight), np.concatenate(index), starts)
    return data.add("bac", prior, X, rows_of, np.concatenate([one.rewards for one in batch]), block_diag(*Sigma))


def _sparse(
    made: list[Pairs], prior: StatePlusScore, noise: Noise, gamma: float, threshold: float
) -> tuple[Floats, Floats]:
    """The same with a dictionary of pairs: Q(z) = l(z)'v, and the weights of scores are T'v with T = L^-1 U_D."""
    X = np.concatenate([np.hstack([one.states, one.scores]) for one in made])
    basis, coordinates = Dictionary.empty(X.shape[1]).admit(prior, X, threshold)
    F, v, c, first = [], [], [], 0
    for states, _, rewards in made:
        ell = coordinates[first : first + len(states)]
        F.append(differences(ell, len(rewards), gamma))
        variances, ties = noise_of_rows(deviations("bac", noise, states) ** 2, len(rewards), gamma, fresh=True)
        v.append(variances)
        c.append(ties)
        first += len(states)
    r = np.concatenate([one.rewards for one in made])
    rows = np.concatenate(F), r, np.concatenate(v), np.concatenate(c)
    weights = Weights.isotropic(len(basis)).after("bac", *rows)
    T = solve_triangular(basis.factor, basis.states[:, prior.dims :], lower=True)
    return T.T @ weights.w, np.eye(T.shape[1]) - T.T @ T + T.T @ weights.P @ T


@register(
    "bac",
    kind="agent",
    survey="5.3",
    paper="Ghavamzadeh07BA",
    example=lambda: BAC(policy=SoftmaxPolicy.tabular(2, 2)),
    evidence=(
        "tests/gradient/test_bac.py::test_the_integrals_on_the_random_walk",
        "tests/gradient/test_bac.py::test_equal_to_dense_conditioning",
        "tests/gradient/test_bac.py::test_squared_error_is_below_reinforce",
        "tests/gradient/test_bac.py::test_calibrated",
        "tests/gradient/test_agents.py::test_agents_improve",
    ),
)
@declared
class BAC(LearnsFromPairs):
    """Bayesian actor-critic: the gradient from a Gaussian-process critic of pairs.

    Examples
    --------
    >>> import bayesrl as b
    >>> world = b.make_world("chain")
    >>> agent = BAC(gamma=world.gamma, policy=SoftmaxPolicy.tabular(5, 2))
    >>> print(b.run(agent, world, steps=200, horizon=20, keep=("updates",)).updates.max())
    1
    """

    noise: Annotated[float, AtLeast(0), "Standard deviation of a return, sigma."] = 3.0
    rate: declares.Rate = 0.1
    direction: declares.Direction = "natural"
    length: declares.Length = "fixed"
    half_life: declares.HalfLife = None
    covariance: Annotated[Any, "Prior covariance of values of states, k_s; None: Discrete(variance=100.0)."] = None
    threshold: Annotated[
        float | None, AtLeast(0), "Prior variance above which a pair is kept; 0: unless others determine it. None: all."
    ] = 0.0

    def __post_init__(self) -> None:
        check_policy("BAC", self.policy)
        if self.covariance is not None and not isinstance(self.covariance, Covariance):
            raise InvalidArgument("BAC", "covariance", "a covariance of states, or None", self.covariance)

    def _improve(self, mind: Learning, paths: tuple[Path, ...], G: Floats) -> Improved:
        """The posterior of the gradient, and a step."""
        k_s = Discrete(variance=100.0) if self.covariance is None else self.covariance
        gradient = critic_gradient(paths, G, k_s, self.noise, self.gamma, self.threshold)
        return improve(self, mind.policy, gradient, G, mind.updates, mind.search)
