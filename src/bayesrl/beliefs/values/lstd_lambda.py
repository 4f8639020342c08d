"""Least-squares temporal differences (Bradtke and Barto 1996, Boyan 1999; survey §5.1.2): the frequentist comparator.

With traces z_t = phi_t + gamma lam z_t-1, which restart with each trajectory,

    A = sum z_t (phi_t - gamma phi_t+1)',   b = sum z_t r_t,   w = (A + ridge I)^-1 b.

At an end of an episode phi_t+1 is 0. Deviations: none. Cost: O(k^2) for a transition with k features. Claims: equal to
the batch formula; the limit of `gptd-lambda` for a wide prior.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Annotated, ClassVar, NamedTuple, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from bayesrl.beliefs.features import Features, Tabular
from bayesrl.beliefs.values._linear import check_features
from bayesrl.beliefs.values.recursion import differences
from bayesrl.beliefs.values.trajectory import Episodes, alone, check_tail, stretches
from bayesrl.checks import Floats, array, frozen
from bayesrl.core import Transition
from bayesrl.errors import InvalidArgument
from bayesrl.parameters import DISCOUNT, PROBABILITY, AtLeast, unchecked, value
from bayesrl.registry import register
from bayesrl.traits import Traits


class Traces(NamedTuple):
    """Sums over the transitions seen."""

    A: Floats
    """Shape (k, k)."""
    b: Floats
    """Shape (k,)."""
    gram: Floats
    """sum phi_t phi_t', shape (k, k)."""
    z: Floats
    """The trace of the open trajectory, shape (k,)."""

    @staticmethod
    def none(k: int) -> Traces:
        """Before any transition."""
        return Traces(np.zeros((k, k)), np.zeros(k), np.zeros((k, k)), np.zeros(k))


class LeastSquares:
    """The common part of LSTD and its Bayesian form: the sums over transitions."""

    features: Features
    lam: float
    gamma: float
    traces: Traces
    tail: Floats | None
    traits: ClassVar[Traits] = Traits(grows=("traces", "tail"))

    def check_grown(self) -> None:
        """Refuse fields that do not belong together."""
        k, owner = self.features.size, type(self).__name__
        for x, shape in zip(self.traces, ((k, k), (k,), (k, k), (k,)), strict=True):
            array(owner, "traces", x, shape)
        check_tail(owner, self.tail, None)

    def update(self, datum: Transition, rng: Generator | None = None) -> Self:
        """With one transition more. The action is not used."""
        return self.update_many(alone(f"{type(self).__name__}.update", datum), rng)

    def update_many(self, log: Episodes, rng: Generator | None = None) -> Self:
        """With more transitions, or with the n + 1 states and n rewards of one trajectory that goes on."""
        (A, b, gram, z), tail = self.traces, self.tail
        A, b, gram = A.copy(), b.copy(), gram.copy()
        for states, r, fresh, terminated, truncated in stretches(f"{type(self).__name__}.update", log, tail, None):
            phi = self.features(states)
            Z = np.empty((len(r), phi.shape[1]))
            z = np.zeros_like(z) if fresh else z
            for t in range(len(r)):
                Z[t] = z = phi[t] + self.gamma * self.lam * z
            A += Z.T @ differences(phi, len(r), self.gamma)
            b += Z.T @ r
            gram += phi[: len(r)].T @ phi[: len(r)]
            tail = None if terminated or truncated else states[-1:]
        traces = Traces(frozen(A), frozen(b), frozen(gram), z)
        return unchecked(self, traces=traces, tail=tail)

    def restart(self) -> Self:
        """The same at the start of a new trajectory."""
        return unchecked(self, tail=None)


@register(
    "lstd-lambda",
    kind="belief",
    survey="5.1",
    paper="Bradtke96LL",
    example=lambda: LSTD(Tabular(3), lam=0.4, gamma=0.9, ridge=0.1),
    taken_by="LSTD.update_many, which learns the values of states from a log",
    evidence=("tests/beliefs/values/test_lstd.py::test_equal_to_the_batch_formula",),
)
@value
class LSTD(LeastSquares):
    """Values linear in features, by least squares on temporal differences with traces.

    Examples
    --------
    >>> from bayesrl.beliefs.features import Tabular
    >>> belief = LSTD(Tabular(2), lam=0.0, gamma=0.5)
    >>> belief = belief.update_many([Transition(0, 0, 0.0, 1), Transition(1, 0, 2.0, 0, terminated=True)])
    >>> belief.weights.tolist()
    [1.0, 2.0]
    """

    features: Annotated[Features, "phi: a row of features for each state."]
    lam: Annotated[float, PROBABILITY, "Decay of traces, lambda."] = 0.0
    gamma: Annotated[float, DISCOUNT, "Discount; 1 is allowed where episodes end."] = 0.99
    ridge: Annotated[float, AtLeast(0.0), "What is added to the diagonal of A."] = 0.0
    traces: Traces = field(init=False, repr=False)
    """Sums over the transitions seen."""
    tail: Floats | None = field(init=False, default=None, repr=False)
    """The state where the trajectory goes on, shape (1, d); None: a new one begins."""

    traits: ClassVar[Traits] = LeastSquares.traits._replace(depends_on_data=("weights",))

    def __post_init__(self) -> None:
        check_features("LSTD", self.features)
        if "traces" not in vars(self):  # else a file holds them
            object.__setattr__(self, "traces", Traces.none(self.features.size))

    @cached_property
    def weights(self) -> Floats:
        """(A + ridge I)^-1 b, shape (k,)."""
        A = self.traces.A + self.ridge * np.eye(len(self.traces.b))
        values = np.linalg.svd(A, compute_uv=False)
        if values[-1] <= 1e-12 * max(values[0], 1e-300):
            hint = "Some features were not seen, or cannot be told apart: a ridge greater than 0 helps."
            raise InvalidArgument("LSTD", "ridge", "large enough to make A regular", self.ridge, hint)
        return frozen(np.asarray(np.linalg.solve(A, self.traces.b), np.float64))

    def mean(self, states: ArrayLike) -> Floats:
        """Estimated values of states, shape (n,)."""
        return np.asarray(self.features(states) @ self.weights)
