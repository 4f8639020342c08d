"""Linear systems with quadratic costs: x' = A x + B u + w, reward -(x'Qx + u'Ru), x_0 = 0 (survey §4.8).

The criterion is the average reward, so there is no discount and no end. `optimum()` is the largest average reward,
-trace(PW). The start at rest costs less than that, so regret may be negative at first.

A and B have shape (n, n) and (n, m), or a first axis of replicates in lockstep.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.random import Generator

from bayesrl.beliefs.dynamics.linear_gaussian_dynamics import LinearGaussianDynamics
from bayesrl.checks import Floats, array, frozen, generator, integer
from bayesrl.core import WorldStep
from bayesrl.errors import InvalidArgument
from bayesrl.models.riccati import check_costs, gains, lq_solution, semidefinite
from bayesrl.parameters import Shape, unchecked, value
from bayesrl.traits import Traits
from bayesrl.worlds.continuous._box import WIDE, Bounds, check_action
from bayesrl.worlds.settings import Published, Setting

MOST = 10**8
"""Largest number of entries in A of all replicates, because of memory."""
STANDARD = Setting("linear", steps=1000)
"""The default set-up; "linear" is a matrix-normal prior."""


@value
class LinearSystem(Published):
    """A linear system with quadratic costs.

    Examples
    --------
    >>> world = LinearSystem([[0.9]], [[0.5]], [[1.0]], [[0.2]], [[0.04]])
    >>> round(world.optimum(), 6)
    -0.056553
    >>> round(world.step(np.array([1.0]), [-0.5], np.random.default_rng(0)).reward, 6)
    -1.05
    """

    A: Annotated[Floats, Shape("(n, n), or (replicates, n, n)"), "How the state moves by itself."]
    B: Annotated[Floats, Shape("(n, m), or (replicates, n, m)"), "How actions move it."]
    Q: Annotated[Floats, Shape("(n, n)"), "Costs of the state, x'Qx."]
    R: Annotated[Floats, Shape("(m, m)"), "Costs of the action, u'Ru."]
    noise: Annotated[Floats, Shape("(n, n)"), "Covariance of the noise, W."]
    belief: Annotated[LinearGaussianDynamics | None, "The usual prior; None: a vague one."] = field(
        default=None, repr=False
    )
    accept: Annotated[Any, "The systems that draws of `lazy-psrl` are restricted to; None: all."] = field(
        default=None, repr=False
    )
    name: Annotated[str, "Name of the world."] = "linear-system"
    setting: Annotated[Setting, "How the world is usually run."] = field(default=STANDARD, repr=False)

    registered: ClassVar[str] = "linear-system"

    def __post_init__(self) -> None:
        if self.A.ndim not in (2, 3):
            raise InvalidArgument(self.name, "A", "an array of shape (n, n)", self.A)
        *replicates, n, _ = self.A.shape
        array(self.name, "A", self.A, (*replicates, n, n))
        B = array(self.name, "B", self.B, (*replicates, n, None))
        check_costs(self.name, self.Q, self.R, n, B.shape[-1])
        semidefinite(self.name, "noise", array(self.name, "noise", self.noise, (n, n)), definite=True)

    @property
    def gamma(self) -> float:
        """No discount."""
        return 1.0

    @property
    def horizon(self) -> int | None:
        """Episodes do not end."""
        return None

    @property
    def observations(self) -> Bounds:
        """Real numbers; Gymnasium wants bounds, so there are wide ones."""
        n = self.A.shape[-1]
        return Bounds.of(np.full(n, -WIDE), np.full(n, WIDE))

    @property
    def actions(self) -> Bounds:
        """Real numbers; Gymnasium wants bounds, so there are wide ones."""
        m = self.B.shape[-1]
        return Bounds.of(np.full(m, -WIDE), np.full(m, WIDE))

    def default_prior(self) -> LinearGaussianDynamics:
        """The usual prior of an agent."""
        if self.belief is not None:
            return self.belief
        n, m = self.B.shape[-2:]
        return LinearGaussianDynamics(np.eye(n + m, n), np.eye(n + m), self.noise, self.Q, self.R)

    def optimum(self) -> Any:
        """The largest average reward; one for each replicate in lockstep."""
        return self.average_reward

    @cached_property
    def average_reward(self) -> Any:
        """The largest average reward, -trace(PW)."""
        if self.A.ndim == 2:
            return -lq_solution(self.A, self.B, self.Q, self.R, self.noise).cost
        found = gains(self.A, self.B, self.Q, self.R)
        for i in np.flatnonzero(~found.stable):
            lq_solution(self.A[i], self.B[i], self.Q, self.R)  # which says what is wrong
        return frozen(-np.einsum("kij,ij->k", found.P, self.noise))

    def batch(self, replicates: int) -> LinearSystem:
        """The same system in each of several replicates in lockstep."""
        n = integer(self.name, "replicates", replicates, 1, MOST // self.A.size)
        A, B = (frozen(np.repeat(x[None], n, axis=0)) for x in (self.A, self.B))
        return unchecked(self, A=A, B=B)

    traits: ClassVar[Traits] = Traits(depends_on_data=("average_reward",))

    @cached_property
    def _spread(self) -> Floats:
        """The Cholesky factor of the noise."""
        return np.asarray(np.linalg.cholesky(self.noise))

    def reset(self, rng: Generator) -> tuple[Floats, Floats]:
        """At rest."""
        generator(self.name, rng)
        x = frozen(np.zeros(self.A.shape[:-1]))
        return x, x

    def step(self, state: Floats, action: Any, rng: Generator) -> WorldStep:
        """The next state, and minus the cost of this one."""
        x = array(self.name, "state", state, self.A.shape[:-1])
        if self.A.ndim == 2:
            u = check_action(self.name, self.actions, action)
        else:
            u = array(self.name, "action", action, (len(self.A), self.B.shape[-1]))
        E = generator(self.name, rng).standard_normal(x.shape)
        new = (self.A @ x[..., None] + self.B @ u[..., None])[..., 0] + E @ self._spread.T
        cost = ((x @ self.Q) * x).sum(axis=-1) + ((u @ self.R) * u).sum(axis=-1)
        return WorldStep(frozen(new), new, -cost if x.ndim == 2 else -float(cost))
