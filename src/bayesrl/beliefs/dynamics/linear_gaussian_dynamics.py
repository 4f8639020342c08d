"""Linear dynamics with unknown parameters and known Gaussian noise (Abbasi-Yadkori and Szepesvári 2015; survey §4.8).

x' = Theta'z + w with z = (x, u), or z = phi(x, u) for any features, and w ~ N(0, W). W is known. The belief is a matrix
normal distribution of Theta: the stacked columns of Theta have covariance W (x) V^-1 (Kronecker). V carries no noise.
With the next state y as the datum of z:

    V = V_0 + sum zz',   Theta = V^-1 (V_0 Theta_0 + sum z y'),   y | z ~ N(Theta'z, (1 + z'V^-1z) W).

A datum is a rank-one update of the Cholesky factor L of V = LL', and of the mean:

    k = V^-1 z / (1 + z'V^-1z),   Theta <- Theta + k (y - Theta'z)'.

A draw is Theta + L^-T E C' with E standard normal, (p, n), and W = CC'.

Evidence are the next states. Rewards are none, because costs are known. A belief about another smooth family is used by
`lazy-psrl` in the same way if its `precision` grows by its own M(x, u) in place of zz'.

Deviations: none. Cost: O(p^2 + pn) for an update, O(p^2 n) for a draw; p = n + m.
Claims: belief laws; posterior, evidence and draws equal the conditioning of the stacked parameters to 1e-9.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Any

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs._problems import own_prior
from bayesrl.beliefs.features import Features
from bayesrl.beliefs.log import Log, transitions
from bayesrl.checks import LARGEST, Floats, Ints, array, frozen, generator, indices, integer
from bayesrl.core import Transition
from bayesrl.errors import Incompatible, InvalidArgument
from bayesrl.kernels.arrays import F1, F2, F3
from bayesrl.kernels.jit import njit
from bayesrl.models.riccati import check_costs, semidefinite, split
from bayesrl.parameters import DISCOUNT, Shape, unchecked, value
from bayesrl.registry import register

MOST = 10**8
"""Largest number of entries in the parameters of all replicates, because of memory."""
NAME = "LinearGaussianDynamics"


def prior_for(problem: object) -> LinearGaussianDynamics:
    """The usual prior of a problem that has one of this kind."""
    return own_prior("linear-gaussian-dynamics", problem, LinearGaussianDynamics)


@register(
    "linear-gaussian-dynamics",
    kind="belief",
    survey="4.8",
    paper="abbasi15",
    example=lambda: LinearGaussianDynamics(
        np.array([[0.8, 0.1], [0.0, 0.7], [0.0, 0.5]]),
        np.diag([2.0, 3.0, 4.0]),
        np.array([[0.3, 0.1], [0.1, 0.2]]),
        np.eye(2),
        np.array([[0.5]]),
    ),
    prior_for=prior_for,
    evidence=(
        "tests/beliefs/dynamics/test_linear.py::test_posterior_equals_conditioning",
        "tests/beliefs/dynamics/test_linear.py::test_draws_have_the_posterior_covariance",
        "tests/beliefs/dynamics/test_linear.py::test_facts",
        "tests/beliefs/test_laws.py::test_belief_laws",
    ),
)
@value
class LinearGaussianDynamics:
    """A matrix-normal belief about linear dynamics with Gaussian noise.

    Examples
    --------
    >>> belief = LinearGaussianDynamics([[0.5], [1.0]], np.diag([2.0, 1.0]), noise=0.2)  # x' = .5 x + u + N(0, sd .2)
    >>> belief = belief.update(Transition([0.0], [1.0], 0.0, [0.34]))
    >>> belief.theta.round(3).tolist()
    [[0.5], [0.67]]
    >>> A, B = belief.sample_system(np.random.default_rng(0))
    >>> A.shape, B.shape
    ((1, 1), (1, 1))
    """

    mean: Annotated[
        Floats, Shape("(p, n), or (replicates, p, n)"), "Mean of the parameters, Theta_0; p = n + m, or features."
    ]
    precision: Annotated[Floats, Shape("(p, p), or (replicates, p, p)"), "Their precision in units of the noise, V_0."]
    noise: Annotated[Any, "Standard deviation of the noise, or its covariance W, (n, n)."]
    Q: Annotated[Floats | None, Shape("(n, n)"), "Costs of the state, x'Qx."] = None
    R: Annotated[Floats | None, Shape("(m, m)"), "Costs of the action, u'Ru."] = None
    features: Annotated[Features | None, "phi(x, u), of rows (x, u); None: z = (x, u)."] = None
    gamma: Annotated[float, DISCOUNT, "Discount of forward searches. The average cost has none."] = 0.95
    root: Floats = field(init=False, repr=False, compare=False)
    """L, the lower Cholesky factor of the precision, (p, p)."""
    spread: Floats = field(init=False, repr=False, compare=False)
    """C, the lower Cholesky factor of the noise covariance, (n, n)."""
    evidence: Floats = field(init=False, repr=False)
    """Log density of the data, () or (replicates,)."""

    def __post_init__(self) -> None:
        if self.mean.ndim not in (2, 3):
            raise InvalidArgument(NAME, "mean", "an array of shape (p, n)", self.mean)
        *replicates, p, n = self.mean.shape
        if self.features is not None and not isinstance(self.features, Features):
            raise InvalidArgument(NAME, "features", "features of rows (x, u), or None", self.features)
        if self.features is not None and self.features.size != p:
            raise InvalidArgument(NAME, "mean", f"an array with {self.features.size} rows, one a feature", self.mean)
        if self.features is None and p <= n:
            raise InvalidArgument(NAME, "mean", "an array of shape (n + m, n) with m of at least 1", self.mean)
        V = array(NAME, "precision", self.precision, (*replicates, p, p))
        L = np.array([factor("precision", M) for M in V.reshape(-1, p, p)]).reshape(V.shape)
        W = array(NAME, "noise", self.noise, moderate=True)
        if W.ndim == 0:
            if W <= 0.0:
                raise InvalidArgument(NAME, "noise", "greater than 0, or a covariance", self.noise)
            W = frozen(np.eye(n) * W**2)
        W = array(NAME, "noise", W, (n, n))
        if (self.Q is None) != (self.R is None):
            raise InvalidArgument(NAME, "R" if self.R is None else "Q", "given, as the other cost is", None)
        if self.Q is not None and self.R is not None:
            check_costs(NAME, self.Q, self.R, n, p - n if self.features is None else None)
        derived = {"noise": W, "root": frozen(L), "spread": frozen(factor("noise", W))}
        for name, x in (derived | {"evidence": frozen(np.zeros(replicates))}).items():
            object.__setattr__(self, name, x)

    # Learning --------------------------------------------------------------------------------------------------------

    def update(self, datum: Transition, rng: Generator | None = None) -> LinearGaussianDynamics:
        """The posterior after a transition, or after one of each replicate."""
        owner = f"{NAME}.update"
        if not isinstance(datum, Transition):
            raise InvalidArgument(owner, "datum", "a Transition", datum)
        z = self._row(owner, datum.observation, datum.action)
        y = self._vector(owner, "next_observation", datum.next_observation, self.mean.shape[-1])
        p, n = self.mean.shape[-2:]
        theta, L = self.mean.copy(), self.root.copy()
        rows = (np.array(x.reshape(-1, x.shape[-1])) for x in (z, y))  # copies: one type to compile for
        s, error = learn(theta.reshape(-1, p, n), L.reshape(-1, p, p), *rows)
        fit = log_density(self.spread, error, s).reshape(self.evidence.shape)
        return unchecked(
            self,
            mean=frozen(theta),
            precision=frozen(self.precision + z[..., :, None] * z[..., None, :]),
            root=frozen(L),
            evidence=frozen(np.asarray(self.evidence + fit)),
        )

    def update_many(self, log: Log, rng: Generator | None = None) -> LinearGaussianDynamics:
        """The posterior after a log of transitions."""
        new = self
        for step in transitions(f"{NAME}.update_many", log, "observation", "action", "next_observation"):
            new = new.update(step)
        return new

    def log_evidence(self) -> Any:
        """Log density of the next states given states and actions, under the prior; one for each replicate."""
        return self.evidence if self.evidence.ndim else float(self.evidence)

    # What is known ---------------------------------------------------------------------------------------------------

    @property
    def theta(self) -> Floats:
        """The mean of (A, B)', (p, n)."""
        return self.mean

    def covariance(self) -> Floats:
        """The covariance of the stacked columns of Theta, W (x) V^-1, (np, np)."""
        self._single("covariance")
        return np.kron(self.noise, np.linalg.inv(self.precision))

    def predictive(self, observation: Any, action: Any) -> tuple[Floats, Floats]:
        """Mean, (n,), and covariance, (n, n), of the next state."""
        self._single("predictive")
        z = self._row(f"{NAME}.predictive", observation, action)
        return z @ self.mean, (1.0 + z @ np.linalg.solve(self.precision, z)) * self.noise

    def sample_parameters(self, rng: Generator, replicates: Ints | None = None) -> Floats:
        """Theta drawn from the belief, (p, n); in lockstep one for each replicate, or for these alone."""
        mean, L = self.mean, self.root
        if replicates is not None:
            size = len(mean) if mean.ndim == 3 else 0
            i = indices(f"{NAME}.sample_parameters", "replicates", replicates, (None,), size)
            mean, L = mean[i], L[i]
        E = generator(NAME, rng).standard_normal(mean.shape)
        return np.asarray(mean + np.linalg.solve(np.swapaxes(L, -1, -2), E @ self.spread.T))

    def sample_system(self, rng: Generator, replicates: Ints | None = None) -> tuple[Floats, Floats]:
        """A system drawn from the belief: A, (n, n), and B, (n, m); in lockstep one for each replicate, or these."""
        if self.features is not None:
            raise Incompatible(f"{NAME}.sample_system", NAME, ["sample_system"], self.unsupported["sample_system"])
        return split(self.sample_parameters(rng, replicates))

    # Searches --------------------------------------------------------------------------------------------------------

    def draw(self, observation: Any, action: Any, rng: Generator, n: int = 1) -> Floats:
        """Next states drawn from the predictive distribution, (n, d)."""
        n = integer(f"{NAME}.draw", "n", n, 1)
        mean, covariance = self.predictive(observation, action)
        E = generator(f"{NAME}.draw", rng).standard_normal((n, len(mean)))
        return np.asarray(mean + E @ np.linalg.cholesky(covariance).T)

    def expected_reward(self, observation: Any, action: Any) -> float:
        """-(x'Qx + u'Ru)."""
        return float(self.expected_rewards(np.atleast_1d(np.asarray(observation))[None], action)[0])

    def expected_rewards(self, observations: Any, action: Any) -> Floats:
        """The same for states (n, d): (n,)."""
        owner = f"{NAME}.expected_reward"
        if self.Q is None or self.R is None:
            raise Incompatible(owner, NAME, ["Q", "R"], self.unsupported["Q"])
        x = array(owner, "observation", observations, (None, len(self.Q)))
        u = self._vector(owner, "action", action, len(self.R))
        return -np.asarray(np.einsum("ni,ij,nj->n", x, self.Q, x) + u @ self.R @ u)

    # Lockstep and capabilities ---------------------------------------------------------------------------------------

    def batch(self, replicates: int) -> LinearGaussianDynamics:
        """The belief repeated `replicates` times."""
        self._single("batch")
        n = integer(f"{NAME}.batch", "replicates", replicates, 1, MOST // self.precision.size)
        copies = {name: getattr(self, name) for name in ("mean", "precision", "root", "evidence")}
        return unchecked(self, **{name: frozen(np.repeat(x[None], n, axis=0)) for name, x in copies.items()})

    @property
    def unsupported(self) -> Mapping[str, str]:
        """`mean`, and the members that need costs, or features (x, u), which it lacks; with the reason."""
        costs = "It was given no costs Q and R."
        without = dict.fromkeys(("Q", "R", "expected_reward", "expected_rewards"), costs) if self.Q is None else {}
        without |= {"mean": "Its `mean` is that of parameters, not of arms."}
        return without | ({} if self.features is None else {"sample_system": "Its features are not (x, u)."})

    def _single(self, what: str) -> None:
        if self.mean.ndim == 3:
            raise InvalidArgument(f"{NAME}.{what}", "belief", "one experiment, not replicates in lockstep", self.mean)

    def _row(self, owner: str, x: Any, u: Any) -> Floats:
        """z, (p,) or (replicates, p)."""
        p, n = self.mean.shape[-2:]
        x = self._vector(owner, "observation", x, n)
        u = self._vector(owner, "action", u, p - n if self.features is None else None)
        z = np.concatenate([x, u], axis=-1)
        if self.features is not None:
            z = np.reshape(self.features(np.atleast_2d(z)), (*self.mean.shape[:-2], p))
        return z

    def _vector(self, owner: str, name: str, x: Any, size: int | None) -> Floats:
        """A vector, or one for each replicate; a number is a vector of one."""
        y = np.asarray(x) if isinstance(x, np.ndarray) else array(owner, name, x)
        shape = (*self.mean.shape[:-2], size if size is not None or y.ndim == 0 else y.shape[-1])
        y = array(owner, name, y[None] if y.ndim == 0 else y, shape)
        if np.abs(y).max() > LARGEST:
            raise InvalidArgument(owner, name, f"at most {LARGEST:g} in size", x)
        return y


def factor(name: str, M: Floats) -> Floats:
    """The lower Cholesky factor of a matrix, which must be symmetric and positive definite."""
    semidefinite(NAME, name, M, definite=True)
    try:
        return np.asarray(np.linalg.cholesky(M), np.float64)
    except np.linalg.LinAlgError:
        raise InvalidArgument(NAME, name, "symmetric and positive definite", M) from None


def log_density(C: Floats, error: Floats, s: Floats) -> Floats:
    """log N(error; 0, (1 + s) CC'), for each row of errors, (N, n)."""
    n = len(C)
    white = np.linalg.solve(C, error.T)
    squares = np.einsum("ij,ij->j", white, white) / (1.0 + s)
    return np.asarray(-0.5 * (squares + n * np.log(2.0 * np.pi * (1.0 + s))) - np.log(np.diagonal(C)).sum())


@njit
def learn(thetas: F3, Ls: F3, zs: F2, ys: F2) -> tuple[F1, F2]:
    """Update means and Cholesky factors in place; return z'V^-1z, (N,), and y - Theta'z, (N, n), before it."""
    N, p, n = thetas.shape
    s, errors, k = np.zeros(N), np.empty((N, n)), np.empty(p)
    for i in range(N):
        theta, L, z = thetas[i], Ls[i], zs[i]
        for r in range(p):  # k = L^-1 z
            total = z[r]
            for c in range(r):
                total -= L[r, c] * k[c]
            k[r] = total / L[r, r]
            s[i] += k[r] * k[r]
        for r in range(p - 1, -1, -1):  # k = V^-1 z
            for c in range(r + 1, p):
                k[r] -= L[c, r] * k[c]
            k[r] /= L[r, r]
        for j in range(n):
            errors[i, j] = ys[i, j]
            for r in range(p):
                errors[i, j] -= theta[r, j] * z[r]
            for r in range(p):
                theta[r, j] += k[r] / (1.0 + s[i]) * errors[i, j]
        v = z.copy()
        for c in range(p):  # LL' + vv', column by column
            root = np.hypot(L[c, c], v[c])
            cosine, sine = L[c, c] / root, v[c] / root
            L[c, c] = root
            for r in range(c + 1, p):
                was = L[r, c]
                L[r, c] = cosine * was + sine * v[r]
                v[r] = cosine * v[r] - sine * was
    return s, errors
